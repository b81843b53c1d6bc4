"""What captains raise while they are being made. During a turn any exception means the same: it failed.

ClankieError
└── CaptainError              no captain could be made
    ├── UnknownCaptain        no captain of that kind is installed
    ├── CaptainNotLoadable    the captain is installed, but its code does not load
    └── CaptainOptionInvalid  an option's name or value means nothing to the captain
        └── ScriptInvalid     the echo captain's script does not follow its grammar

Messages may quote configuration; they must never quote what somebody wrote on Discord.
"""

from clankie.runtime.errors import ClankieError


class CaptainError(ClankieError):
    """No captain could be made from the configuration."""


class UnknownCaptain(CaptainError):
    """No captain of that kind is installed."""


class CaptainNotLoadable(CaptainError):
    """The captain is installed, but importing or calling it failed."""


class CaptainOptionInvalid(CaptainError):
    """A captain's option has an unknown name, or a value that means nothing."""


class ScriptInvalid(CaptainOptionInvalid):
    """The echo captain's script does not follow its grammar."""
