"""How a command reaches the edge: over the running one's loopback port, or, when none runs, over its store.

Owns that choice. The call is the same either way: without a running edge, its application is asked in this process.
Must not know any call.
"""

import os
from typing import TYPE_CHECKING, Any, Final

from clankie.runtime.errors import ClankieError

if TYPE_CHECKING:
    import httpx2

    from clankie.runtime.broker import FileBroker
    from clankie.runtime.settings import Config

SECONDS: Final = 30.0
"""For one call."""


class NoEdge(ClankieError):
    """There is no edge to ask. Nothing was made."""


def call_edge(method: str, path: str) -> Any:
    """Make one operator's call; its answer.

    Raises:
        ClankieError: it was refused, or nothing could be asked; with the next step.
    """
    import asyncio  # noqa: PLC0415 - `clankie --help` must not wait for any of these

    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415

    config = load_config(os.environ).config
    return asyncio.run(_call(config, FileBroker(config.broker_path), method, path))


async def _call(config: "Config", broker: "FileBroker", method: str, path: str) -> Any:
    from clankie.body.doctor.store_facts import is_open_elsewhere  # noqa: PLC0415
    from clankie.edge.store.sealing import STORE_KEY_ID  # noqa: PLC0415
    from clankie.runtime import engines  # noqa: PLC0415
    from clankie.runtime.credentials import SecretKeyCredential  # noqa: PLC0415
    from clankie.runtime.database_errors import DatabaseInUse  # noqa: PLC0415
    from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

    url = resolve_secret("edge.store", config.edge.store, broker)
    parsed = engines.parse_url(url)
    key = broker.get(STORE_KEY_ID, SecretKeyCredential)
    path_of = engines.sqlite_path(parsed) if engines.is_sqlite(parsed) else None
    there = path_of is None or path_of.exists() or is_open_elsewhere(path_of)
    if key is None or not there:
        raise NoEdge(
            f"no edge ever ran in {config.home}: its store would be {engines.place(parsed)}",
            next_step="`clankie edge serve` or `clankie up --sim` makes one; if there is one elsewhere, set "
            "CLANKIE_HOME to its home.",
        )
    if path_of is None:
        answer = await _over_port(config, broker, method, path)
        return _told(answer or await _over_store(url, key.key, method, path))
    try:
        # The file's lock says whether an edge runs. So the bearer is sent to the port only while one does.
        return _told(await _over_store(url, key.key, method, path))
    except DatabaseInUse:
        answer = await _over_port(config, broker, method, path)
    if answer is None:
        raise NoEdge(
            f"a process uses the edge's store, and none answers on port {config.edge.local_port}",
            next_step="Set edge.local_port to the running edge's, or wait for the other command to end.",
        )
    return _told(answer)


async def _over_port(
    config: "Config", broker: "FileBroker", method: str, path: str
) -> "httpx2.Response | None":
    import httpx2  # noqa: PLC0415

    from clankie.edge.operator import OPERATOR_PREFIX, operator_bearer  # noqa: PLC0415

    url = f"http://127.0.0.1:{config.edge.local_port}{OPERATOR_PREFIX}{path}"
    headers = {"authorization": f"Bearer {operator_bearer(broker)}"}
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client:
        try:
            return await client.request(method, url, headers=headers)
        except httpx2.TransportError:
            return None


async def _over_store(url: str, key: bytes, method: str, path: str) -> "httpx2.Response":
    import httpx2  # noqa: PLC0415

    from clankie.edge.operator import (  # noqa: PLC0415
        OPERATOR_PREFIX,
        open_for_operator,
        operator_web,
    )
    from clankie.runtime.clock import SystemClock  # noqa: PLC0415
    from clankie.runtime.sightings import Sightings  # noqa: PLC0415

    clock = SystemClock()
    store = await open_for_operator(url, key, clock)
    try:
        app: Any = operator_web(store, Sightings(clock))
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), timeout=SECONDS
        ) as client:
            return await client.request(method, f"http://127.0.0.1{OPERATOR_PREFIX}{path}")
    finally:
        await store.close()


def _told(answer: "httpx2.Response") -> Any:
    if answer.is_success:
        return answer.json()
    if answer.status_code == 404:
        raise ClankieError(
            "the edge knows no such delivery",
            next_step="`clankie edge outbox list --ended` shows those that it knows.",
        )
    if answer.status_code == 401:
        raise ClankieError(
            "the edge that runs takes no call from here",
            next_step="Run this as the user, and with the CLANKIE_HOME, that the edge runs with.",
        )
    raise ClankieError(
        f"the edge refuses the call ({answer.status_code})",
        next_step="Try again in a moment; see that the edge's database runs and has room.",
    )
