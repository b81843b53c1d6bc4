"""A whole body behind the gateway: what is sealed for it gets there, and both ways to its ingress answer alike."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from body.connector.hosts import Hosts
from body.http_client import once
from body.machine import Machine, event
from clankie.body.connector.contracts import ConnectorState
from clankie.body.ingress.answers import MAX_BODY_BYTES, InProcessIngress
from clankie.body.ingress.service import IngressService
from clankie.protocol import DISCORD_INGRESS_PATH, Pending, Reply
from conftest import ManualClock
from gateway.gateways import HOST_A, Gateway
from protocol.vectors import NOW_MS


@pytest.fixture
async def machine(home: Any) -> AsyncIterator[Machine]:
    machine = Machine(home, ManualClock(NOW_MS))
    await machine.start()
    yield machine
    await machine.stop()


@pytest.fixture
async def behind(gateway: Gateway, hosts: Hosts, machine: Machine) -> Gateway:
    """The gateway, with the machine's ingress behind it."""
    route: Any = machine.body._server._server.config.loaded_app  # type: ignore[union-attr]
    service: IngressService = route._service
    connector = hosts.start(gateway.origin, InProcessIngress(service))
    await connector.wait_for(ConnectorState.CONNECTED)
    return gateway


@pytest.mark.seed("S3", "S22")
async def test_a_sealed_event_is_answered_through_the_gateway_and_run_once(
    behind: Gateway, machine: Machine
) -> None:
    what = event()
    sent = machine.envelope(what)
    held = await behind.ask(HOST_A, sent.body, "prefer: wait=25")
    assert isinstance(sent.result(held), Reply)
    assert held.headers == {
        "content-type": "application/json",
        "cache-control": "no-store",
        "preference-applied": "wait=25",
        "content-length": held.headers["content-length"],
    }
    again = machine.envelope(what)
    assert again.result(await behind.ask(HOST_A, again.body)) == sent.result(held)
    assert machine.starts() == [what.delivery_id]


async def test_a_client_that_hangs_up_does_not_end_the_turn(
    behind: Gateway, machine: Machine
) -> None:
    what = event(content="sleep 0.2")
    first = machine.envelope(what)
    assert isinstance(first.result(await behind.ask(HOST_A, first.body)), Pending | Reply)
    second = machine.envelope(what)
    assert isinstance(
        second.result(await behind.ask(HOST_A, second.body, "prefer: wait=25")), Reply
    )
    assert machine.starts() == [what.delivery_id]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"x" * MAX_BODY_BYTES, b"x" * (MAX_BODY_BYTES + 1)],
    ids=["nothing", "no envelope", "the most", "too much"],
)  # fmt: skip
async def test_both_ways_refuse_alike(behind: Gateway, machine: Machine, body: bytes) -> None:
    through = await behind.ask(HOST_A, body, "authorization: Bearer anything")
    beside = await once(machine.port, "POST", DISCORD_INGRESS_PATH, body)
    beside.headers.pop("connection", None)  # the connection's own
    assert through == beside
