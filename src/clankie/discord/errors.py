"""What reading and planning raise. Each is about one message, and none repeats what the message said.

ValueError
└── DiscordReadingError
    ├── NotReadable       a payload lacks, or misspells, what nothing can be read without; `field` names it
    ├── TriggerRefused    a message that no event of the contract can carry
    │   ├── TriggerEmpty      nothing in it to carry: no text, nothing named, no image
    │   └── TriggerTooLarge   it alone is over the contract's bounds (wire.md 3, 7)
    └── ReplyTooLong      a text of more parts than one answer may be posted in
ClankieError
└── NameInvalid           a name that attention could never find, or would find everywhere

Owns the tree. Must not know who shows it to whom.
"""

from clankie.runtime.errors import ClankieError


class DiscordReadingError(ValueError):
    """Base of what reading and planning raise, on any input."""


class NotReadable(DiscordReadingError):
    """A payload that is not what Discord documents; nothing is taken from it.

    Attributes:
        field: which field, as a dotted path. Never its value.
    """

    def __init__(self, field: str) -> None:
        super().__init__(f"not readable: {field}")
        self.field = field


class TriggerRefused(DiscordReadingError):
    """A message that cannot become an event."""


class TriggerEmpty(TriggerRefused):
    """There is nothing in the message that an event could carry."""

    def __init__(self) -> None:
        super().__init__("the message has no text, nothing that can be named, and no image")


class TriggerTooLarge(TriggerRefused):
    """The message alone does not fit into an event."""

    def __init__(self) -> None:
        super().__init__("the message alone is larger than an event may be")


class ReplyTooLong(DiscordReadingError):
    """An answer that would need more messages than one answer may have."""


class NameInvalid(ClankieError):
    """A name of the bot that cannot be looked for."""
