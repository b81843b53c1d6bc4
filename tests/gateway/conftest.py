"""Fixtures for gateways."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.gateways import HOST_A, Gateway, RawHost


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
