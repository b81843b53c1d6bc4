"""Running a discord.py bot's script, as it is, against the running simulator.

discord.py is told where Discord is before the script begins: three class attributes, which it has for this. Owns that,
the token, and what goes wrong before the script runs. Must not know how the simulator works inside.
"""

import importlib.util
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from clankie.runtime.errors import ClankieError

if TYPE_CHECKING:
    from clankie.runtime.settings import SimConfig

TOKEN_VARIABLES: Final = ("DISCORD_TOKEN", "BOT_TOKEN")
"""Where bots look for their token, by custom."""
SECONDS: Final = 10.0
_UNAUTHORIZED: Final = 401


def run_script(
    settings: "SimConfig", script: Path, arguments: Sequence[str], bot: str | None
) -> None:
    """Run the script as `python SCRIPT ARGS` would, with Discord being the simulator.

    Args:
        settings: where the simulator is.
        bot: whose token the script gets, by name or id; None: the first one's.

    Raises:
        ClankieError: it cannot begin; the script did not run.
        typer.Exit: 1, after the script's own traceback was shown.
        SystemExit: the script's.
    """
    if not script.is_file():
        raise ClankieError(
            f"there is no script {script}", next_step="Give the path of your bot's .py file."
        )
    if importlib.util.find_spec("discord") is None:
        raise ClankieError(
            f"discord.py is not installed for {sys.executable}",
            next_step=f"Install it there: {sys.executable} -m pip install discord.py",
        )
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    origin = f"http://{host}:{settings.port}"
    token = _token(origin, bot)
    for name in TOKEN_VARIABLES:
        os.environ.setdefault(name, token)
    _point_discord_at(origin)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except Exception as error:  # noqa: BLE001 - the script's own: shown as Python shows it
        traceback.print_exception(error)
        hint = _hint(error)
        if hint:
            typer.secho(f"Next: {hint}", err=True)
        raise typer.Exit(1) from None


def _point_discord_at(origin: str) -> None:
    import discord.asset  # noqa: PLC0415 - only a bot's run loads it
    import discord.gateway  # noqa: PLC0415
    import discord.http  # noqa: PLC0415
    import yarl  # noqa: PLC0415 - discord.py's own

    discord.http.Route.BASE = f"{origin}/api/v10"
    discord.asset.Asset.BASE = origin
    gateway = yarl.URL(f"ws{origin.removeprefix('http')}/gateway")
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = gateway


def _token(origin: str, bot: str | None) -> str:
    """The token of the bot that was asked for; one that is set already is checked, and left alone."""
    import httpx2  # noqa: PLC0415 - `clankie --help` must not wait

    try:
        with httpx2.Client(base_url=origin, trust_env=False, timeout=SECONDS) as client:
            bots = _bots(client.get("/sim/api/v1/bots"), origin)
            for name in TOKEN_VARIABLES:
                if name in os.environ and bot is None:
                    return _checked(client, name)
            chosen = _chosen(bots, bot)
            answer = client.post(
                f"/sim/api/v1/applications/{chosen}/token", headers={"x-clankie-sim": "1"}
            )
            token: str = answer.json()["token"]
    except httpx2.TransportError:
        raise ClankieError(
            f"no simulated Discord answers at {origin}",
            next_step="Start it in another terminal: clankie sim",
        ) from None
    for name in TOKEN_VARIABLES:
        os.environ.pop(name, None)  # --bot says which, whatever is set
    return token


def _bots(answer: Any, origin: str) -> list[dict[str, Any]]:
    try:
        bots: list[dict[str, Any]] = answer.json()["bots"]
    except (ValueError, KeyError, TypeError):
        raise ClankieError(
            f"what answers at {origin} is no simulated Discord",
            next_step="Start it on a port of its own, and name that here: --port.",
        ) from None
    if not bots:
        raise ClankieError(
            "the simulator has no bot yet",
            next_step=f"Make one on its page: {origin}/ → Bots → New bot.",
        )
    return bots


def _checked(client: Any, name: str) -> str:
    token = os.environ[name]
    answer = client.get("/api/v10/users/@me", headers={"authorization": f"Bot {token.strip()}"})
    if answer.status_code == _UNAUTHORIZED:
        raise ClankieError(
            f"{name} is set, and is no token of this simulator",
            next_step=f"Unset it, so that the simulator's is used: env -u {name} clankie sim run …",
        )
    return token


def _chosen(bots: list[dict[str, Any]], bot: str | None) -> str:
    found = [each for each in bots if bot is None or bot in {each["id"], each["name"]}]
    if not found:
        names = ", ".join(each["name"] for each in bots)
        raise ClankieError(
            f"the simulator has no bot {bot!r}", next_step=f"Name one of these: {names}."
        )
    return str(found[0]["id"])


def _hint(error: Exception) -> str:
    """What to do about what discord.py itself raises at a start."""
    import discord  # noqa: PLC0415 - only a bot's run loads it

    if isinstance(error, discord.LoginFailure):
        return "let the script take its token from DISCORD_TOKEN, which holds the simulator's."
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return "the page's bot may not ask for one of these intents; make another one that may: Bots → New bot."
    return ""
