"""The bootstrap file that makes a body a managed one (wire.md 10).

Absent: this is not a managed body. Present and wrong: start-up fails, since a body that quietly ran unmanaged would
answer nobody. Owns the file's shape and its checks. Must not know the fleet's calls.
"""

import ipaddress
import os
import stat
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

import ada_url
from msgspec import UNSET, Meta, UnsetType

from clankie.protocol.channel_turn import MAX_SAFE_INTEGER
from clankie.protocol.discord_ingress import InstallationId, TenantId
from clankie.protocol.errors import InvalidValue, ProtocolError
from clankie.protocol.fleet_tokens import VerifyKeys, load_verify_keys
from clankie.protocol.wire_model import Reader, WireModel
from clankie.runtime.errors import ClankieError

MAX_ACCOUNT_ID = 128
MAX_BOOTSTRAP_BYTES: Final = 65_536
"""Ten times any real one; a wrong path must not be read into memory whole."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class BootstrapInvalid(ClankieError):
    """The bootstrap file is there and cannot be taken: nothing was started."""


class NoBootstrap(BootstrapInvalid):
    """What the file holds is no bootstrap file: a new one is needed."""


class Bootstrap(WireModel, frozen=True, kw_only=True):
    """What a machine is given to become a managed body. Times are milliseconds since 1970."""

    host_credential: Annotated[str, Meta(min_length=1, max_length=4_096)]
    credential_expires_at_ms: Annotated[int, Meta(gt=0, le=MAX_SAFE_INTEGER)]
    gateway_origin: str
    tenant_id: TenantId
    account_id: Annotated[str, Meta(min_length=1, max_length=MAX_ACCOUNT_ID)]
    installation_id: InstallationId
    fleet_verify_keys_json: str
    pairing_key_registration_token: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET
    fleet_origin: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        _check_origin(self.gateway_origin, "gatewayOrigin")
        if self.fleet_origin is not UNSET:
            _check_origin(self.fleet_origin, "fleetOrigin")

    def verify_keys(self) -> VerifyKeys:
        """The fleet keys this body starts with. Raises ProtocolError when they are none."""
        return load_verify_keys(self.fleet_verify_keys_json)

    def __repr__(self) -> str:
        return f"Bootstrap(tenant_id={self.tenant_id!r}, installation_id={self.installation_id!r})"


_BOOTSTRAP: Reader[Bootstrap] = Reader(Bootstrap)


def read_bootstrap(path: Path) -> Bootstrap | None:
    """The bootstrap of a managed body, or None when there is no file.

    Raises:
        BootstrapInvalid: it is there, but others can read it, or it is not as wire.md 10 says.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BootstrapInvalid(
            f"{path} cannot be read: {error.strerror}",
            next_step="Put the bootstrap file itself there, readable by this user alone (mode 600).",
        ) from None
    try:
        _check(path, os.fstat(descriptor))
        text = os.read(descriptor, MAX_BOOTSTRAP_BYTES)
    finally:
        os.close(descriptor)
    try:
        bootstrap = _BOOTSTRAP.read(text)
        bootstrap.verify_keys()
    except ProtocolError as error:
        raise NoBootstrap(
            f"{path} is not a bootstrap file: {error}",
            next_step="Ask whoever runs the fleet for a new one, or remove it to run unmanaged.",
        ) from None
    return bootstrap


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise BootstrapInvalid(
            f"{path} is not a file", next_step="Move it away and put the bootstrap file there."
        )
    if status.st_uid != os.geteuid() or status.st_mode & _OTHERS:
        raise BootstrapInvalid(
            f"{path} holds a credential, and others can reach it",
            next_step=f"Run `chown {os.geteuid()} {path}` and `chmod 600 {path}`.",
        )
    if status.st_size > MAX_BOOTSTRAP_BYTES:
        raise NoBootstrap(
            f"{path} is larger than any bootstrap file",
            next_step="Ask whoever runs the fleet for a new one.",
        )


def _check_origin(text: str, name: str) -> None:
    """An exact https origin; http on loopback only. Raises InvalidValue."""
    if not ada_url.check_url(text) or ada_url.URL(text).origin != text:
        raise InvalidValue(f"{name} is not an exact origin, such as https://gateway.example")
    parts = urlsplit(text)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname)):
        raise InvalidValue(f"{name} is not https")


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return host is not None and ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
