"""What an owner would do by hand once: a machine's bootstrap file, an edge's token, and a link between the two.

Owns which of it is missing, and making that alone: each start looks, so one that was cut short anywhere is finished by
the next, and nothing is made twice. What belongs to another fleet is never touched. Must not know the roles.
"""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog

from clankie.body.bootstrap import Bootstrap, NoBootstrap, read_bootstrap
from clankie.cli.private_ids import EDGE_TOKEN_ID, PRIVATE_SERVER
from clankie.fleet import ids
from clankie.fleet.registry.machines import Origins
from clankie.protocol.wire_model import write
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import ClankieError
from clankie.runtime.folders import make_private, write_private

log = structlog.get_logger(__name__)

ACCOUNT_LABEL: Final = "owner"
LABEL: Final = "this machine"
"""Of the machine and of the edge: by it a start finds what an earlier one made and could not keep."""

FleetCall = Callable[..., Awaitable[Any]]
"""One administrators' call by its name and fields. Raises ClankieError when it is refused."""


class AnothersCredential(ClankieError):
    """The file or the token that is there is not one of this machine's own fleet."""


async def set_up(call: FleetCall, broker: Broker, path: Path, origins: Origins) -> None:
    """Make what is missing.

    Args:
        call: asks the fleet of this machine.
        broker: keeps the edge's token.
        path: of the bootstrap file.
        origins: where gateway and fleet are now; a file that says otherwise is corrected.

    Raises:
        ClankieError: with what to do about it.
    """
    try:
        bootstrap = read_bootstrap(path)
    except NoBootstrap as error:
        raise NoBootstrap(
            str(error), next_step="Move the file away: the next `clankie up` makes a new one."
        ) from None
    if bootstrap is None:
        tenant_id = await _make_machine(call, path)
    else:
        await _check_machine(call, path, bootstrap)
        _correct_origins(path, bootstrap, origins)
        tenant_id = bootstrap.tenant_id
    await _make_edge(call, broker, tenant_id)


async def _make_machine(call: FleetCall, path: Path) -> str:
    """A bootstrap file; the tenant it is for."""
    owners = [one for one in await call("account/list") if one["label"] == ACCOUNT_LABEL]
    owner = owners[0] if owners else await call("account/add", label=ACCOUNT_LABEL)
    account_id = owner["accountId"]
    machines = [
        one
        for one in await call("installation/list", accountId=account_id)
        if one["label"] == LABEL and one["state"] != "revoked"
    ]
    if machines:
        # Made by a start that ended before the file was written, or the file was lost.
        made = await call("installation/renew", installationId=machines[0]["installationId"])
    else:
        made = await call("installation/add", accountId=account_id, label=LABEL)
    _write_private(path, msgspec.json.encode(made))
    log.info("machine_added", installation_id=made["installationId"])
    return str(made["tenantId"])


async def _check_machine(call: FleetCall, path: Path, bootstrap: Bootstrap) -> None:
    machines = {one["installationId"]: one["state"] for one in await call("installation/list")}
    state = machines.get(bootstrap.installation_id)
    if state is None:
        raise AnothersCredential(
            f"{path} is of another fleet than the one in {path.parent}",
            next_step="Run `clankie body serve` for that fleet, or move the file away: `clankie up` makes its own.",
        )
    if state == "revoked":
        raise AnothersCredential(
            f"the machine of {path} was revoked, which is for good",
            next_step="Move the file away: the next `clankie up` makes a new machine.",
        )


def _correct_origins(path: Path, bootstrap: Bootstrap, origins: Origins) -> None:
    """Follow ports that were changed since the file was made."""
    corrected = msgspec.structs.replace(
        bootstrap, gateway_origin=origins.gateway, fleet_origin=origins.fleet
    )
    if corrected != bootstrap:
        _write_private(path, write(corrected))
        log.info("bootstrap_corrected", gateway=origins.gateway, fleet=origins.fleet)


async def _make_edge(call: FleetCall, broker: Broker, tenant_id: str) -> None:
    """An edge's token in the broker, and the private server's link to the machine."""
    working = [one for one in await call("edge/list") if one["state"] == "working"]
    kept = broker.get(EDGE_TOKEN_ID, TokenCredential)
    if kept is not None:
        made, edge_id = None, ids.edge_of(kept.token)
        if edge_id not in {one["edgeId"] for one in working}:
            raise AnothersCredential(
                f"the broker's {EDGE_TOKEN_ID} is of no edge that this machine's fleet knows",
                next_step=f"Run `clankie secret delete {EDGE_TOKEN_ID}`: the next `clankie up` makes its own.",
            )
    else:
        ours = [one for one in working if one["label"] == LABEL]
        made = (
            await call("edge/renew", edgeId=ours[0]["edgeId"])
            if ours
            else await call("edge/add", label=LABEL)
        )
        edge_id = made["edgeId"]
    routes = {one["tenantId"] for one in await call("route/list")}
    leads_somewhere = any(
        (one["edgeId"], one["kind"], one["discordId"]) == (edge_id, "server", PRIVATE_SERVER)
        and one["tenantId"] in routes
        for one in await call("link/list")
    )
    if not leads_somewhere:
        link = {"kind": "server", "discordId": PRIVATE_SERVER, "tenantId": tenant_id}
        await call("link/add", edgeId=edge_id, **link)
    if made is not None:
        broker.set(EDGE_TOKEN_ID, TokenCredential(made["token"]))
        log.info("edge_added", edge_id=edge_id)


async def link(
    call: FleetCall, broker: Broker, path: Path, *, servers: Iterable[str], people: Iterable[str]
) -> None:
    """Let these servers' and people's messages take the way to this machine, as far as they take none yet.

    Args:
        path: of the bootstrap file.

    Raises:
        ClankieError: with what to do about it.
    """
    bootstrap, kept = read_bootstrap(path), broker.get(EDGE_TOKEN_ID, TokenCredential)
    if bootstrap is None or kept is None:
        raise RuntimeError("nothing is set up yet")
    edge_id = ids.edge_of(kept.token)
    routes = {one["tenantId"] for one in await call("route/list")}
    linked = {
        (one["kind"], one["discordId"])
        for one in await call("link/list")
        if one["edgeId"] == edge_id and one["tenantId"] in routes
    }
    wanted = [("server", each) for each in servers] + [("user", each) for each in people]
    for kind, discord_id in wanted:
        if (kind, discord_id) not in linked:
            asked = {"kind": kind, "discordId": discord_id, "tenantId": bootstrap.tenant_id}
            await call("link/add", edgeId=edge_id, **asked)
            log.info("linked", kind=kind, discord_id=discord_id)


def _write_private(path: Path, data: bytes) -> None:
    """Write a secret file whole or not at all, for this user alone."""
    try:
        make_private(path.parent)
        write_private(path, data)
    except OSError as error:
        raise ClankieError(
            f"{path} cannot be written: {error.strerror}",
            next_step="Make its folder one this user can write, or set body.bootstrap to another path.",
        ) from None
