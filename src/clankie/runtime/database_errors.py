"""What can be wrong with a database, at start and later.

ClankieError (clankie.runtime.errors)
└── DatabaseRefused             found while opening: the role does not start
    ├── DatabaseUrlInvalid      the URL names no database we can use
    ├── DatabaseInUse           another process has the SQLite file
    ├── DatabaseUnsafe          someone else could read or swap the files
    ├── DatabaseCorrupt         not a database of ours, or a damaged one; it is left as it is
    ├── DatabaseTooNew          made by a newer version
    └── DatabaseUnreachable     it does not answer, or may not be written

Exception
└── DatabaseUnavailable         found later: this transaction is not known to be durable

A tree of its own beside errors.py, because only roles with a store load it. Messages name the file or the host,
never a password, a parameter or a row.
"""

from clankie.runtime.errors import ClankieError


class DatabaseRefused(ClankieError):
    """The database cannot be used as it is."""


class DatabaseUrlInvalid(DatabaseRefused):
    """The URL names no database we can use."""


class DatabaseInUse(DatabaseRefused):
    """Another process has the SQLite file."""


class DatabaseUnsafe(DatabaseRefused):
    """Permissions, owner or kind of a file or folder."""


class DatabaseCorrupt(DatabaseRefused):
    """Not a database of ours, or a damaged one."""


class DatabaseTooNew(DatabaseRefused):
    """Its schema is not one this version knows."""


class DatabaseUnreachable(DatabaseRefused):
    """It does not answer, or may not be written."""


class DatabaseUnavailable(Exception):
    """A transaction or a read that is not known to have worked.

    Attributes:
        code: the driver's own name for what happened (`SQLITE_FULL`, `57P01`), or `timeout`; safe to log.
        outcome_unknown: COMMIT was sent, or may have been: it may take effect, or have taken it.
    """

    def __init__(self, code: str, *, outcome_unknown: bool) -> None:
        super().__init__(f"database unavailable: {code}")
        self.code = code
        self.outcome_unknown = outcome_unknown
