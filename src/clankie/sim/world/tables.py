"""Everything there is, by id, in memory, with the few indexes that questions need.

Owns finding. Must not know rules, payloads or how a record is stored: `key` alone says under what.
"""

import bisect
from collections import defaultdict
from typing import Final, NamedTuple, TypeVar

from clankie.sim.errors import (
    UNKNOWN_APPLICATION,
    UNKNOWN_CHANNEL,
    UNKNOWN_GUILD,
    UNKNOWN_MEMBER,
    UNKNOWN_MESSAGE,
    UNKNOWN_ROLE,
    UNKNOWN_USER,
    Unknown,
)
from clankie.sim.world.entities import (
    Application,
    Channel,
    Command,
    Guild,
    Interaction,
    Member,
    Message,
    Role,
    User,
    Webhook,
)

Record = (
    User | Application | Guild | Role | Member | Channel | Message | Webhook | Command | Interaction
)

KINDS: Final[dict[str, type[Record]]] = {
    "user": User,
    "application": Application,
    "guild": Guild,
    "role": Role,
    "member": Member,
    "channel": Channel,
    "message": Message,
    "webhook": Webhook,
    "command": Command,
    "interaction": Interaction,
}
"""What is stored, by the name it is stored under."""
T = TypeVar("T")
_NAMES: Final = {kind: name for name, kind in KINDS.items()}


class Key(NamedTuple):
    """What a record is stored under. `group` is the server or channel it lies in, 0 for none."""

    kind: str
    group: int
    id: int


def key(record: Record) -> Key:
    """The key of a record: it never changes."""
    if isinstance(record, Message):
        return Key("message", record.channel_id, record.id)
    if isinstance(record, Member):
        return Key("member", record.guild_id, record.user_id)
    if isinstance(record, Role):
        return Key("role", record.guild_id, record.id)
    return Key(_NAMES[type(record)], 0, record.id)


class MessageLog:
    """A channel's messages, oldest first.

    Attributes:
        ephemeral: ids of those that one user alone sees.
    """

    __slots__ = ("by_id", "ephemeral", "ids")

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.by_id: dict[int, Message] = {}
        self.ephemeral: set[int] = set()

    def put(self, message: Message) -> None:
        if message.id not in self.by_id:
            bisect.insort(self.ids, message.id)
        self.by_id[message.id] = message
        if message.seen_by is not None:
            self.ephemeral.add(message.id)

    def drop(self, message_id: int) -> None:
        self.ephemeral.discard(message_id)
        del self.by_id[message_id]
        del self.ids[bisect.bisect_left(self.ids, message_id)]


class Tables:
    """All records. `put` and `drop` are the store's to call; everyone else only reads.

    Attributes:
        origin: where this Discord is reached, as `http://127.0.0.1:8796`: links to files start with it.
    """

    def __init__(self) -> None:
        self.origin = "http://127.0.0.1"
        self.users: dict[int, User] = {}
        self.user_by_name: dict[str, int] = {}
        self.applications: dict[int, Application] = {}
        self.guilds: dict[int, Guild] = {}
        self.roles: defaultdict[int, dict[int, Role]] = defaultdict(dict)
        self.members: defaultdict[int, dict[int, Member]] = defaultdict(dict)
        self.channels: dict[int, Channel] = {}
        self.messages: defaultdict[int, MessageLog] = defaultdict(MessageLog)
        self.webhooks: dict[int, Webhook] = {}
        self.commands: dict[int, Command] = {}
        self.interactions: dict[int, Interaction] = {}
        self.channels_of_guild: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self.threads_of_channel: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self.dms: dict[frozenset[int], int] = {}
        self.guilds_of_user: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self.application_by_token: dict[str, int] = {}
        self.application_by_bot: dict[int, int] = {}
        self.interaction_by_token: dict[str, int] = {}
        self.last_id = 0

    def put(self, record: Record) -> None:
        """Let a record be seen, in place of the one under its key."""
        match record:
            case Message():
                self.messages[record.channel_id].put(record)
            case Member():
                self.members[record.guild_id][record.user_id] = record
                self.guilds_of_user[record.user_id][record.guild_id] = None
            case Role():
                self.roles[record.guild_id][record.id] = record
            case Channel():
                self._put_channel(record)
            case Application():
                self._put_application(record)
            case Interaction():
                self.interactions[record.id] = record
                self.interaction_by_token[record.token] = record.id
            case User() | Guild() | Webhook() | Command():
                self._put_plain(record)
        self.last_id = max(self.last_id, key(record).id)

    def drop(self, record: Record) -> None:
        """Let a record be seen no more."""
        match record:
            case Message():
                self.messages[record.channel_id].drop(record.id)
            case Member():
                del self.members[record.guild_id][record.user_id]
                del self.guilds_of_user[record.user_id][record.guild_id]
            case Role():
                del self.roles[record.guild_id][record.id]
            case Channel():
                self._drop_channel(record)
            case Webhook():
                del self.webhooks[record.id]
            case Command():
                del self.commands[record.id]
            case Interaction():
                del self.interactions[record.id]
                del self.interaction_by_token[record.token]
            case User() | Application() | Guild():
                raise TypeError(f"a {type(record).__name__} stays")

    def _put_plain(self, record: User | Guild | Webhook | Command) -> None:
        match record:
            case User():
                before = self.users.get(record.id)
                if before is not None:
                    del self.user_by_name[before.username]
                self.users[record.id] = record
                self.user_by_name[record.username] = record.id
            case Guild():
                self.guilds[record.id] = record
            case Webhook():
                self.webhooks[record.id] = record
            case Command():
                self.commands[record.id] = record

    def _put_channel(self, channel: Channel) -> None:
        self.channels[channel.id] = channel
        if channel.guild_id is None:
            self.dms[frozenset(channel.recipients)] = channel.id
        elif channel.is_thread and channel.parent_id is not None:
            self.threads_of_channel[channel.parent_id][channel.id] = None
        else:
            self.channels_of_guild[channel.guild_id][channel.id] = None

    def _drop_channel(self, channel: Channel) -> None:
        del self.channels[channel.id]
        self.messages.pop(channel.id, None)
        if channel.is_thread and channel.parent_id is not None:
            del self.threads_of_channel[channel.parent_id][channel.id]
        elif channel.guild_id is not None:
            del self.channels_of_guild[channel.guild_id][channel.id]

    def _put_application(self, application: Application) -> None:
        before = self.applications.get(application.id)
        if before is not None:
            self.application_by_token.pop(before.token, None)
        self.applications[application.id] = application
        self.application_by_token[application.token] = application.id
        self.application_by_bot[application.bot_user_id] = application.id

    def user(self, user_id: int) -> User:
        """Raises Unknown (10013)."""
        return _found(self.users.get(user_id), UNKNOWN_USER)

    def application(self, application_id: int) -> Application:
        """Raises Unknown (10002)."""
        return _found(self.applications.get(application_id), UNKNOWN_APPLICATION)

    def guild(self, guild_id: int) -> Guild:
        """Raises Unknown (10004)."""
        return _found(self.guilds.get(guild_id), UNKNOWN_GUILD)

    def member(self, guild_id: int, user_id: int) -> Member:
        """Raises Unknown (10004, 10007)."""
        self.guild(guild_id)
        return _found(self.members[guild_id].get(user_id), UNKNOWN_MEMBER)

    def role(self, guild_id: int, role_id: int) -> Role:
        """Raises Unknown (10004, 10011)."""
        self.guild(guild_id)
        return _found(self.roles[guild_id].get(role_id), UNKNOWN_ROLE)

    def channel(self, channel_id: int) -> Channel:
        """Raises Unknown (10003)."""
        return _found(self.channels.get(channel_id), UNKNOWN_CHANNEL)

    def message(self, channel_id: int, message_id: int) -> Message:
        """Raises Unknown (10008)."""
        found = self.peek(channel_id, message_id)
        return _found(found, UNKNOWN_MESSAGE)

    def peek(self, channel_id: int, message_id: int) -> Message | None:
        """A message, or None."""
        log = self.messages.get(channel_id)
        return None if log is None else log.by_id.get(message_id)

    def threads(self, guild_id: int) -> list[Channel]:
        """A server's threads, archived ones too."""
        return [
            self.channels[thread]
            for channel in self.channels_of_guild[guild_id]
            for thread in self.threads_of_channel.get(channel, ())
        ]


def _found(record: T | None, code: int) -> T:
    if record is None:
        raise Unknown(code)
    return record
