"""What there is: people, servers, channels, messages. Values without behaviour.

They are frozen: a change makes a new one, which is stored before anyone sees it. Ids are integers here and decimal
strings in payloads; times are wall-clock milliseconds. Must not know payloads, rules or the store.
"""

import enum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from clankie.sim.world.permissions import Intent, Permissions


class ChannelType(enum.IntEnum):
    """Kinds of channels, by Discord's numbers."""

    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


THREADS = frozenset(
    {ChannelType.ANNOUNCEMENT_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD}
)


class MessageType(enum.IntEnum):
    """Kinds of messages that are made here, by Discord's numbers."""

    DEFAULT = 0
    PIN = 6
    JOIN = 7
    THREAD_CREATED = 18
    REPLY = 19
    SLASH_COMMAND = 20
    THREAD_STARTER = 21
    CONTEXT_MENU = 23


class MessageFlag(enum.IntFlag):
    """Flags of a message that mean something here."""

    NONE = 0
    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    VOICE_MESSAGE = 1 << 13
    HAS_SNAPSHOT = 1 << 14
    COMPONENTS_V2 = 1 << 15


class User(Struct, frozen=True, omit_defaults=True):
    """A person or a bot.

    Attributes:
        avatar: a hash that the CDN knows, or None for a default picture.
        dms_open: whether someone who shares a server may write to them (else 50007).
    """

    id: int
    username: str
    global_name: str | None = None
    avatar: str | None = None
    bot: bool = False
    system: bool = False
    dms_open: bool = True


class Application(Struct, frozen=True, omit_defaults=True):
    """A bot's application. Its token and client secret are secrets: they show in no repr.

    Attributes:
        privileged: which privileged intents it may ask for.
        starts: session starts since the count was last reset.
        starts_reset_at_ms: when the count is next reset; 0 before the first start.
        redirect_uris: where OAuth2 may send people back to.
    """

    id: int
    name: str
    bot_user_id: int
    token: str
    client_secret: str
    owner_id: int
    verify_key: str
    description: str = ""
    privileged: Intent = Intent.NONE
    starts: int = 0
    starts_reset_at_ms: int = 0
    redirect_uris: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Application(id={self.id})"


class Emoji(Struct, frozen=True, omit_defaults=True):
    """A server's own emoji (id), or a character (no id)."""

    name: str
    id: int | None = None
    animated: bool = False


class Guild(Struct, frozen=True, omit_defaults=True):
    """A server. Its roles, members and channels are records of their own: `World.roles` and so on.

    Attributes:
        outage: it is unavailable: nothing of it is dispatched.
    """

    id: int
    name: str
    owner_id: int
    icon: str | None = None
    description: str | None = None
    emojis: tuple[Emoji, ...] = ()
    outage: bool = False
    system_channel_id: int | None = None


class Role(Struct, frozen=True, omit_defaults=True):
    """A role. @everyone has its server's id.

    Attributes:
        bot_id: the bot whose own role it is; such a role is managed.
    """

    id: int
    guild_id: int
    name: str
    permissions: Permissions = Permissions.NONE
    position: int = 0
    color: int = 0
    hoist: bool = False
    mentionable: bool = False
    bot_id: int | None = None


class Member(Struct, frozen=True, omit_defaults=True):
    """A user in a server. `role_ids` does not name @everyone."""

    guild_id: int
    user_id: int
    joined_at_ms: int
    nick: str | None = None
    role_ids: tuple[int, ...] = ()


class OverwriteType(enum.IntEnum):
    """What an overwrite is about."""

    ROLE = 0
    MEMBER = 1


class Overwrite(Struct, frozen=True):
    """What a channel allows or denies a role or a member."""

    id: int
    type: OverwriteType
    allow: Permissions = Permissions.NONE
    deny: Permissions = Permissions.NONE


class ForumTag(Struct, frozen=True, omit_defaults=True):
    """A tag that a forum's posts may carry."""

    id: int
    name: str
    moderated: bool = False


class ThreadState(Struct, frozen=True, omit_defaults=True):
    """What only a thread has.

    Attributes:
        auto_archive_minutes: as shown; nothing is archived by itself.
        changed_at_ms: when `archived` last changed.
        message_count: without the starter message.
    """

    created_at_ms: int
    changed_at_ms: int
    auto_archive_minutes: int = 1_440
    archived: bool = False
    locked: bool = False
    invitable: bool = True
    message_count: int = 0
    total_message_sent: int = 0
    members: tuple["ThreadMember", ...] = ()


class ThreadMember(Struct, frozen=True):
    """Who follows a thread."""

    user_id: int
    joined_at_ms: int


class Channel(Struct, frozen=True, omit_defaults=True):
    """A channel, a thread (`thread` is set), or a direct conversation (`recipients` are both)."""

    id: int
    type: ChannelType
    guild_id: int | None = None
    name: str = ""
    parent_id: int | None = None
    topic: str | None = None
    position: int = 0
    overwrites: tuple[Overwrite, ...] = ()
    nsfw: bool = False
    rate_limit_per_user: int = 0
    owner_id: int | None = None
    recipients: tuple[int, ...] = ()
    last_message_id: int | None = None
    last_pin_at_ms: int | None = None
    thread: ThreadState | None = None
    available_tags: tuple[ForumTag, ...] = ()
    applied_tags: tuple[int, ...] = ()

    @property
    def is_thread(self) -> bool:
        """Whether it hangs under another channel, whose permissions it has."""
        return self.type in THREADS


class Attachment(Struct, frozen=True, omit_defaults=True):
    """A file; its bytes are in the store (`World.attachment_bytes`).

    Attributes:
        size: bytes.
        duration_secs: seconds of sound; with `waveform` (base64) it is a voice message.
    """

    id: int
    channel_id: int
    filename: str
    size: int
    content_type: str | None = None
    description: str | None = None
    width: int | None = None
    height: int | None = None
    duration_secs: float | None = None
    waveform: str | None = None


class Upload(Struct, frozen=True, omit_defaults=True):
    """A file that comes with a message."""

    filename: str
    data: bytes
    content_type: str | None = None
    description: str | None = None
    width: int | None = None
    height: int | None = None
    duration_secs: float | None = None
    waveform: str | None = None


class Sticker(Struct, frozen=True):
    """A sticker in a message. `format_type`: 1 PNG, 2 APNG, 3 Lottie, 4 GIF."""

    id: int
    name: str
    format_type: int = 1


class Reaction(Struct, frozen=True):
    """One emoji under a message, and who put it there, first one first."""

    emoji: Emoji
    user_ids: tuple[int, ...]


class ReferenceKind(enum.IntEnum):
    """What a message refers to another for."""

    REPLY = 0
    FORWARD = 1


class Reference(Struct, frozen=True, omit_defaults=True):
    """The message that a message refers to. It may be gone."""

    channel_id: int
    message_id: int | None = None
    guild_id: int | None = None
    kind: ReferenceKind = ReferenceKind.REPLY


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """What a forwarded message said when it was forwarded. It has no author."""

    created_at_ms: int
    type: MessageType = MessageType.DEFAULT
    content: str = ""
    edited_at_ms: int | None = None
    attachments: tuple[Attachment, ...] = ()
    embeds: tuple[dict[str, Any], ...] = ()
    stickers: tuple[Sticker, ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    mention_ids: tuple[int, ...] = ()
    mention_role_ids: tuple[int, ...] = ()
    flags: MessageFlag = MessageFlag.NONE


class CommandUse(Struct, frozen=True, omit_defaults=True):
    """The interaction that a message answers."""

    interaction_id: int
    type: int
    name: str
    user_id: int
    original_message_id: int | None = None


class Message(Struct, frozen=True, omit_defaults=True):
    """A message.

    Attributes:
        author_id: a user's; a webhook's own id when `webhook_id` is set.
        author_name: what the webhook called itself.
        embeds: as Discord's objects, as are `components` and `poll`.
        mention_ids: who it mentions, after allowed_mentions.
        nonce: as it was sent: a string stays one, a number stays one.
        seen_by: of an ephemeral message, the only one who sees it.
    """

    id: int
    channel_id: int
    author_id: int
    created_at_ms: int
    guild_id: int | None = None
    type: MessageType = MessageType.DEFAULT
    content: str = ""
    edited_at_ms: int | None = None
    reference: Reference | None = None
    snapshots: tuple[Snapshot, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    embeds: tuple[dict[str, Any], ...] = ()
    stickers: tuple[Sticker, ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    poll: dict[str, Any] | None = None
    mention_ids: tuple[int, ...] = ()
    mention_role_ids: tuple[int, ...] = ()
    mention_everyone: bool = False
    flags: MessageFlag = MessageFlag.NONE
    tts: bool = False
    pinned: bool = False
    nonce: str | int | None = None
    reactions: tuple[Reaction, ...] = ()
    webhook_id: int | None = None
    application_id: int | None = None
    author_name: str | None = None
    command: CommandUse | None = None
    thread_id: int | None = None
    seen_by: int | None = None


class AllowedMentions(Struct, frozen=True):
    """Which mentions in a text count (Discord's documentation, "Allowed Mentions Object").

    Attributes:
        parse: of `users`, `roles`, `everyone`.
        replied_user: whether a reply mentions the author that it replies to.
    """

    parse: frozenset[str] = frozenset()
    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    replied_user: bool = False


class MessageDraft(Struct, frozen=True):
    """A message before it is posted.

    Attributes:
        allowed_mentions: None lets everything count, the author of what is replied to included.
        reference: a reply or a forward.
        fail_if_not_exists: whether a reply to a message that is gone is refused (50035) or posted as no reply.
        enforce_nonce: whether the same author's same nonce, within `NONCE_SECONDS`, yields the message already there.
    """

    content: str = ""
    uploads: tuple[Upload, ...] = ()
    embeds: tuple[dict[str, Any], ...] = ()
    stickers: tuple[Sticker, ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    poll: dict[str, Any] | None = None
    reference: Reference | None = None
    fail_if_not_exists: bool = True
    allowed_mentions: AllowedMentions | None = None
    flags: MessageFlag = MessageFlag.NONE
    nonce: str | int | None = None
    enforce_nonce: bool = False
    tts: bool = False


class MessageEdit(Struct, frozen=True):
    """What of a message changes; UNSET stays as it is.

    Attributes:
        keep_attachments: ids of those that stay, in order; the rest go. `uploads` are added to them.
        allowed_mentions: as in a draft. Mentions are counted anew only when `content` is set.
    """

    content: str | UnsetType = UNSET
    embeds: tuple[dict[str, Any], ...] | UnsetType = UNSET
    components: tuple[dict[str, Any], ...] | UnsetType = UNSET
    keep_attachments: tuple[int, ...] | UnsetType = UNSET
    uploads: tuple[Upload, ...] = ()
    flags: MessageFlag | UnsetType = UNSET
    allowed_mentions: AllowedMentions | None = None


class Webhook(Struct, frozen=True, omit_defaults=True):
    """A channel's webhook. Its token is a secret."""

    id: int
    channel_id: int
    guild_id: int
    name: str
    token: str
    creator_id: int
    avatar: str | None = None
    application_id: int | None = None

    def __repr__(self) -> str:
        return f"Webhook(id={self.id})"


class Command(Struct, frozen=True, omit_defaults=True):
    """An application command. `type`: 1 slash, 2 on a user, 3 on a message. `options` as Discord's objects."""

    id: int
    application_id: int
    version: int
    name: str
    description: str = ""
    type: int = 1
    guild_id: int | None = None
    options: tuple[dict[str, Any], ...] = ()
    default_member_permissions: Permissions | None = None
    nsfw: bool = False
    extra: dict[str, Any] = {}


class InteractionState(enum.StrEnum):
    """How far the answer to an interaction came.

    open       nobody answered: within 3 s it may be
    deferred   the answer was promised: the token is good for 15 min
    answered   there is an answer; followups may come until the token expires
    """

    OPEN = "open"
    DEFERRED = "deferred"
    ANSWERED = "answered"


class InteractionType(enum.IntEnum):
    """Kinds of interactions, by Discord's numbers."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Interaction(Struct, frozen=True, omit_defaults=True):
    """Someone used a command, a component or a form. Its token is a secret.

    Attributes:
        data: as Discord's object.
        message_id: of a component, the message that holds it.
        response_id: the answer's message.
        ephemeral: of a deferral, whether the answer is for the user alone.
        modal: the form that was opened as the answer.
        choices: the suggestions that were given as the answer.
    """

    id: int
    token: str
    application_id: int
    type: InteractionType
    channel_id: int
    user_id: int
    created_at_ms: int
    data: dict[str, Any] = {}
    guild_id: int | None = None
    message_id: int | None = None
    state: InteractionState = InteractionState.OPEN
    response_id: int | None = None
    ephemeral: bool = False
    modal: dict[str, Any] | None = None
    choices: tuple[dict[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"Interaction(id={self.id}, state={self.state})"


class SessionStartLimit(Struct, frozen=True):
    """How many gateway sessions an application may still start today."""

    total: int
    remaining: int
    reset_after_ms: int
    max_concurrency: int
