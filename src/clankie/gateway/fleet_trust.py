"""The fleet as the source of trust: `GET /fleet/v1/keys`, asked again and again, held by the fleet until it changes.

What was last learnt is kept in a file, so that neither an outage of the fleet nor a restart during it costs a host its
tunnel. Owns the asking and the file. Must not know tunnels.
"""

import asyncio
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import httpx2
import msgspec
import structlog

from clankie.gateway.trust import TrustInvalid
from clankie.protocol import base64url
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import VerifyKeys, load_verify_keys
from clankie.protocol.gateway_frames import GATEWAY_ID_HEADER
from clankie.protocol.primitives import random_bytes
from clankie.runtime.folders import make_private, write_private
from clankie.runtime.origins import is_dialable_origin

log = structlog.get_logger(__name__)

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

KEYS_PATH: Final = "/fleet/v1/keys"
WAIT_SECONDS: Final = 25
"""What the fleet is asked to hold a request until something changes."""
ANSWER_SECONDS: Final = 15.0
"""For the request itself, beyond what it is held."""
FIRST_PAUSE_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 10.0
"""Between attempts while the fleet is not reached."""
QUICK_SECONDS: Final = 1.0
"""Between two answers of a fleet that does not hold requests."""
ID_BYTES: Final = 9
"""Of the name under which `clankie fleet key list` shows this gateway while it runs."""
MAX_ANSWER_BYTES: Final = 16 * 1_048_576
"""300 000 revoked hosts."""


class _Key(msgspec.Struct, frozen=True, rename="camel"):
    public_key_pem: str


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    """The keys and every revoked host. Keys of the answer that we do not know are a later fleet's."""

    keys: Annotated[list[_Key], msgspec.Meta(min_length=1, max_length=2)]
    revoked_hosts: list[Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{43}\Z")]]


_ANSWER: Final = msgspec.json.Decoder(_Answer)


class FleetTrust:
    """Keys and revocations of one fleet.

    Args:
        origin: the fleet's, https, or http on loopback.
        file: where the last answer is kept.
        jitter: gives 0 to 1, so that gateways do not ask in step.
    """

    def __init__(
        self, origin: str, file: Path, *, jitter: Callable[[], float] = random.random
    ) -> None:
        if not is_dialable_origin(origin):
            raise TrustInvalid(
                "gateway.fleet_origin is neither an https origin nor http on loopback",
                next_step="Set it to the fleet's origin, such as https://fleet.example.",
            )
        self._url = origin + KEYS_PATH
        self._file = file
        self._jitter = jitter
        self._id = base64url.encode(random_bytes(ID_BYTES))
        self._keys: VerifyKeys | None = None
        self._revoked: frozenset[str] = frozenset()
        self._etag: str | None = None
        self._current = False
        self._changed: list[Callable[[], None]] = []
        self._asking: asyncio.Task[None] | None = None

    @property
    def verify_keys(self) -> VerifyKeys | None:
        """See `TrustSource`."""
        return self._keys

    @property
    def state(self) -> str:
        """See `TrustSource`."""
        if self._keys is None:
            return "unknown"
        return "current" if self._current else "stale"

    def is_revoked(self, host_id: str) -> bool:
        """See `TrustSource`."""
        return host_id in self._revoked

    def on_change(self, changed: Callable[[], None]) -> None:
        """See `TrustSource`."""
        self._changed.append(changed)

    async def start(self) -> None:
        """Take what was learnt before, and begin to ask."""
        self._recall()
        log.info("fleet_asked", gateway_id=self._id)
        self._asking = asyncio.get_running_loop().create_task(self._ask_on())

    async def stop(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})

    async def _ask_on(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        timeout = httpx2.Timeout(ANSWER_SECONDS, read=WAIT_SECONDS + ANSWER_SECONDS)
        async with httpx2.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=timeout
        ) as client:
            while True:
                began = asyncio.get_running_loop().time()
                try:
                    async with asyncio.timeout(WAIT_SECONDS + ANSWER_SECONDS):
                        await self._ask(client)
                    self._current = True
                    pause = FIRST_PAUSE_SECONDS
                    took = asyncio.get_running_loop().time() - began
                    await asyncio.sleep(max(0.0, QUICK_SECONDS - took))
                except (
                    httpx2.HTTPError,
                    TimeoutError,
                    ProtocolError,
                    msgspec.MsgspecError,
                ) as error:
                    if self._current or pause == FIRST_PAUSE_SECONDS:
                        log.warning("fleet_not_reached", error=type(error).__name__)
                    self._current = False
                    await asyncio.sleep(pause * (0.5 + self._jitter() / 2))
                    pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def _ask(self, client: httpx2.AsyncClient) -> None:
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            GATEWAY_ID_HEADER: self._id,
        }
        if self._etag is not None:
            headers |= {"if-none-match": self._etag}
        if self._current:  # the first answer after an outage is wanted at once
            headers |= {"prefer": f"wait={WAIT_SECONDS}"}
        async with client.stream("GET", self._url, headers=headers) as response:
            if response.status_code == 304 and self._etag is not None:
                return
            response.raise_for_status()
            text = await _read(response)
        self._take(text)
        self._etag = response.headers.get("etag")
        await asyncio.to_thread(self._keep, text)

    def _take(self, text: bytes) -> None:
        """Believe an answer. Raises ProtocolError, MsgspecError when it is none; then nothing changes."""
        answer = _ANSWER.decode(text)
        keys = load_verify_keys(msgspec.json.encode({"keys": answer.keys}))
        known = self._keys.kids if self._keys else ()
        revoked = frozenset(answer.revoked_hosts)
        if (keys.kids, revoked) == (known, self._revoked):
            return
        self._keys, self._revoked = keys, revoked
        log.info("trust_changed", kids=keys.kids, revoked=len(revoked))
        for changed in self._changed:
            changed()

    def _recall(self) -> None:
        try:
            if self._file.stat().st_mode & _OTHERS_MAY_WRITE:
                log.error(
                    "kept_trust_unsafe",
                    file=str(self._file),
                    next_step=f"run `chmod 600 {self._file}`, once you know that nobody changed it",
                )
                return
            self._take(self._file.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ProtocolError, msgspec.MsgspecError) as error:
            # The fleet will tell again; until it does, nobody is let in.
            log.warning("kept_trust_unreadable", error=type(error).__name__)

    def _keep(self, text: bytes) -> None:
        try:
            make_private(self._file.parent)
            write_private(self._file, text)
        except OSError as error:
            log.warning("trust_not_kept", error=type(error).__name__)


async def _read(response: Any) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise httpx2.HTTPError("the answer is too large")
        parts.append(part)
    return b"".join(parts)
