"""`/stop` and `/new`: what they are, who may, and what they say. They are answered outside every lane.

`/stop` cancels what runs in the room: all of it for an owner, their own turn for anyone else. What waits stays.
The stopped turn ends silently, since the command's answer already speaks in the room.

`/new` begins a fresh session for those the asker shares one with: an owner renews the owners' session of the
room, anyone else the session of everyone else. It takes effect at once: a turn that runs keeps the old session
to its end, and what waits behind it, not started yet, belongs to the fresh one.

Owns the texts and the rule of who may. Must not know tasks.
"""

from enum import StrEnum
from typing import Final

from clankie.protocol.discord_ingress import DiscordIngressEvent


class Command(StrEnum):
    """A command, spelled as it must be typed."""

    STOP = "/stop"
    NEW = "/new"


STOPPED_TEXT: Final = "Stopped."
NOT_STOPPED_TEXT: Final = (
    "I asked it to stop and it did not end in time. Its answer will not be posted; "
    "what it was doing may still go on."
)
MAY_NOT_STOP_TEXT: Final = "Only the person who asked, or an owner, can stop this."
NOTHING_RUNS_TEXT: Final = "Nothing is running here."
FRESH_SESSION_TEXT: Final = "Started a fresh session."


def command_of(event: DiscordIngressEvent) -> Command | None:
    """The command an event is, or None: a `slash` event whose content is exactly one."""
    if event.kind != "slash":
        return None
    return _COMMANDS.get(event.content)


def may_stop(
    event: DiscordIngressEvent, verified_owner: bool, running: DiscordIngressEvent
) -> bool:
    """Whether whoever sent `event` may stop the turn that `running` started: its requester, or an owner."""
    return verified_owner or event.actor_id == running.actor_id


_COMMANDS: Final = {command.value: command for command in Command}
