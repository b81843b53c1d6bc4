"""One request to Discord and what it answered, as a plain value: no limit and no failure is waited out for minutes.

Below is discord.py's HTTP client with its buckets: it waits a little before a request that its bucket has no room for.
Each 429 and 5xx comes back at once, where it would wait and try again: when to try again is the outbox's to know.

What is sent with an interaction's token goes without the bot's, over a session of its own, and is tried once.

Owns the request. Must not know what is posted, or why.
"""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import aiohttp
from discord.http import HTTPClient, Route

import discord

REQUEST_SECONDS: Final = 12.0
"""For one request with the wait before it: under the outbox's 15 (`outbox.contracts`), and a channel's bucket is empty
for five at most."""
NOT_SENT_AGAIN_SECONDS: Final = 5.0
"""What a request that was never sent, for its bucket stayed empty, is told to wait: a channel's window."""
TOKEN_REQUEST_SECONDS: Final = 2.5
"""For a request with an interaction's token: its first answer must be there within three."""
MAX_LIMIT_SECONDS: Final = 30.0
"""What discord.py waits at most before a request whose bucket is empty: its own lower bound for that setting."""

_LIMITED: Final = 429
_FAILED: Final = 500


class Answer(NamedTuple):
    """What Discord answered.

    Attributes:
        status: HTTP's; None when no whole answer came, and what was asked may have been done.
        body: the JSON, or None.
        code: Discord's error code.
        retry_after: seconds, of a 429.
        is_global: whether a 429 is for everything this bot sends.
    """

    status: int | None
    body: Any = None
    code: int | None = None
    retry_after: float | None = None
    is_global: bool = False

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.status is not None and 200 <= self.status < 300


NO_ANSWER: Final = Answer(None)


class _Surfaced(Exception):
    """Carries an answer through discord.py's client, which would wait."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("surfaced")
        self.answer = answer


class _Call:
    """One request of ours on its way through discord.py's client."""

    __slots__ = ("sent",)

    def __init__(self) -> None:
        self.sent = False


def surfacing() -> aiohttp.TraceConfig:
    """What discord.py's client is made with (`http_trace`), so that its answers come back here."""
    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(_sent)
    trace.on_request_end.append(_surface)
    return trace


async def _sent(
    _session: aiohttp.ClientSession,
    context: SimpleNamespace,
    _params: aiohttp.TraceRequestStartParams,
) -> None:
    if isinstance(context.trace_request_ctx, _Call):
        context.trace_request_ctx.sent = True


async def _surface(
    _session: aiohttp.ClientSession,
    context: SimpleNamespace,
    params: aiohttp.TraceRequestEndParams,
) -> None:
    if not isinstance(context.trace_request_ctx, _Call):
        return  # discord.py's own request: it knows what to do
    response = params.response
    if response.status == _LIMITED or response.status >= _FAILED:
        text = await response.read()
        raise _Surfaced(read_answer(response.status, response.headers, text))


class Rest:
    """Requests as the bot. Use it once the client is logged in.

    Args:
        http: of the client, made with `surfacing()`.
    """

    def __init__(self, http: HTTPClient) -> None:
        self._http = http
        self._plain: aiohttp.ClientSession | None = None

    async def call(self, method: str, path: str, body: Any = None, **parameters: str) -> Answer:
        """One request as the bot.

        Args:
            path: such as `/channels/{channel_id}/messages?limit=100`; names in braces are taken from `parameters`.
            body: JSON, or None.
        """
        route = Route(method, path, **parameters)
        given = {} if body is None else {"json": body}
        call = _Call()
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                found = await self._http.request(route, trace_request_ctx=call, **given)
        except _Surfaced as surfaced:
            return surfaced.answer
        except discord.RateLimited as limited:
            return Answer(_LIMITED, retry_after=limited.retry_after)
        except discord.HTTPException as error:
            return Answer(error.status, code=error.code or None)
        except (OSError, aiohttp.ClientError, TimeoutError):
            return NO_ANSWER if call.sent else Answer(_LIMITED, retry_after=NOT_SENT_AGAIN_SECONDS)
        return Answer(200, found if isinstance(found, dict | list) else None)

    async def call_with_token(self, method: str, path: str, body: Any) -> Answer:
        """One request that an interaction's token in `path` allows; the bot's own is not sent."""
        if self._plain is None:
            timeout = aiohttp.ClientTimeout(total=TOKEN_REQUEST_SECONDS)
            self._plain = aiohttp.ClientSession(timeout=timeout)
        try:
            async with self._plain.request(
                method, f"{Route.BASE}{path}", json=body, allow_redirects=False
            ) as response:
                return read_answer(response.status, response.headers, await response.read())
        except (OSError, aiohttp.ClientError, TimeoutError):
            return NO_ANSWER

    async def close(self) -> None:
        """Close what is ours; the client closes its own. Safe to call again."""
        if self._plain is not None:
            await self._plain.close()
            self._plain = None


def read_answer(status: int, headers: Any, text: bytes) -> Answer:
    """An answer from its parts; a body that is not JSON (a proxy's page) says nothing."""
    try:
        body = json.loads(text) if text else None
    except ValueError:
        body = None
    said: dict[str, Any] = body if isinstance(body, dict) else {}
    code = said.get("code")
    after = said.get("retry_after", headers.get("Retry-After"))
    return Answer(
        status,
        body,
        code if isinstance(code, int) and code else None,
        _seconds(after) if status == _LIMITED else None,
        said.get("global") is True or headers.get("X-RateLimit-Global") == "true",
    )


def _seconds(value: Any) -> float | None:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return None
