"""The broker: typed credentials by id, in one file that only its owner can read.

Owns how that file is guarded, read and replaced. Must not know what a credential is for, nor turn
its bytes into keys.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Protocol, TypeVar

from clankie.runtime.credentials import (
    NO_CREDENTIALS,
    Credential,
    Ed25519Credential,
    P256Credential,
    SecretKeyCredential,
    TokenCredential,
    check_credential_id,
    decode_credentials,
    encode_credentials,
)
from clankie.runtime.errors import (
    BrokerBusy,
    BrokerCorrupt,
    BrokerError,
    BrokerUnsafe,
    WrongCredential,
)
from clankie.runtime.folders import PRIVATE_MODE, make_private

__all__ = [
    "Broker",
    "Credential",
    "Ed25519Credential",
    "FileBroker",
    "P256Credential",
    "SecretKeyCredential",
    "TokenCredential",
]

FILE_MODE: Final = 0o600
OTHERS: Final = 0o077  # permission bits that let anyone else in
MAX_FILE_BYTES: Final = 4 * 1024 * 1024  # a machine has tens of credentials of at most 16 KiB
LOCK_ATTEMPTS: Final = (
    200  # times LOCK_PAUSE_SECONDS = 10 s; a write holds the lock for milliseconds
)
LOCK_PAUSE_SECONDS: Final = 0.05

C = TypeVar("C", P256Credential, Ed25519Credential, SecretKeyCredential, TokenCredential)


class Broker(Protocol):
    """Where a role's secrets live."""

    def get(self, credential_id: str, kind: type[C]) -> C | None:
        """The credential under the id, or None. `WrongCredential` when it is of another kind."""
        ...

    def set(self, credential_id: str, credential: Credential) -> None:
        """Keep the credential under the id, in place of what was there. Durable on return."""
        ...

    def delete(self, credential_id: str) -> bool:
        """Forget the credential; whether there was one. Durable on return."""
        ...

    def get_or_create(self, credential_id: str, kind: type[C], make: Callable[[], C]) -> C:
        """The credential under the id; when there is none, `make()`'s, kept before it is returned.

        Of several processes that ask at once, one makes it and all get that one.
        """
        ...

    def kinds(self) -> dict[str, str]:
        """Each id with the kind of its credential; never a secret."""
        ...


class FileBroker:
    """One JSON file, mode 0600, in a folder of mode 0700.

    A write goes to a temporary file in the same folder, which is fsynced and renamed over the old
    one; then the folder is fsynced. A lock file beside it keeps two processes from losing each
    other's write. A missing file is an empty broker; anything else that we would not have written
    is refused and left alone.

    Every method raises `BrokerUnsafe`, `BrokerCorrupt`, `BrokerBusy` or `BrokerError` (the disk
    refuses). Calls block for the time of a small write: they belong to a start, not to
    its requests.
    """

    __slots__ = ("_folder", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.parent

    @property
    def path(self) -> Path:
        """The credential file."""
        return self._path

    def get(self, credential_id: str, kind: type[C]) -> C | None:
        check_credential_id(credential_id)
        return _of_kind(credential_id, self._read().get(credential_id), kind)

    def set(self, credential_id: str, credential: Credential) -> None:
        check_credential_id(credential_id)
        with self._locked():
            self._write({**self._read(), credential_id: credential})

    def delete(self, credential_id: str) -> bool:
        check_credential_id(credential_id)
        with self._locked():
            credentials = self._read()
            if credentials.pop(credential_id, None) is None:
                return False
            self._write(credentials)
            return True

    def get_or_create(self, credential_id: str, kind: type[C], make: Callable[[], C]) -> C:
        check_credential_id(credential_id)
        with self._locked():
            credentials = self._read()
            found = _of_kind(credential_id, credentials.get(credential_id), kind)
            if found is not None:
                return found
            made = make()
            self._write({**credentials, credential_id: made})
            return made

    def kinds(self) -> dict[str, str]:
        return {
            name: str(type(c).__struct_config__.tag) for name, c in sorted(self._read().items())
        }

    def _read(self) -> dict[str, Credential]:
        if not self._folder_exists():
            return {}
        try:
            # O_NONBLOCK: a fifo in the file's place must be refused, not waited for.
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return {}
        except OSError as error:
            if self._path.is_symlink():
                raise _unsafe(
                    self._path, "is a symbolic link", "Put the file itself there."
                ) from None
            raise self._failed("read", error) from error
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise _unsafe(self._path, "is not a file", "Move it away.")
            _check_private(self._path, status, FILE_MODE)
            if status.st_size > MAX_FILE_BYTES:
                raise BrokerCorrupt(
                    f"{self._path} is larger than {MAX_FILE_BYTES} bytes; it was left as it is",
                    next_step=f"Put a backup in its place. {NO_CREDENTIALS}",
                )
            data = os.read(fd, MAX_FILE_BYTES)
        except OSError as error:
            raise self._failed("read", error) from error
        finally:
            os.close(fd)
        return decode_credentials(data, str(self._path))

    def _write(self, credentials: dict[str, Credential]) -> None:
        data = encode_credentials(credentials)
        if len(data) > MAX_FILE_BYTES:
            raise BrokerError(
                f"{self._path} would grow over {MAX_FILE_BYTES} bytes",
                next_step="Delete credentials that nothing uses: `clankie secret list` shows them.",
            )
        temporary = self._path.with_name(self._path.name + ".new")
        try:
            temporary.unlink(missing_ok=True)  # left by a process that died here; we hold the lock
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            with os.fdopen(fd, "wb") as file:
                os.fchmod(fd, FILE_MODE)  # whatever the umask made of it
                file.write(data)
                file.flush()
                os.fsync(fd)
            temporary.rename(self._path)
            _fsync_folder(self._folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise self._failed("written", error) from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            make_private(self._folder)
            self._folder_exists()
            lock = self._path.with_name(self._path.name + ".lock")
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(lock, flags, FILE_MODE)
        except OSError as error:
            raise self._failed("locked", error) from error
        try:
            self._take(fd)
            yield
        finally:
            os.close(fd)  # which also gives the lock back

    def _take(self, fd: int) -> None:
        for _ in range(LOCK_ATTEMPTS):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOCK_PAUSE_SECONDS)
            else:
                return
        raise BrokerBusy(
            f"{self._path} is locked by another process",
            next_step="Look for a clankie process that hangs, end it, and try again.",
        )

    def _folder_exists(self) -> bool:
        try:
            status = self._folder.lstat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._failed("read", error) from error
        if not stat.S_ISDIR(status.st_mode):
            raise _unsafe(self._folder, "is not a folder itself", "Put a folder there, not a link.")
        _check_private(self._folder, status, PRIVATE_MODE)
        return True

    def _failed(self, what: str, error: OSError) -> BrokerError:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        return BrokerError(
            f"{self._path} cannot be {what}: {error.strerror}",
            next_step=f"Make room on the disk of {self._folder}."
            if full
            else f"Make {self._folder} a folder of this user's on a disk that can be written.",
        )


def _of_kind(credential_id: str, credential: Credential | None, kind: type[C]) -> C | None:
    if credential is None or isinstance(credential, kind):
        return credential
    raise WrongCredential(
        f"the credential {credential_id!r} is a {type(credential).__struct_config__.tag}, "
        f"not a {kind.__struct_config__.tag}",
        next_step="Keep each credential under an id of its own; delete this one if it is wrong.",
    )


def _check_private(path: Path, status: os.stat_result, mode: int) -> None:
    if status.st_uid != os.geteuid():
        raise _unsafe(
            path,
            f"belongs to user {status.st_uid}, and this is user {os.geteuid()}",
            "Run as that user, or give it to this one with chown.",
        )
    if status.st_mode & OTHERS:
        raise _unsafe(
            path,
            f"has mode {stat.S_IMODE(status.st_mode):04o}: others can reach the secrets",
            f"Run `chmod {mode:o} {path}`; if others may have read it, replace the credentials.",
        )


def _unsafe(path: Path, why: str, next_step: str) -> BrokerUnsafe:
    return BrokerUnsafe(f"{path} {why}", next_step=next_step)


def _fsync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
