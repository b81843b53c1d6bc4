"""Where a server's or a person's messages go, as the fleet says, and when its machine is woken.

    a route that was just used     is held at the fleet (ETag, `Prefer: wait`): a change is here within moments
    any other                      is asked again, with its ETag, before it is used, once it is `FRESH_SECONDS` old
    the fleet does not answer      what was last known holds; where nothing is known, nobody is let in

Owns that memory and the asking. Must not know Discord's events, or what is delivered.
"""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, Final, Literal

import httpx2
import msgspec
import structlog

from clankie.connection.endpoint import base_url
from clankie.connection.fleet_routes import ROUTES_PATH, EdgeRoute
from clankie.discord.attention import WakePolicy, read_wake_trigger, wake_policy
from clankie.discord.errors import NameInvalid
from clankie.discord.names import check_names
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

FRESH_SECONDS: Final = 15.0
"""How long an answer is taken without asking again: what an unlinked server is heard at most after it was unlinked."""
WAIT_SECONDS: Final = 25
"""What the fleet is asked to hold a request until the route changes; it holds no longer."""
ANSWER_SECONDS: Final = 10.0
"""For an answer, beyond what it is held."""
PATIENCE_SECONDS: Final = 1.0
"""What a message waits for a newer answer when an older one is known."""
AGAIN_SECONDS: Final = 5.0
"""Between two attempts at a fleet that does not answer."""
MAX_HELD: Final = 64
"""Routes held at one time, those used last: a fleet holds 512 requests, of all its edges."""
HELD_FOR_SECONDS: Final = 600.0
"""A route is held for so long after it was used last."""
MAX_KNOWN: Final = 20_000
"""Servers and people remembered, those without a route included."""
MAX_ANSWER_BYTES: Final = 262_144
"""A route with both lists of 500 channels is 25 KB."""

LinkKind = Literal["guildId", "userId"]
Short = Annotated[str, msgspec.Meta(max_length=200)]


class _Attention(msgspec.Struct, frozen=True, rename="camel"):
    wake_trigger: str = "mention"
    names: tuple[str, ...] = ()
    channel_ids: tuple[str, ...] = ()
    ambient_channel_ids: tuple[str, ...] = ()


class Blocked(msgspec.Struct, frozen=True, rename="camel"):
    """Why nothing gets through."""

    scope: Short
    reason: Short
    at_ms: int


class Route(EdgeRoute, frozen=True, rename="camel", kw_only=True):
    """One route, with what an edge needs beside where it goes."""

    account_id: str
    attention: _Attention = _Attention()
    blocked: Blocked | None = None


class KnownRoute(msgspec.Struct, frozen=True):
    """A route and its settings as decisions take them."""

    route: Route
    policy: WakePolicy


class RoutesUnavailable(Exception):
    """The fleet did not answer, and nothing was known before."""


class _Entry:
    __slots__ = (
        "asked_at",
        "asking",
        "etag",
        "failed_at",
        "found",
        "held",
        "key",
        "known",
        "used_at",
    )

    def __init__(self, key: tuple[LinkKind, str]) -> None:
        self.key = key
        self.known = False
        self.found: KnownRoute | None = None
        self.etag: str | None = None
        self.asked_at = self.failed_at = float("-inf")
        self.used_at = 0.0
        self.held = False
        self.asking: asyncio.Task[None] | None = None


Changed = Callable[[LinkKind, str, KnownRoute | None, KnownRoute | None], None]
"""Told of a change: of what, what was known before, what is now."""


class Routes:
    """Use it on one event loop; close it.

    Args:
        fleet_origin: `https://fleet.example`; http on loopback only.
        edge_token: this edge's bearer.
        clock: its monotonic time tells how old an answer is.
        jitter: gives 0 to 1, so that edges do not ask in step.

    Raises:
        EndpointInvalid: the origin is none that a bearer may be sent to.
    """

    def __init__(
        self,
        fleet_origin: str,
        edge_token: str,
        clock: Clock,
        *,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._url = base_url(fleet_origin) + ROUTES_PATH
        self._clock = clock
        self._jitter = jitter
        self._entries: OrderedDict[tuple[LinkKind, str], _Entry] = OrderedDict()
        self._holding: OrderedDict[tuple[LinkKind, str], asyncio.Task[None]] = OrderedDict()
        self._listeners: list[Changed] = []
        self.reached = False
        self._client = httpx2.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(ANSWER_SECONDS, read=WAIT_SECONDS + ANSWER_SECONDS),
            limits=httpx2.Limits(max_connections=MAX_HELD + 32),
            headers={
                "authorization": f"Bearer {edge_token}",
                "accept": "application/json",
                "accept-encoding": "identity",
            },
        )

    def on_change(self, changed: Changed) -> None:
        """Tell of each change of what was known."""
        self._listeners.append(changed)

    async def of_server(self, guild_id: str) -> KnownRoute | None:
        """The route of a server, None when it has none on this edge. Raises RoutesUnavailable."""
        return await self._find("guildId", guild_id)

    async def of_person(self, user_id: str) -> KnownRoute | None:
        """The route of a person's direct messages, None when they are linked to none. Raises RoutesUnavailable."""
        return await self._find("userId", user_id)

    def known_server(self, guild_id: str) -> KnownRoute | None:
        """What is known of a server without asking."""
        entry = self._entries.get(("guildId", guild_id))
        return entry.found if entry is not None else None

    async def close(self) -> None:
        """Ask no more."""
        tasks = [*self._holding.values()]
        tasks += [each.asking for each in self._entries.values() if each.asking is not None]
        self._holding.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._client.aclose()

    async def _find(self, kind: LinkKind, discord_id: str) -> KnownRoute | None:
        entry = self._entry((kind, discord_id))
        now = self._clock.monotonic()
        entry.used_at = now
        if not (entry.known and (entry.held or now - entry.asked_at < FRESH_SECONDS)):
            await self._refresh(entry, now)
        if not entry.known:
            raise RoutesUnavailable
        if entry.found is not None:
            self._hold(entry)
        return entry.found

    def _entry(self, key: tuple[LinkKind, str]) -> _Entry:
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(key)
            if len(self._entries) > MAX_KNOWN:
                self._entries.popitem(last=False)
        self._entries.move_to_end(key)
        return entry

    async def _refresh(self, entry: _Entry, now: float) -> None:
        """Ask anew, several askers together; with an older answer known, not for long."""
        if entry.known and now - entry.failed_at < AGAIN_SECONDS:
            return
        if entry.asking is None:
            entry.asking = asyncio.get_running_loop().create_task(self._ask_once(entry))
        wait = PATIENCE_SECONDS if entry.known else None
        await asyncio.wait({entry.asking}, timeout=wait)

    async def _ask_once(self, entry: _Entry) -> None:
        try:
            await self._ask(entry, wait=0)
        except (httpx2.HTTPError, TimeoutError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._not_reached(entry, error)
        finally:
            entry.asking = None

    def _hold(self, entry: _Entry) -> None:
        task = self._holding.get(entry.key)
        if task is not None and not task.done():
            self._holding.move_to_end(entry.key)
            return
        self._holding[entry.key] = asyncio.get_running_loop().create_task(self._hold_on(entry))
        if len(self._holding) > MAX_HELD:
            _, oldest = self._holding.popitem(last=False)
            oldest.cancel()

    async def _hold_on(self, entry: _Entry) -> None:
        try:
            while (
                entry.found is not None
                and self._clock.monotonic() - entry.used_at < HELD_FOR_SECONDS
            ):
                began = self._clock.monotonic()
                try:
                    entry.held = True
                    await self._ask(entry, wait=WAIT_SECONDS)
                except (
                    httpx2.HTTPError,
                    TimeoutError,
                    msgspec.MsgspecError,
                    UnicodeDecodeError,
                ) as error:
                    entry.held = False
                    self._not_reached(entry, error)
                    await asyncio.sleep(AGAIN_SECONDS * (0.5 + self._jitter() / 2))
                else:  # a fleet that does not hold requests is not asked in a loop
                    if self._clock.monotonic() - began < 1:
                        await asyncio.sleep(1)
        finally:
            entry.held = False
            self._holding.pop(entry.key, None) if self._is_mine(entry) else None

    def _is_mine(self, entry: _Entry) -> bool:
        return self._holding.get(entry.key) is asyncio.current_task()

    async def _ask(self, entry: _Entry, *, wait: int) -> None:
        """One request; what it says is taken over. Raises HTTPError, TimeoutError, MsgspecError."""
        kind, discord_id = entry.key
        headers = {} if entry.etag is None else {"if-none-match": entry.etag}
        if wait and entry.etag is not None:
            headers["prefer"] = f"wait={wait}"
        async with (
            asyncio.timeout(wait + ANSWER_SECONDS),
            self._client.stream(
                "GET", self._url, params={kind: discord_id}, headers=headers
            ) as response,
        ):
            status = response.status_code
            text = await _read(response)
        if status == 304 and entry.known and entry.etag is not None:
            self._reached(entry)
        elif status == 200:
            found = _known(msgspec.json.decode(text, type=Route))
            self._reached(entry)
            entry.etag = response.headers.get("etag")
            self._take(entry, found)
        elif status == 404 and _code(text) == "route_unknown":
            self._reached(entry)
            entry.etag = None
            self._take(entry, None)
        else:
            raise httpx2.HTTPError(f"the fleet answered {status}")

    def _take(self, entry: _Entry, found: KnownRoute | None) -> None:
        before, known = entry.found, entry.known
        entry.found, entry.known = found, True
        if known and before != found:
            kind, discord_id = entry.key
            log.info("route_changed", kind=kind, id=discord_id, linked=found is not None)
            for changed in self._listeners:
                changed(kind, discord_id, before, found)

    def _reached(self, entry: _Entry) -> None:
        entry.asked_at, entry.failed_at = self._clock.monotonic(), float("-inf")
        self.reached = True

    def _not_reached(self, entry: _Entry, error: Exception) -> None:
        entry.failed_at = self._clock.monotonic()
        if self.reached:
            log.warning("fleet_not_reached", error=type(error).__name__)
        self.reached = False


def _known(route: Route) -> KnownRoute:
    """A route with its settings checked: a setting that makes no sense costs itself, and wakes nobody."""
    attention = route.attention
    names = [name for name in attention.names if _is_name(name)]
    try:
        trigger = read_wake_trigger(attention.wake_trigger)
    except ValueError:
        trigger = read_wake_trigger("mention")
    policy = wake_policy(
        trigger=trigger,
        names=names[:16],
        channel_ids=attention.channel_ids or None,
        ambient_channel_ids=attention.ambient_channel_ids,
    )
    return KnownRoute(route, policy)


def _is_name(name: str) -> bool:
    try:
        check_names([name])
    except NameInvalid:
        return False
    return True


def _code(text: bytes) -> str | None:
    try:
        said = msgspec.json.decode(text, type=dict[str, object]).get("error")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return said if isinstance(said, str) else None


async def _read(response: httpx2.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise httpx2.HTTPError("the answer is too large")
        parts.append(part)
    return b"".join(parts)
