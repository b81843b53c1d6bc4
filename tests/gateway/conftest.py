"""Fixtures for gateways."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.clustered import joined
from gateway.gateways import HOST_A, Gateway, RawHost
from nats_server import NatsServer


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway that is alone, with the fleet's key in a file."""
    async with Gateway(tmp_path / "gateway-home") as gateway:
        yield gateway


@pytest.fixture
async def host_a(gateway: Gateway) -> AsyncIterator[RawHost]:
    """A host that is connected."""
    async with await RawHost.dial(gateway.port, HOST_A) as host:
        yield host


@pytest.fixture
async def nats() -> AsyncIterator[NatsServer]:
    async with NatsServer() as server:
        yield server


@pytest.fixture
async def one(nats: NatsServer, tmp_path: Path) -> AsyncIterator[Gateway]:
    async with joined(nats, tmp_path / "one") as gateway:
        yield gateway


@pytest.fixture
async def two(nats: NatsServer, tmp_path: Path) -> AsyncIterator[Gateway]:
    async with joined(nats, tmp_path / "two") as gateway:
        yield gateway
