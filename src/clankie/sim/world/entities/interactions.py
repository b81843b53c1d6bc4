"""Commands, and their use.

Values without behaviour. Must not know payloads, rules or the store.
"""

import enum
from typing import Any

from msgspec import Struct

from clankie.sim.world.permissions import Permissions


class Command(Struct, frozen=True, omit_defaults=True):
    """An application command. `type`: 1 slash, 2 on a user, 3 on a message. `options` as Discord's objects."""

    id: int
    application_id: int
    version: int
    name: str
    description: str = ""
    type: int = 1
    guild_id: int | None = None
    options: tuple[dict[str, Any], ...] = ()
    default_member_permissions: Permissions | None = None
    nsfw: bool = False
    extra: dict[str, Any] = {}


class InteractionState(enum.StrEnum):
    """How far the answer to an interaction came.

    open       nobody answered: within 3 s it may be
    deferred   the answer was promised: the token is good for 15 min
    answered   there is an answer; followups may come until the token expires
    """

    OPEN = "open"
    DEFERRED = "deferred"
    ANSWERED = "answered"


class InteractionType(enum.IntEnum):
    """Kinds of interactions, by Discord's numbers."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Interaction(Struct, frozen=True, omit_defaults=True):
    """Someone used a command, a component or a form. Its token is a secret.

    Attributes:
        data: as Discord's object.
        message_id: of a component, the message that holds it.
        response_id: the answer's message.
        ephemeral: of a deferral, whether the answer is for the user alone.
        modal: the form that was opened as the answer.
        choices: the suggestions that were given as the answer.
    """

    id: int
    token: str
    application_id: int
    type: InteractionType
    channel_id: int
    user_id: int
    created_at_ms: int
    data: dict[str, Any] = {}
    guild_id: int | None = None
    message_id: int | None = None
    state: InteractionState = InteractionState.OPEN
    response_id: int | None = None
    ephemeral: bool = False
    modal: dict[str, Any] | None = None
    choices: tuple[dict[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"Interaction(id={self.id}, state={self.state})"
