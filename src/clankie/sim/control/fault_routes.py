"""The switches of the faults panel: what each does, in words, and setting and clearing them.

Owns these routes and words. What a fault does is `clankie.sim.faults`'; that a server is out, the world's.
"""

from typing import Any, Final, Literal

import msgspec
from litestar import delete, get, post
from litestar.params import FromPath, JSONBody

from clankie.sim.control.contracts import Ask, Id
from clankie.sim.control.events import EventLog
from clankie.sim.control.ids import to_id
from clankie.sim.control.refusals import NotSaid
from clankie.sim.faults import Fault, FaultKind, Faults, RateLimitScope
from clankie.sim.world.world import World

OUTAGE: Final = "outage"
FAULT: Final = "/faults/{name:str}"


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a switch asks for: a number, or one of `options` as (value, label)."""

    name: str
    label: str
    value: float | str | None = None
    min: float | None = None
    max: float | None = None
    step: float | None = None
    placeholder: str = ""
    options: list[tuple[str, str]] | None = None


class SetFault(Ask, frozen=True):
    """How a fault is set; a fault takes of these what it has.

    Attributes:
        count: how often it works; None until it is cleared.
        application_id: whom it meets; None or empty everyone.
        guild_id: of an outage, the server.
    """

    count: int | None = None
    application_id: Id | Literal[""] | None = None
    seconds: float | None = None
    status: int | None = None
    scope: RateLimitScope | None = None
    resumable: Literal["yes", "no"] | None = None
    guild_id: Id | None = None


class ShownFault(msgspec.Struct, frozen=True):
    """A switch. `left`: how often it still works, None until cleared."""

    name: str
    title: str
    about: str
    group: str
    on: bool
    left: int | None
    fields: list[Field]


class ShownFaults(msgspec.Struct, frozen=True):
    """All switches."""

    faults: list[ShownFault]


class _Words(msgspec.Struct, frozen=True):
    title: str
    about: str
    group: str
    fields: tuple[Field, ...] = ()


_CONNECTION, _EVENTS, _REQUESTS = "Connection", "Events", "Requests"
_TIMES: Final = Field("count", "Times", placeholder="until off", min=1, max=10_000)
_ONCE: Final = msgspec.structs.replace(_TIMES, value=1)
_WORDS: Final = {
    FaultKind.DROP: _Words(
        "Cut the connection",
        "The bot's socket breaks without a word, as when a network fails. It should resume and miss nothing.",
        _CONNECTION,
        (_ONCE,),
    ),
    FaultKind.RECONNECT: _Words(
        "Ask to reconnect",
        "Discord sends the bot away (op 7), as it does before maintenance. It should resume.",
        _CONNECTION,
        (_ONCE,),
    ),
    FaultKind.INVALID_SESSION: _Words(
        "Invalidate the session",
        "Discord forgets the bot's session (op 9). If it cannot be resumed, the bot starts anew and what "
        "happened meanwhile is not told to it.",
        _CONNECTION,
        (
            Field("resumable", "Resumable", options=[("no", "no"), ("yes", "yes")]),
            _ONCE,
        ),
    ),
    FaultKind.REPLAY_LAST: _Words(
        "Replay the last event",
        "The bot is told the last event once more. It should not act twice.",
        _EVENTS,
        (_ONCE,),
    ),
    FaultKind.DUPLICATE: _Words(
        "Send events twice",
        "Each event that follows comes twice. The bot should act once.",
        _EVENTS,
        (_TIMES,),
    ),
    FaultKind.REORDER: _Words(
        "Swap events",
        "An event comes after the one that followed it.",
        _EVENTS,
        (_TIMES,),
    ),
    FaultKind.DELAY: _Words(
        "Delay events",
        "Events come late, and stay in order.",
        _EVENTS,
        (Field("seconds", "Seconds", value=2, min=0, max=3600, step=0.1), _TIMES),
    ),
    FaultKind.RATE_LIMIT: _Words(
        "Too many requests (429)",
        "Requests of the bot are refused until it has waited. Nothing is posted by a refused one.",
        _REQUESTS,
        (
            Field("seconds", "Wait (s)", value=1, min=0, max=3600, step=0.1),
            Field(
                "scope",
                "Limit of",
                options=[("user", "one route"), ("global", "all"), ("shared", "all bots")],
            ),
            _ONCE,
        ),
    ),
    FaultKind.SERVER_ERROR: _Words(
        "Server errors (5xx)",
        "Discord fails at the bot's requests. Nothing is posted by a failed one.",
        _REQUESTS,
        (Field("status", "Status", value=502, min=500, max=599), _ONCE),
    ),
}


def fault_routes(world: World, faults: Faults, log: EventLog) -> list[Any]:
    """The handlers."""

    def shown() -> ShownFaults:
        active = faults.active()
        switches = [_switch(world, kind, words, active) for kind, words in _WORDS.items()]
        return ShownFaults([*switches, _outage(world)])

    @get("/faults", summary="The switches", sync_to_thread=False)
    def list_faults() -> ShownFaults:
        return shown()

    @post(FAULT, summary="Switch a fault on", sync_to_thread=False)
    def set_fault(name: FromPath[str], data: JSONBody[SetFault]) -> ShownFaults:
        if name == OUTAGE:
            if data.guild_id is None:
                raise NotSaid("An outage is a server's.", "Name it: guildId.")
            world.set_outage(to_id(data.guild_id), outage=True)
        else:
            kind = _kind(name)
            _clear(faults, kind)  # a switch that is set again is set anew, not twice
            given: dict[str, Any] = {
                "seconds": data.seconds,
                "status": data.status,
                "scope": data.scope,
                "resumable": None if data.resumable is None else data.resumable == "yes",
                "application_id": to_id(data.application_id) if data.application_id else None,
            }
            taken = {key: value for key, value in given.items() if value is not None}
            faults.set(kind, count=data.count, **taken)
        log.note("SIM_FAULTS")
        return shown()

    @delete(FAULT, summary="Switch a fault off", status_code=200, sync_to_thread=False)
    def clear_fault(name: FromPath[str]) -> ShownFaults:
        if name == OUTAGE:
            _end_outages(world)
        else:
            _clear(faults, _kind(name))
        log.note("SIM_FAULTS")
        return shown()

    @delete("/faults", summary="Switch all faults off", status_code=200, sync_to_thread=False)
    def clear_all() -> ShownFaults:
        faults.clear()
        _end_outages(world)
        log.note("SIM_FAULTS")
        return shown()

    return [list_faults, set_fault, clear_fault, clear_all]


def _kind(name: str) -> FaultKind:
    try:
        return FaultKind(name)
    except ValueError:
        raise NotSaid(
            "There is no such fault.", "GET /sim/api/v1/faults lists them.", 404
        ) from None


def _clear(faults: Faults, kind: FaultKind) -> None:
    for fault in faults.active():
        if fault.kind is kind:
            faults.clear(fault.id)


def _end_outages(world: World) -> None:
    for guild in world.guilds():
        if guild.outage:
            world.set_outage(guild.id, outage=False)


def _switch(world: World, kind: FaultKind, words: _Words, active: list[Fault]) -> ShownFault:
    mine = next((fault for fault in active if fault.kind is kind), None)
    bots = [(str(each.id), each.name) for each in world.applications()]
    whom = Field("applicationId", "Bot", options=[("", "all"), *bots])
    return ShownFault(
        name=kind.value,
        title=words.title,
        about=words.about,
        group=words.group,
        on=mine is not None,
        left=None if mine is None else mine.left,
        fields=[*words.fields, *([whom] if len(bots) > 1 else [])],
    )


def _outage(world: World) -> ShownFault:
    guilds = world.guilds()
    out = any(guild.outage for guild in guilds)
    options = [(str(guild.id), guild.name) for guild in guilds]
    return ShownFault(
        name=OUTAGE,
        title="Server outage",
        about="A server is unavailable: bots are told that it is gone, and hear nothing of it until it is back.",
        group="Servers",
        on=out,
        left=None,
        fields=[] if out or not options else [Field("guildId", "Server", options=options)],
    )
