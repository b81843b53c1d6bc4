"""What every part of the world stands on: the tables, the store, the ids, and the bell.

A change is stored first, then seen, then dispatched; one that cannot be stored is not there. Owns that order. Must not
know rules.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from clankie.protocol.primitives import RandomBytes, random_bytes
from clankie.runtime.clock import Clock
from clankie.sim.snowflakes import Snowflakes
from clankie.sim.store import Store
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.permissions import Intent
from clankie.sim.world.tables import Record, Tables

ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


class State:
    """The common base of the world's parts. `World` says what the arguments are."""

    def __init__(
        self, clock: Clock, random_bytes: RandomBytes = random_bytes, store: Store | None = None
    ) -> None:
        self.clock = clock
        self.tables = Tables()
        self._random_bytes = random_bytes
        self._store = store or Store.in_memory()
        self._listeners: dict[object, Callable[[Dispatch], None]] = {}
        for record in self._store.load():
            self.tables.put(record)
        self._ids = Snowflakes(clock, self.tables.last_id)

    @property
    def is_empty(self) -> bool:
        """Whether nobody was ever here: a first start."""
        return not self.tables.users

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def subscribe(self, listener: Callable[[Dispatch], None]) -> Callable[[], None]:
        """Hear every dispatch from now on, in order, while the change that it tells of is being made.

        The listener must not raise and must not change the world. Returns what ends it; ending twice does nothing.
        """
        handle = object()
        self._listeners[handle] = listener

        def end() -> None:
            self._listeners.pop(handle, None)

        return end

    def _commit(
        self,
        *put: Record,
        drop: Iterable[Record] = (),
        files: Iterable[tuple[int, bytes]] = (),
        drop_files: Iterable[int] = (),
    ) -> None:
        """Store and then show a change. Raises StoreFailed, with nothing changed."""
        drop = list(drop)
        self._store.write(put, drop, files, drop_files)
        for record in drop:
            self.tables.drop(record)
        for record in put:
            self.tables.put(record)

    def _publish(
        self,
        event: str,
        data: dict[str, Any],
        intent: Intent = Intent.NONE,
        *,
        guild_id: int | None = None,
        channel_id: int | None = None,
        recipients: Iterable[int] | None = None,
        concerns: Iterable[int] = (),
    ) -> None:
        """Tell the listeners. Of a server that is out, nobody hears but those named."""
        if recipients is None and guild_id is not None and self.tables.guilds[guild_id].outage:
            return
        dispatch = Dispatch(
            event,
            data,
            guild_id=guild_id,
            channel_id=channel_id,
            intent=intent,
            recipients=None if recipients is None else frozenset(recipients),
            concerns=frozenset(concerns),
        )
        for listener in list(self._listeners.values()):
            listener(dispatch)

    def _secret(self, length: int) -> str:
        """Random characters, 6 bits each."""
        return "".join(ALPHABET[byte & 63] for byte in self._random_bytes(length))
