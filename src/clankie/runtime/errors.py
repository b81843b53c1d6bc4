"""What the runtime raises, and the one shape every error a person sees has.

ClankieError                 a person can act on it: the message says what, `next_step` what to do
├── ConfigError              config.toml or a CLANKIE_* variable says something we cannot take
├── BrokerError              the credential file, or an id or a credential handed to it
│   ├── BrokerUnsafe         permissions, owner or kind of file: someone else could read or swap it
│   ├── BrokerCorrupt        the file is not what we write; it is never overwritten
│   ├── BrokerBusy           another process holds the lock for longer than any write takes
│   └── WrongCredential      a bad id, or a credential of another kind than the one asked for
├── UnresolvedSecret         a setting names a secret that is not there
├── AddressUnavailable       the address cannot be listened on
└── RoleFailed               a running role met something it cannot go on from

The message never holds a secret or any message content: it is printed and logged as it is.
"""


class ClankieError(Exception):
    """An error a person can act on.

    Args:
        message: what is wrong, without a full stop, in one line or one line a problem.
        next_step: what the reader does now, as an imperative sentence.
    """

    def __init__(self, message: str, *, next_step: str) -> None:
        super().__init__(message)
        self.next_step = next_step


class ConfigError(ClankieError):
    """The configuration as a whole is refused; every problem found is a line of the message."""


class BrokerError(ClankieError):
    """The broker refuses."""


class BrokerUnsafe(BrokerError):
    """Someone else could read or replace the credential file."""


class BrokerCorrupt(BrokerError):
    """The credential file does not read as one; it is left as it is."""


class BrokerBusy(BrokerError):
    """The credential file's lock could not be had in time."""


class WrongCredential(BrokerError):
    """The id is not one, or what is stored under it is of another kind."""


class UnresolvedSecret(ClankieError):
    """A setting stands for a secret that could not be found."""


class AddressUnavailable(ClankieError):
    """The host and port cannot be listened on."""


class RoleFailed(ClankieError):
    """A role that was running cannot go on."""
