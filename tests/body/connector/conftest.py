"""Fixtures for connectors."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from body.connector.hosts import Hosts, RawGateway
from gateway.gateways import Gateway


@pytest.fixture
async def raw_gateway() -> AsyncIterator[RawGateway]:
    async with RawGateway() as gateway:
        yield gateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with Gateway(tmp_path / "gateway-home") as gateway:
        yield gateway


@pytest.fixture
async def hosts(
    request: pytest.FixtureRequest,
) -> AsyncIterator[Hosts]:
    """Connectors, stopped before the gateways are."""
    for name in ("raw_gateway", "gateway"):
        if name in request.fixturenames:
            request.getfixturevalue(name)
    async with AsyncExitStack() as stack:
        yield Hosts(stack)
