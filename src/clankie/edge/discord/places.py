"""What is known of servers, channels, threads and roles: as little as reading a message needs, in memory.

    told                              then
    READY                             servers that it does not name any more were left while we were away
    GUILD_CREATE                      the server as it is now: joined, or back from an outage
    GUILD_DELETE, `unavailable`       out: it stays ours, nothing is heard of it
    GUILD_DELETE                      left: forgotten, with its channels and roles
    CHANNEL_*, THREAD_*, ROLE_*       one of them changed

Owns that memory. discord.py's own stays empty: a thousand servers with ten thousand channels are some megabytes here.
Must not know routes, or what a message is.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from sys import intern
from typing import Any, Final

from msgspec.structs import replace

from clankie.discord.facts import Channel, Fact, Surroundings
from clankie.discord.payload import as_id, as_int, as_object, as_text

_THREADS: Final = frozenset((10, 11, 12))


class Standing(StrEnum):
    """What we are in a server."""

    HERE = "here"
    OUT = "out"
    """An outage: Discord tells nothing of it for now."""
    LEFT = "left"


class ServerChange(Fact, frozen=True, kw_only=True):
    """A server came, went out, or was left.

    Attributes:
        newest: of one that is here, its channels' last messages by channel id, as far as there is one.
    """

    guild_id: str
    standing: Standing
    newest: Mapping[str, str] = {}


class _Server:
    __slots__ = ("channels", "name", "roles", "standing")

    def __init__(self) -> None:
        self.name = ""
        self.standing = Standing.OUT
        self.channels: set[str] = set()
        self.roles: set[str] = set()


class Places:
    """The memory. Events are told to it in order.

    Attributes:
        around: what `clankie.discord` reads messages with; its tables are live.
    """

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}
        self._channels: dict[str, Channel] = {}
        self._roles: dict[str, str] = {}
        self._managed: dict[str, str] = {}
        self.around = self._around("0", content_intent=True)
        self._quiet: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "CHANNEL_CREATE": self.learn,
            "CHANNEL_UPDATE": self.learn,
            "THREAD_CREATE": self.learn,
            "THREAD_UPDATE": self.learn,
            "THREAD_LIST_SYNC": self._learn_threads,
            "CHANNEL_DELETE": self._forget_channel,
            "THREAD_DELETE": self._forget_channel,
            "GUILD_UPDATE": self._renamed,
            "GUILD_ROLE_CREATE": self._learn_role_of,
            "GUILD_ROLE_UPDATE": self._learn_role_of,
            "GUILD_ROLE_DELETE": self._forget_role,
        }

    def identified(self, bot_user_id: str, *, content_intent: bool) -> None:
        """Who we are, once Discord said so."""
        self.around = self._around(bot_user_id, content_intent=content_intent)

    def standing(self, guild_id: str) -> Standing:
        """What we are in a server; one that was never told of is one we are not in."""
        server = self._servers.get(guild_id)
        return Standing.LEFT if server is None else server.standing

    def server_ids(self) -> list[str]:
        """Servers we are in, also those that are out."""
        return list(self._servers)

    def knows(self, channel_id: str) -> bool:
        """Whether a channel was told of."""
        return channel_id in self._channels

    def counts(self) -> tuple[int, int]:
        """Servers and channels."""
        return len(self._servers), len(self._channels)

    def ready(self, guild_ids: Iterable[str], ours: Iterable[str]) -> list[ServerChange]:
        """A new session: which servers there are, of those (`ours`) that its shard tells of."""
        named = set(guild_ids)
        for guild_id in named:
            self._servers.setdefault(intern(guild_id), _Server()).standing = Standing.OUT
        return [self._left(each) for each in list(ours) if each not in named]

    def told(self, name: str, data: Mapping[str, Any]) -> ServerChange | None:
        """One event; what it changed of a server as a whole. What is no event of places changes nothing."""
        if name == "GUILD_CREATE":
            return self._came(data)
        if name == "GUILD_DELETE":
            return self._gone(data)
        tell = self._quiet.get(name)
        if tell is not None:
            tell(data)
        return None

    def learn(self, channel: Mapping[str, Any]) -> None:
        """A channel or thread object, from an event or from REST."""
        channel_id, guild_id = as_id(channel.get("id")), as_id(channel.get("guild_id"))
        server = self._servers.get(guild_id or "")
        if channel_id is None or guild_id is None or server is None:
            return
        thread = as_int(channel.get("type")) in _THREADS
        parent_id = as_id(channel.get("parent_id")) if thread else None
        server.channels.add(channel_id)
        self._channels[channel_id] = Channel(
            name=as_text(channel.get("name")),
            guild_id=intern(guild_id),
            parent_id=None if parent_id is None else intern(parent_id),
            thread=thread,
        )

    def _came(self, data: Mapping[str, Any]) -> ServerChange | None:
        guild_id = as_id(data.get("id"))
        if guild_id is None:
            return None
        if data.get("unavailable") is True:
            return self._out(guild_id)
        self._forget(guild_id)
        guild_id = intern(guild_id)
        server = self._servers[guild_id] = _Server()
        server.name, server.standing = as_text(data.get("name")), Standing.HERE
        newest: dict[str, str] = {}
        # Not `objects_in`: a server may have 500 channels and more threads, and this is Discord's own list.
        for each in (*_objects(data.get("channels")), *_objects(data.get("threads"))):
            self.learn({**each, "guild_id": guild_id})
            channel_id, last = as_id(each.get("id")), as_id(each.get("last_message_id"))
            if channel_id is not None and last is not None:
                newest[channel_id] = last
        for role in _objects(data.get("roles")):
            self._learn_role(guild_id, role)
        return ServerChange(guild_id=guild_id, standing=Standing.HERE, newest=newest)

    def _gone(self, data: Mapping[str, Any]) -> ServerChange | None:
        guild_id = as_id(data.get("id"))
        if guild_id is None:
            return None
        return self._out(guild_id) if data.get("unavailable") is True else self._left(guild_id)

    def _out(self, guild_id: str) -> ServerChange:
        self._servers.setdefault(intern(guild_id), _Server()).standing = Standing.OUT
        return ServerChange(guild_id=guild_id, standing=Standing.OUT)

    def _left(self, guild_id: str) -> ServerChange:
        self._forget(guild_id)
        return ServerChange(guild_id=guild_id, standing=Standing.LEFT)

    def _forget(self, guild_id: str) -> None:
        server = self._servers.pop(guild_id, None)
        if server is None:
            return
        for channel_id in server.channels:
            self._channels.pop(channel_id, None)
        for role_id in server.roles:
            self._roles.pop(role_id, None)
        self._managed.pop(guild_id, None)

    def _forget_channel(self, data: Mapping[str, Any]) -> None:
        channel_id = as_id(data.get("id")) or ""
        known = self._channels.pop(channel_id, None)
        server = self._servers.get((known.guild_id if known else None) or "")
        if server is not None:
            server.channels.discard(channel_id)

    def _learn_threads(self, data: Mapping[str, Any]) -> None:
        for each in _objects(data.get("threads")):
            self.learn({**each, "guild_id": data.get("guild_id")})

    def _renamed(self, data: Mapping[str, Any]) -> None:
        server = self._servers.get(as_id(data.get("id")) or "")
        if server is not None:
            server.name = as_text(data.get("name"))

    def _learn_role_of(self, data: Mapping[str, Any]) -> None:
        self._learn_role(as_id(data.get("guild_id")), as_object(data.get("role")))

    def _learn_role(self, guild_id: str | None, role: Mapping[str, Any]) -> None:
        role_id = as_id(role.get("id"))
        server = self._servers.get(guild_id or "")
        if guild_id is None or role_id is None or server is None:
            return
        server.roles.add(role_id)
        self._roles[role_id] = as_text(role.get("name"))
        if as_id(as_object(role.get("tags")).get("bot_id")) == self.around.bot_user_id:
            self._managed[intern(guild_id)] = role_id

    def _forget_role(self, data: Mapping[str, Any]) -> None:
        guild_id, role_id = as_id(data.get("guild_id")), as_id(data.get("role_id"))
        server = self._servers.get(guild_id or "")
        if guild_id is None or role_id is None or server is None:
            return
        server.roles.discard(role_id)
        self._roles.pop(role_id, None)
        if self._managed.get(guild_id) == role_id:
            del self._managed[guild_id]

    def _around(self, bot_user_id: str, *, content_intent: bool) -> Surroundings:
        return replace(
            Surroundings(bot_user_id=bot_user_id, content_intent=content_intent),
            managed_roles=self._managed,
            channels=self._channels,
            roles=self._roles,
        )


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
