"""The home, and who else may enter it.

Owns the folder and config.toml; the credential file, the bootstrap file and the store are examined with what they
are for. Must not know what is in them.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from clankie.body.doctor.findings import Finding, fail, ok, warn
from clankie.runtime.config_sources import FILE_NAME

_SUBJECT: Final = "permissions"
_READ_BY_OTHERS: Final = 0o077
_WRITTEN_BY_OTHERS: Final = 0o022


def examine_places(home: Path) -> Iterator[Finding]:
    """Whether the home and config.toml are this user's alone to change. A home that is no folder has no configuration
    either, and does not come this far."""
    try:
        status = home.stat()
    except FileNotFoundError:
        yield ok(_SUBJECT, f"the home {home} is not there yet; the first start makes it")
        return
    yield _home(home, status)
    config = home / FILE_NAME
    if config.exists():
        yield _config(config, config.stat())


def _home(home: Path, status: os.stat_result) -> Finding:
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        return fail(
            _SUBJECT,
            f"{home} belongs to user {status.st_uid}, and this is user {os.geteuid()}",
            f"Run as that user, or `chown {os.geteuid()} {home}`.",
        )
    if mode & _WRITTEN_BY_OTHERS:
        return fail(
            _SUBJECT,
            f"{home} has mode {mode:04o}: others can replace what is in it",
            f"Run `chmod 700 {home}`, and look through it.",
        )
    if mode & _READ_BY_OTHERS:
        return warn(_SUBJECT, f"{home} has mode {mode:04o}", f"Run `chmod 700 {home}`.")
    if not os.access(home, os.W_OK | os.X_OK):
        return fail(_SUBJECT, f"{home} cannot be written", "Make it writable for this user.")
    return ok(_SUBJECT, f"{home} is this user's alone")


def _config(config: Path, status: os.stat_result) -> Finding:
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid not in {0, os.geteuid()} or mode & _WRITTEN_BY_OTHERS:
        return fail(
            _SUBJECT,
            f"{config} can be changed by others (user {status.st_uid}, mode {mode:04o})",
            f"Run `chown {os.geteuid()} {config}` and `chmod 600 {config}`, and read it through.",
        )
    return ok(_SUBJECT, f"{config} can be changed by this user alone")
