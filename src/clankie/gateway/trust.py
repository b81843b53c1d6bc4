"""What the gateway takes on trust: the fleet's verify keys, and which hosts it has revoked.

Owns the port, and the source that is a file. Must not know tunnels.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import VerifyKeys, load_verify_keys
from clankie.runtime.errors import ClankieError

MAX_KEYS_BYTES: Final = 65_536
"""Two PEM keys take 300 bytes; a wrong path must not be read whole."""


class TrustInvalid(ClankieError):
    """The file of verify keys cannot be taken."""


class TrustSource(Protocol):
    """Where keys and revocations come from."""

    @property
    def verify_keys(self) -> VerifyKeys | None:
        """The keys now; None while none was ever known."""
        ...

    @property
    def state(self) -> str:
        """One word for health: `fixed`, `current`, `stale` or `unknown`."""
        ...

    def is_revoked(self, host_id: str) -> bool:
        """Whether the fleet has withdrawn this host's credentials."""
        ...

    def on_change(self, changed: Callable[[], None]) -> None:
        """Call this whenever keys or revocations have changed."""
        ...

    async def start(self) -> None:
        """Begin. Never waits for the fleet."""
        ...

    async def stop(self) -> None:
        """End."""
        ...


class FixedTrust:
    """Keys that do not change, and nobody revoked: for systems with one fleet key for good, and no fleet to ask."""

    state: Final = "fixed"

    def __init__(self, verify_keys: VerifyKeys) -> None:
        self.verify_keys: Final = verify_keys

    @classmethod
    def from_file(cls, path: Path) -> "FixedTrust":
        """The keys of a file `{"keys":[{"publicKeyPem"}]}`. Raises TrustInvalid."""
        try:
            with path.open("rb") as file:
                return cls(load_verify_keys(file.read(MAX_KEYS_BYTES)))
        except OSError as error:
            problem = f"{path} cannot be read: {error.strerror}"
        except ProtocolError as error:
            problem = f"{path} holds no verify keys: {error}"
        raise TrustInvalid(
            problem, next_step="Put the fleet's verify keys there, or set gateway.fleet_origin."
        )

    def is_revoked(self, host_id: str) -> bool:  # noqa: ARG002, RUF100 - the port's
        return False

    def on_change(self, changed: Callable[[], None]) -> None:
        """Nothing changes."""

    async def start(self) -> None:
        """Nothing to begin."""

    async def stop(self) -> None:
        """Nothing to end."""
