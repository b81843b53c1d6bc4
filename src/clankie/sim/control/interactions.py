"""Commands, components and forms as a person uses them. Owns these routes, and how long an answer is waited for."""

import asyncio
from typing import Any, Final

import msgspec
from litestar import post
from litestar.params import FromPath, JSONBody

from clankie.sim.control.contracts import FilledForm, UsedCommand, UsedComponent
from clankie.sim.control.ids import to_id
from clankie.sim.control.messages import CHANNEL, MESSAGE
from clankie.sim.control.snapshot import person_of
from clankie.sim.world.entities import Interaction, InteractionState
from clankie.sim.world.responses import ANSWER_MS
from clankie.sim.world.world import World

LOOK_SECONDS: Final = 0.02
"""Between two looks at whether it was answered: the world dispatches no answer that is not a message."""
COMMAND: Final = CHANNEL + "/commands/{command_id:str}"


class Used(msgspec.Struct, frozen=True):
    """What became of an interaction within the time a bot has.

    Attributes:
        state: `open` (nobody answered), `deferred` or `answered`.
        modal: the form that the bot answered with.
        choices: the suggestions that it answered with.
    """

    id: str
    state: str
    modal: dict[str, Any] | None = None
    choices: list[dict[str, Any]] = []


def interaction_routes(world: World) -> list[Any]:
    """The handlers."""

    async def answered(begun: Interaction) -> Used:
        deadline = world.clock.monotonic() + ANSWER_MS / 1000
        now = world.interaction(begun.id)
        while now.state is InteractionState.OPEN and world.clock.monotonic() < deadline:
            await asyncio.sleep(LOOK_SECONDS)
            now = world.interaction(begun.id)
        return Used(str(now.id), now.state.value, now.modal, list(now.choices))

    def actor(person: str) -> int:
        return person_of(world, to_id(person)).id

    @post(COMMAND, summary="Use a command")
    async def use_command(
        channel_id: FromPath[str], command_id: FromPath[str], data: JSONBody[UsedCommand]
    ) -> Used:
        where = actor(data.as_), to_id(channel_id), to_id(command_id)
        return await answered(world.invoke_command(*where, data.options))

    @post(COMMAND + "/suggestions", summary="Ask for an option's suggestions")
    async def complete(
        channel_id: FromPath[str], command_id: FromPath[str], data: JSONBody[UsedCommand]
    ) -> Used:
        where = actor(data.as_), to_id(channel_id), to_id(command_id)
        return await answered(world.autocomplete(*where, data.options))

    @post(MESSAGE + "/components", summary="Use a button or a select")
    async def click(
        channel_id: FromPath[str], message_id: FromPath[str], data: JSONBody[UsedComponent]
    ) -> Used:
        where = actor(data.as_), to_id(channel_id), to_id(message_id)
        begun = world.click(*where, data.custom_id, data.component_type, data.values)
        return await answered(begun)

    @post("/interactions/{interaction_id:str}/form", summary="Send in a form")
    async def submit(interaction_id: FromPath[str], data: JSONBody[FilledForm]) -> Used:
        begun = world.submit_modal(actor(data.as_), to_id(interaction_id), data.components)
        return await answered(begun)

    return [use_command, complete, click, submit]
