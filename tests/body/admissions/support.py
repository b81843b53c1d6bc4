"""What the tests of the admission store share: deliveries, an outsider's view, and a wire that can fail."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from clankie.body.admissions.contracts import Admission, DeliveryKey
from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.store import AdmissionStore
from conftest import ManualClock
from postgres import PostgresServer

TENANT = "tn_" + "a" * 20
INSTALLATION = "i" * 22
DIGEST = "d" * 43
OTHER_DIGEST = "e" * 43
STORE_KEY = bytes(range(32))
FINGERPRINT = "keys-of-this-body"
REPLY = b'{"state":"reply","text":"MARKER-of-an-answer"}'


def delivery(number: int | str = 1) -> DeliveryKey:
    return DeliveryKey(TENANT, INSTALLATION, f"discord:{number}")


def rejected(answers: list[Any]) -> list[BaseException]:
    return [answer for answer in answers if isinstance(answer, BaseException)]


class Place(Protocol):
    """Where a store is, and what an outsider sees there."""

    url: str

    def sql(self, statement: str) -> str:
        """Run a statement beside the store; rows as lines, columns separated by `|`."""
        ...


class SqlitePlace:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    def sql(self, statement: str) -> str:
        connection = sqlite3.connect(self.path, timeout=5, isolation_level=None)
        try:
            rows = connection.execute(statement).fetchall()
        finally:
            connection.close()
        return "\n".join("|".join("" if v is None else str(v) for v in row) for row in rows)


class PostgresPlace:
    def __init__(self, server: PostgresServer, name: str) -> None:
        self.server = server
        self.name = name
        self.url = server.create_schema(name)

    def sql(self, statement: str) -> str:
        return self.server.sql(self.name, statement)


class Opener:
    """Opens stores and closes each of them when the test is over."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self._stores: list[AdmissionStore] = []

    async def __call__(self, place: Place | str, **settings: Any) -> AdmissionStore:
        settings = {
            "store_key": STORE_KEY,
            "fingerprint": FINGERPRINT,
            "clock": self.clock,
            **settings,
        }
        url = place if isinstance(place, str) else place.url
        store = await AdmissionStore.open(url, **settings)
        self._stores.append(store)
        return store

    async def admit(
        self,
        store: AdmissionStore,
        number: int | str = 1,
        *,
        digest: str = DIGEST,
        life_ms: int = 300_000,
    ) -> Admission:
        return await store.admit(
            delivery(number), event_digest=digest, expires_at_ms=self.clock.now_ms() + life_ms
        )

    async def close_all(self) -> None:
        for store in self._stores:
            await store.close()


class FakeTurns:
    """Who runs the turns, as far as the store asks."""

    def __init__(self) -> None:
        self.running: set[DeliveryKey] = set()
        self.lost = asyncio.Event()

    def is_running(self, key: DeliveryKey) -> bool:
        return key in self.running

    def lease_lost(self) -> None:
        self.lost.set()


class Wire:
    """A TCP connection to PostgreSQL that can be held up, or cut between COMMIT and its answer."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.cut_after_commit = False
        self.commits_cut = 0

    @property
    def port(self) -> int:
        if self._server is None:
            raise RuntimeError("not started")
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def hold(self) -> None:
        """Nothing gets through from now on; connections stay."""
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        to_server: asyncio.StreamWriter | None = None
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target_port)
            committed = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._up(reader, to_server, committed))
                group.create_task(self._down(from_server, writer, committed))
        except* (OSError, EOFError):
            pass
        finally:
            for end in (writer, to_server):
                if end is not None:
                    end.close()

    async def _up(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, committed: asyncio.Event
    ) -> None:
        while data := await reader.read(65_536):
            await self._open.wait()
            if self.cut_after_commit and b"COMMIT" in data:
                committed.set()
            writer.write(data)
        raise EOFError

    async def _down(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, committed: asyncio.Event
    ) -> None:
        while data := await reader.read(65_536):
            await self._open.wait()
            if committed.is_set():
                # The server has answered, so it has committed; the answer never arrives.
                self.commits_cut += 1
                raise EOFError
            writer.write(data)
        raise EOFError


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 10) -> None:
    """Ask again and again until it holds."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110  what is waited for happens in another process
            await asyncio.sleep(0.01)


async def until_admitting(opener: Opener, store: AdmissionStore, prefix: str) -> Admission:
    """Ask with fresh ids until the store admits one: it recovered by itself."""
    async with asyncio.timeout(15):
        for number in range(10_000):
            try:
                return await opener.admit(store, f"{prefix}{number}")
            except StoreUnavailable:
                await asyncio.sleep(0.02)
    raise RuntimeError("unreachable")
