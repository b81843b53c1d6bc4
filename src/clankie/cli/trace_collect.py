"""What each role of this machine knows of one delivery: asked of those that run, read from the stores of those that do
not.

Owns which role is asked how, and the one time line. Must not know how it is shown.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from clankie.cli.trace_known import (
    BodyKnows,
    EdgeKnows,
    EdgeRow,
    FleetKnows,
    Found,
    GatewayKnows,
    Line,
    time_line,
)
from clankie.runtime.errors import ClankieError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from clankie.runtime.broker import FileBroker
    from clankie.runtime.settings import Config

__all__ = ["Found", "Line", "collect", "find", "time_line"]

SECONDS: Final = 10.0
"""For a role's answer."""
AWAY: Final = "does not run now"
NO_PERMIT: Final = "cannot be asked: it knows permits alone, and no role here knows one"
NEVER: Final = f"{AWAY}, and has kept nothing in this home"
_OK: Final = 200

Known = TypeVar("Known", bound=msgspec.Struct)


async def collect(config: "Config", delivery: str) -> list[Line]:
    """What is known of a delivery, oldest first, as (wall milliseconds, role, what happened). No text, ever.

    Roles that are away add nothing, and no role that fails is an error here.

    Args:
        delivery: its id, such as `discord:123`.
    """
    return time_line(await find(config, delivery))


async def find(config: "Config", delivery: str, permits: Iterable[str] = ()) -> Found:
    """What each role knows; a sentence in the place of one that cannot be asked.

    Args:
        permits: ids of permits of this delivery, beside those that roles here know of: the gateway knows these alone.
    """
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415 - `clankie --help` must not wait

    asking = _Asking(config, FileBroker(config.broker_path), delivery)
    (edge, edge_note), (fleet, fleet_note), (body, body_note) = await asyncio.gather(
        _told(asking.edge), _told(asking.fleet), _told(asking.body)
    )
    asked = set(permits) | {
        seen.permit_id
        for known in (fleet, body)
        if not isinstance(known, str)
        for seen in known.seen
        if seen.permit_id
    }
    gateway, _ = await _told(lambda: asking.gateway(sorted(asked)))
    notes = {"edge": edge_note, "fleet": fleet_note, "body": body_note}
    return Found(
        delivery=delivery,
        edge=edge,
        fleet=fleet,
        gateway=gateway,
        body=body,
        notes={role: note for role, note in notes.items() if note},
    )


async def _told(ask: Callable[[], Any]) -> Any:
    try:
        return await ask()
    except ClankieError as error:
        return str(error), ""


class _Asking:
    """One delivery's questions. Each gives what is known, or a sentence why nothing is, and a note on it."""

    def __init__(self, config: "Config", broker: "FileBroker", delivery: str) -> None:
        self._config = config
        self._broker = broker
        self._delivery = delivery

    async def edge(self) -> tuple[EdgeKnows | str, str]:
        from clankie.edge.operator import (  # noqa: PLC0415
            OPERATOR_BEARER,
            OPERATOR_PREFIX,
            rows_of,
        )
        from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

        def look(connection: "Connection") -> EdgeKnows:
            stored = rows_of(connection, self._delivery)
            return EdgeKnows([], msgspec.convert(msgspec.to_builtins(stored), list[EdgeRow]))

        told, note = await self._known(
            resolve_secret("edge.store", self._config.edge.store, self._broker),
            look,
            lambda: self._ask(
                EdgeKnows,
                OPERATOR_BEARER,
                ("edge.local_port", "127.0.0.1", self._config.edge.local_port),
                "GET",
                f"{OPERATOR_PREFIX}deliveries/{self._delivery}",
                None,
            ),
        )
        # Most homes have no edge, and miss none: the bot's is elsewhere, or `clankie say` is one.
        return (EdgeKnows([], []), "") if told == NEVER else (told, note)

    async def fleet(self) -> tuple[FleetKnows | str, str]:
        from clankie.fleet.admin.bearer import ADMIN_BEARER  # noqa: PLC0415
        from clankie.fleet.registry.routes import charges_of  # noqa: PLC0415
        from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

        fleet = self._config.fleet

        def look(connection: "Connection") -> FleetKnows:
            stored = charges_of(connection, self._delivery)
            return FleetKnows([one.tenant_id for one in stored], [], list(stored))

        return await self._known(
            resolve_secret("fleet.store", fleet.store, self._broker),
            look,
            lambda: self._ask(
                FleetKnows,
                ADMIN_BEARER,
                ("fleet.local_port", "127.0.0.1", fleet.local_port),
                "POST",
                "/admin/v1/delivery/trace",
                {"deliveryId": self._delivery},
            ),
        )

    async def body(self) -> tuple[BodyKnows | str, str]:
        from clankie.body.admissions.contracts import DeliveryKey  # noqa: PLC0415
        from clankie.body.admissions.queries import describe  # noqa: PLC0415
        from clankie.body.bootstrap import read_bootstrap  # noqa: PLC0415
        from clankie.body.operator import OPERATOR_BEARER, OPERATOR_PREFIX  # noqa: PLC0415
        from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

        body = self._config.body

        def look(connection: "Connection") -> BodyKnows:
            bootstrap = read_bootstrap(body.bootstrap)
            if bootstrap is None:
                return BodyKnows([], [])  # unmanaged: no delivery is anybody's
            owner = (bootstrap.tenant_id, bootstrap.installation_id)
            return BodyKnows([], [], describe(connection, DeliveryKey(*owner, self._delivery)))

        return await self._known(
            resolve_secret("body.store", body.store, self._broker),
            look,
            lambda: self._ask(
                BodyKnows,
                OPERATOR_BEARER,
                ("body.port", body.host, body.port),
                "GET",
                f"{OPERATOR_PREFIX}deliveries/{self._delivery}",
                None,
            ),
        )

    async def gateway(self, permits: list[str]) -> tuple[GatewayKnows | str, str]:
        from clankie.gateway.operator import (  # noqa: PLC0415
            MAX_PERMITS,
            OPERATOR_BEARER,
            PASSAGES_PATH,
        )
        from clankie.gateway.presence import gateway_runs  # noqa: PLC0415

        if not gateway_runs(self._config.home):
            return f"{AWAY} in this home, and keeps nothing when it ends", ""
        if not permits:
            return NO_PERMIT, ""
        known = await self._ask(
            GatewayKnows,
            OPERATOR_BEARER,
            ("gateway.local_port", "127.0.0.1", self._config.gateway.local_port),
            "POST",
            PASSAGES_PATH,
            {"permitIds": permits[-MAX_PERMITS:]},
        )
        return known, ""

    async def _known(
        self, url: str, look: "Callable[[Connection], Known]", ask: Callable[[], Any]
    ) -> tuple[Known | str, str]:
        """What a role with a store knows.

        The lock of a SQLite store says whether the role runs: whoever else listens on its port meanwhile is not sent
        its bearer. A PostgreSQL store is read whether or not it runs, here or elsewhere.
        """
        from clankie.cli.trace_stores import (  # noqa: PLC0415
            NoStore,
            StoreInUse,
            is_sqlite,
            read_store,
        )

        why = AWAY
        if not is_sqlite(url):
            told = await ask()
            if not isinstance(told, str):
                return told, ""
            why = told
        try:
            return await read_store(url, look), f"{why}; this is what its store holds"
        except StoreInUse:
            return await ask(), ""
        except NoStore:
            return NEVER, ""

    async def _ask(
        self,
        kind: type[Known],
        bearer_id: str,
        place: tuple[str, str, int],
        method: str,
        path: str,
        sent: dict[str, Any] | None,
    ) -> Known | str:
        import httpx2  # noqa: PLC0415

        from clankie.runtime.credentials import TokenCredential  # noqa: PLC0415

        setting, host, port = place
        bearer = self._broker.get(bearer_id, TokenCredential)
        if bearer is None:
            return "never ran with this broker"
        if port == 0:
            return f"runs, and cannot be asked: {setting} is 0, so its port is another each time"
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
        headers = {"authorization": f"Bearer {bearer.token}"}
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client:
                answer = await client.request(method, url, headers=headers, json=sent)
        except httpx2.TransportError:
            return f"runs, and does not answer on port {port} ({setting})"
        if answer.status_code != _OK:
            return f"refuses with {answer.status_code} on port {port} ({setting})"
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except msgspec.MsgspecError:
            return f"what answers on port {port} ({setting}) is something else"
