"""One request over HTTP, within bounds. What comes back is bytes from a stranger.

Owns the connection pool, the time-outs and the size of an answer. Must not know what an envelope is.
"""

import asyncio
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, NamedTuple, Self

import httpx2

MAX_ANSWER_BYTES: Final = 262_144
"""The largest sealed result (a briefing of 20 000 escaped units) takes some 165 000 bytes as base64url in JSON."""
CONNECT_SECONDS: Final = 5.0
"""For DNS, TCP and TLS together, and again for a free connection of the pool."""
ANSWER_SECONDS: Final = 15.0
"""For a request and its answer as a whole, beyond the time it asks to be held."""
IDLE_SECONDS: Final = 60.0
"""An idle connection is kept this long: under the body's 75, so that it is not closed while we write to it."""
MAX_CONNECTIONS: Final = 256
"""Sockets of one pool. A held request takes one, and a body holds 64."""


class HttpAnswer(NamedTuple):
    """What came back. Everything in it is unsealed.

    Attributes:
        status: the HTTP status.
        body: at most `MAX_ANSWER_BYTES`, as sent (no content encoding is asked for, and none undone).
        retry_after: the Retry-After header.
        held: whether the other side says that it honoured `Prefer: wait`.
    """

    status: int
    body: bytes
    retry_after: str | None
    held: bool


class NoAnswer(Exception):
    """No whole answer came. `reason` is a short word: what was sent may have arrived."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AnswerTooLarge(Exception):
    """The answer is larger than any a body gives."""


class HttpTransport:
    """A pool of connections that several `Connection`s may share. Close it, or use it as a context manager.

    Args:
        trust_environment: take proxies and certificate bundles from HTTPS_PROXY, SSL_CERT_FILE and the like. Off, so
            that a variable set for something else cannot move envelopes to another path.
        answer_seconds: see ANSWER_SECONDS.
    """

    def __init__(
        self, *, trust_environment: bool = False, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._answer_seconds = answer_seconds
        self._client = httpx2.AsyncClient(
            trust_env=trust_environment,
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS),
            limits=httpx2.Limits(
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=MAX_CONNECTIONS,
                keepalive_expiry=IDLE_SECONDS,
            ),
            # a stranger's cookies are neither kept nor sent back
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",
                "user-agent": "clankie-connection",
            },
        )

    async def post(
        self,
        url: str,
        body: bytes,
        wait_seconds: int,
        headers: Mapping[str, str] | None = None,
        *,
        answer_seconds: float | None = None,
    ) -> HttpAnswer:
        """Post JSON and read the answer.

        Args:
            wait_seconds: how long the other side is asked to hold the request; 0 asks nothing.
            headers: sent beside our own; a fleet is asked with a bearer.
            answer_seconds: for this request, in place of the pool's own.

        Raises:
            NoAnswer: not reached, cut off, or too slow.
            AnswerTooLarge: over `MAX_ANSWER_BYTES`.
        """
        sent = {"content-type": "application/json", **(headers or {})}
        return await self._exchange("POST", url, body, wait_seconds, sent, answer_seconds)

    async def get(self, url: str, headers: Mapping[str, str], wait_seconds: int = 0) -> HttpAnswer:
        """Get JSON; the arguments and errors are those of `post`."""
        return await self._exchange("GET", url, b"", wait_seconds, dict(headers))

    async def _exchange(
        self,
        method: str,
        url: str,
        body: bytes,
        wait_seconds: int,
        headers: dict[str, str],
        answer_seconds: float | None = None,
    ) -> HttpAnswer:
        seconds = self._answer_seconds if answer_seconds is None else answer_seconds
        if wait_seconds:
            headers["prefer"] = f"wait={wait_seconds}"
        try:
            async with (
                asyncio.timeout(wait_seconds + seconds),
                self._client.stream(method, url, content=body, headers=headers) as response,
            ):
                answer = await _read(response)
        except TimeoutError:
            raise NoAnswer("timeout") from None
        except httpx2.TransportError as error:
            # The library's own text can quote the URL; its class says enough.
            raise NoAnswer(type(error).__name__) from None
        return HttpAnswer(
            response.status_code,
            answer,
            response.headers.get("retry-after"),
            "preference-applied" in response.headers,
        )

    async def close(self) -> None:
        """Close every connection. Safe to call again."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _read(response: httpx2.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise AnswerTooLarge
        parts.append(part)
    return b"".join(parts)
