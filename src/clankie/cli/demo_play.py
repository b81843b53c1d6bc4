"""The demo's script: which scenes, in which order, and whether everything that was claimed holds."""

from clankie.cli.demo_scenes import Checks, a_restart, attempts, one_message
from clankie.cli.demo_screen import Screen
from clankie.cli.demo_stage import Stage
from clankie.cli.demo_typing import take_messages


async def run_demo(screen: Screen, *, interactive: bool) -> bool:
    """Play the script, then take messages if somebody is there to type them.

    Returns:
        Whether everything that was claimed holds.
    """
    checks = Checks(screen)
    screen.say(
        "A connection, a fleet, a gateway and a body on this machine: real HTTP, a real tunnel, real stores, keys "
        "made just now. The captain is `echo`: it says what it heard."
    )
    async with Stage() as stage:
        event, answer = await one_message(stage, screen, checks)
        await attempts(stage, screen, checks, event, answer)
        await a_restart(stage, screen, checks)
        if interactive:
            await take_messages(stage, screen)
    screen.say()
    checks("the temporary home is gone", not stage.home.exists())
    return not checks.failed
