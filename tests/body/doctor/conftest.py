"""A home to examine, and the doctor at it."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from body.doctor.support import Report, snapshot
from clankie.body.doctor.examination import examine
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.config import load_config


class Doctor(Protocol):
    """Examines the home; nothing in it may have changed afterwards."""

    async def __call__(
        self,
        *,
        clock: Clock | None = None,
        synchronised: bool | None = True,
        changes_nothing: bool = True,
        **settings: str,
    ) -> Report: ...


@pytest.fixture
def doctor(home: Path, unused_port: int) -> Doctor:
    async def doctor(
        *,
        clock: Clock | None = None,
        synchronised: bool | None = True,
        changes_nothing: bool = True,
        **settings: str,
    ) -> Report:
        config = load_config({"CLANKIE_BODY_PORT": str(unused_port)} | settings, home).config
        before = snapshot(home)
        kernel: Callable[[], bool | None] = lambda: synchronised  # noqa: E731
        findings = await asyncio.to_thread(
            examine,
            config,
            FileBroker(config.broker_path),
            clock=clock or SystemClock(),
            synchronised=kernel,
        )
        if changes_nothing:
            assert snapshot(home) == before
        return Report(findings)

    return doctor


@pytest.fixture
def unused_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
