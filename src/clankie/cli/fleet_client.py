"""How a command reaches the fleet: over the running one's loopback port, or, when none runs, over its store.

Owns that choice. The call is the same either way: without a running fleet, its application is asked in this process.
Must not know any call.
"""

import os
from typing import TYPE_CHECKING, Any

from clankie.runtime.errors import ClankieError

if TYPE_CHECKING:
    import httpx2

    from clankie.runtime.broker import FileBroker
    from clankie.runtime.settings import Config

_BEGINNINGS = ("account/add", "edge/add")
"""Calls that a new fleet may begin with, before it is served: what all others need is made by these."""
SECONDS = 60.0
"""For one call; the check of a long audit trail takes the longest."""


class NoFleet(ClankieError):
    """There is no fleet to ask. Nothing was made."""


def call_fleet(call: str, **fields: Any) -> Any:
    """Make one administrators' call; its answer.

    Raises:
        ClankieError: it was refused, or nothing could be asked; with the next step.
    """
    import asyncio  # noqa: PLC0415 - `clankie --help` must not wait for any of these

    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415

    config = load_config(os.environ).config
    return asyncio.run(_call(config, FileBroker(config.broker_path), call, fields))


async def _call(config: "Config", broker: "FileBroker", call: str, fields: dict[str, Any]) -> Any:
    await _require_fleet(config, broker, call)
    return await _made(config, broker, call, fields)


async def _require_fleet(config: "Config", broker: "FileBroker", call: str) -> None:
    """That there is a fleet, unless the call begins one: a mistyped home must not get a fleet of its own.

    Raises:
        NoFleet: nothing was made.
    """
    from clankie.body.doctor.store_facts import is_open_elsewhere  # noqa: PLC0415
    from clankie.fleet.opening import AUDIT_KEY  # noqa: PLC0415
    from clankie.runtime import engines  # noqa: PLC0415
    from clankie.runtime.credentials import SecretKeyCredential  # noqa: PLC0415
    from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

    if call in _BEGINNINGS:
        return
    url = engines.parse_url(resolve_secret("fleet.store", config.fleet.store, broker))
    if engines.is_sqlite(url):
        path = engines.sqlite_path(url)
        there = path.exists() or is_open_elsewhere(path)
    else:
        there = await _has_tables(url.render_as_string(hide_password=False))
    if not there:
        raise NoFleet(
            f"there is no fleet in {config.home}: its store would be {engines.place(url)}",
            next_step="`clankie fleet serve` makes one, `clankie up` a whole private system; "
            "if there is one elsewhere, set CLANKIE_HOME to its home.",
        )
    if broker.get(AUDIT_KEY, SecretKeyCredential) is None:
        raise NoFleet(
            f"the fleet's store at {engines.place(url)} belongs to a fleet with other keys than this home's",
            next_step=f"Set CLANKIE_HOME to that fleet's home, or put its {broker.path.name} back in place.",
        )


async def _has_tables(url: str) -> bool:
    from sqlalchemy import inspect  # noqa: PLC0415

    from clankie.cli.trace_stores import read_store  # noqa: PLC0415
    from clankie.fleet.migrations import SCHEMA  # noqa: PLC0415

    return await read_store(url, lambda found: inspect(found).has_table(SCHEMA.version_table))


async def _made(config: "Config", broker: "FileBroker", call: str, fields: dict[str, Any]) -> Any:
    from clankie.runtime import engines  # noqa: PLC0415
    from clankie.runtime.database_errors import DatabaseInUse  # noqa: PLC0415
    from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

    url = engines.parse_url(resolve_secret("fleet.store", config.fleet.store, broker))
    if not engines.is_sqlite(url):
        answer = await _over_port(config, broker, call, fields)
        if answer is not None:
            return _told(answer)
        return _told(await _over_store(config, broker, call, fields))
    try:
        # The file's lock says whether a fleet runs. So the bearer is sent to the port only while one does, and
        # never to whoever else may have taken the port meanwhile.
        return _told(await _over_store(config, broker, call, fields))
    except DatabaseInUse:
        answer = await _over_port(config, broker, call, fields)
    if answer is None:
        from clankie.fleet.errors import FleetUnreachable  # noqa: PLC0415

        raise FleetUnreachable(
            f"a process uses the fleet's store, and none answers on port {config.fleet.local_port}",
            next_step="Set fleet.local_port to the running fleet's, or wait for the other command to end.",
        )
    return _told(answer)


async def _over_port(
    config: "Config", broker: "FileBroker", call: str, fields: dict[str, Any]
) -> "httpx2.Response | None":
    import httpx2  # noqa: PLC0415

    from clankie.fleet.admin.bearer import admin_bearer  # noqa: PLC0415

    url = f"http://127.0.0.1:{config.fleet.local_port}/admin/v1/{call}"
    headers = {"authorization": f"Bearer {admin_bearer(broker)}"}
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client:
        try:
            return await client.post(url, json=fields, headers=headers)
        except httpx2.TransportError:
            return None


async def _over_store(
    config: "Config", broker: "FileBroker", call: str, fields: dict[str, Any]
) -> "httpx2.Response":
    import httpx2  # noqa: PLC0415
    import msgspec  # noqa: PLC0415

    from clankie.fleet.admin.service import Admin  # noqa: PLC0415
    from clankie.fleet.admin.web import admin_web  # noqa: PLC0415
    from clankie.fleet.opening import open_fleet  # noqa: PLC0415
    from clankie.fleet.role import fleet_origins  # noqa: PLC0415
    from clankie.runtime.clock import SystemClock  # noqa: PLC0415
    from clankie.runtime.sightings import Sightings  # noqa: PLC0415

    clock = SystemClock()
    fleet = await open_fleet(config, broker, clock)
    try:
        limits = msgspec.structs.asdict(config.fleet.limits)
        admin = Admin(
            fleet.store,
            fleet.seeds,
            fleet.gateways,
            lambda: fleet_origins(config, 0),
            limits,
            Sightings(clock),
        )
        app: Any = admin_web(admin, None, "-")
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, timeout=SECONDS) as client:
            return await client.post(f"http://127.0.0.1/admin/v1/{call}", json=fields)
    finally:
        await fleet.store.close()


def _told(answer: "httpx2.Response") -> Any:
    if answer.status_code == 200:
        return answer.json()
    try:
        refusal = dict(answer.json())
    except ValueError:
        refusal = {}
    code = str(refusal.get("error", answer.status_code))
    raise ClankieError(
        str(refusal.get("message", f"the fleet refuses the call: {code}")),
        next_step=str(refusal.get("nextStep", _NEXT_STEPS.get(code, "Look at the fleet's log."))),
    )


_NEXT_STEPS = {
    "malformed": "Check the ids and values typed: --help says what each may be.",
    "unauthorized": "Run this as the user, and with the CLANKIE_HOME, that the fleet runs with.",
    "unavailable": "Try again in a moment; see that the fleet's database runs and has room.",
}
