"""`clankie trace`: what each role of this machine knows of one delivery, on one time line. No text, since none has any.

Owns the command line and the time line. Must not know how a role keeps what it knows.
"""

import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clankie.cli.fleet_shown import AsJson, show_json
from clankie.runtime.errors import ClankieError

if TYPE_CHECKING:
    from clankie.runtime.broker import FileBroker

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Show what each role of this machine knows of one delivery.",
)

SECONDS = 10.0
"""For a role's answer."""
_DELIVERY = re.compile(r"[A-Za-z0-9:_-]{1,128}", re.ASCII)
_AWAY = "does not run now"


@app.command()
def trace(
    delivery: Annotated[
        str, typer.Argument(metavar="DELIVERY", help="The delivery's id, such as discord:123.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Show times, states, permits and refusals of a delivery, as far as this machine's roles know them.

    The fleet knows who asked for permits, the body what became of the delivery. The gateway sees sealed envelopes and
    cannot tell one delivery from another. What is not in a store is remembered since the role's last start.
    """
    import asyncio  # noqa: PLC0415 - `clankie --help` must not wait for these

    from clankie.runtime.config import load_config  # noqa: PLC0415

    if _DELIVERY.fullmatch(delivery) is None:
        raise ClankieError(
            "that is no delivery's id",
            next_step="Give one such as discord:123: `clankie say --id` prints it, and the body's log has it.",
        )
    config = load_config(os.environ).config
    found = asyncio.run(_ask(config, delivery))
    if as_json:
        show_json(found)
        return
    lines = _time_line(found)
    for at_ms, role, what in lines:
        typer.echo(f"{_time(at_ms)}  {role:<5}  {what}")
    for role in ("fleet", "body"):
        if isinstance(found[role], str):
            typer.echo(f"{role}: {found[role]}")
    charged = _of(found["fleet"], "charged")
    if charged:
        typer.echo(f"fleet: charged for {', '.join(map(str, charged))}")
    if not lines and not charged:
        typer.echo(f"nothing is known of {delivery} here")
    typer.echo("gateway: cannot know; it sees envelopes and not what they deliver")


async def _ask(config: Any, delivery: str) -> dict[str, Any]:
    from clankie.body.operator import OPERATOR_BEARER, OPERATOR_PREFIX  # noqa: PLC0415
    from clankie.fleet.admin.bearer import ADMIN_BEARER  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.secrets import resolve_secret  # noqa: PLC0415

    broker = FileBroker(config.broker_path)

    async def told(
        role: str, store: Any, bearer_id: str, method: str, url: str, **sent: Any
    ) -> Any:
        try:
            running = _may_run(resolve_secret(f"{role}.store", store, broker))
        except ClankieError as error:
            return str(error)
        return await _told(broker, bearer_id, method, url, **sent) if running else _AWAY

    fleet = f"http://127.0.0.1:{config.fleet.local_port}/admin/v1/delivery/trace"
    host = f"[{config.body.host}]" if ":" in config.body.host else config.body.host
    body = f"http://{host}:{config.body.port}{OPERATOR_PREFIX}deliveries/{delivery}"
    return {
        "delivery": delivery,
        "fleet": await told(
            "fleet", config.fleet.store, ADMIN_BEARER, "POST", fleet, json={"deliveryId": delivery}
        ),
        "body": await told("body", config.body.store, OPERATOR_BEARER, "GET", body),
    }


def _may_run(url: str) -> bool:
    """Whether the role of a store can be running here: while it does, it holds the lock of an embedded store.

    Whoever else listens on its port meanwhile must not be sent its bearer.
    """
    from clankie.body.doctor.store_facts import is_open_elsewhere  # noqa: PLC0415
    from clankie.runtime import engines  # noqa: PLC0415

    parsed = engines.parse_url(url)
    return not engines.is_sqlite(parsed) or is_open_elsewhere(engines.sqlite_path(parsed))


async def _told(broker: "FileBroker", bearer_id: str, method: str, url: str, **sent: Any) -> Any:
    import httpx2  # noqa: PLC0415

    from clankie.runtime.credentials import TokenCredential  # noqa: PLC0415

    bearer = broker.get(bearer_id, TokenCredential)
    if bearer is None:
        return "never ran here"
    headers = {"authorization": f"Bearer {bearer.token}"}
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client:
            answer = await client.request(method, url, headers=headers, **sent)
        found = answer.json() if answer.is_success else None
    except (httpx2.TransportError, ValueError):
        return _AWAY
    if not answer.is_success:
        return f"refuses with {answer.status_code}"
    known = isinstance(found, dict) and isinstance(found.get("seen"), list)
    return found if known else "what answers on its port is something else"


def _time_line(found: dict[str, Any]) -> list[tuple[int, str, str]]:
    lines = [(seen["atMs"], "fleet", _sighting(seen)) for seen in _of(found["fleet"], "seen")]
    permits = {seen.get("permitId") for seen in _of(found["fleet"], "seen")} - {None}
    lines += [(seen["atMs"], "body", _sighting(seen)) for seen in _of(found["body"], "seen")]
    lines += [
        (seen["atMs"], "body", _sighting(seen))
        for seen in _of(found["body"], "refused")
        if seen.get("permitId") in permits
    ]
    stored = found["body"].get("stored") if isinstance(found["body"], dict) else None
    if stored:
        lines.append((stored["admittedAtMs"], "body", "stored as pending"))
        if stored.get("settledAtMs"):
            lines.append((stored["settledAtMs"], "body", f"settled as {stored['state']}"))
    return sorted(lines)


def _of(answer: Any, name: str) -> list[Any]:
    return list(answer.get(name, ())) if isinstance(answer, dict) else []


def _sighting(seen: dict[str, Any]) -> str:
    words = [seen["what"].replace("_", " "), seen.get("detail", "")]
    if seen.get("permitId"):
        words.append(f"permit {seen['permitId']}")
    return " ".join(filter(None, words))


def _time(at_ms: int) -> str:
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}Z"
