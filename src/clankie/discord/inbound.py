"""A message as plain facts: who, where, when, what it says, whom it addresses, what it answers.

Owns the shapes. Must not know payloads, policies, or the contract's event.
"""

from enum import StrEnum

from clankie.discord.facts import Fact


class AuthorKind(StrEnum):
    """Who wrote it. Only `PERSON` ever wakes."""

    PERSON = "person"
    BOT = "bot"
    WEBHOOK = "webhook"
    SYSTEM = "system"
    """Discord itself: joins, pins, threads made, and its own account."""


class Entry(StrEnum):
    """How it came in."""

    MESSAGE = "message"
    SLASH = "slash"


class ContentState(StrEnum):
    """Whether there is something to read."""

    PRESENT = "present"
    EMPTY = "empty"
    """Nobody said anything: no text, nothing that can be named, no file."""
    WITHHELD = "withheld"
    """It looks empty because we are not sent content: the Message Content intent is off."""


class NamedKind(StrEnum):
    """What a message may hold beside its author's own words."""

    STICKER = "sticker"
    POLL = "poll"
    VOICE = "voice"
    EMBED = "embed"
    FORWARD = "forward"
    """Someone else's words, of whom Discord does not tell us the name."""
    POST_TITLE = "post_title"


class ReplyState(StrEnum):
    """What is known of the message that this one answers."""

    NONE = "none"
    UNKNOWN = "unknown"
    """Discord did not send it, or only its id: it may be fetched once, and the turn goes on without."""
    DELETED = "deleted"
    PRESENT = "present"


class Author(Fact, frozen=True, kw_only=True):
    """Who wrote it. `name` is the one shown in that server, untrusted, and grants nothing."""

    id: str
    name: str
    kind: AuthorKind


class Place(Fact, frozen=True, kw_only=True):
    """Where. `guild_id` is None in a DM; `parent_id` is a thread's channel or forum."""

    guild_id: str | None
    channel_id: str
    parent_id: str | None
    thread: bool


class Named(Fact, frozen=True, kw_only=True):
    """One thing beside the author's words, with the text that stands for it."""

    kind: NamedKind
    text: str


class InboundAttachment(Fact, frozen=True, kw_only=True):
    """One file as declared, nothing of it fetched. `size` is in bytes; `media_type` lower case, "" if undeclared."""

    id: str
    url: str
    filename: str
    media_type: str
    size: int
    voice: bool


class Addressed(Fact, frozen=True, kw_only=True):
    """Whom the author's own, unquoted, live words address, and by what. No policy is in it.

    Attributes:
        user: an @mention of the bot that Discord counts too: a suppressed one is none.
        role: a mention of the bot's own managed role.
        reply: it answers a message of the bot; None while that is not known.
        reply_pinged: it does, with the ping left on.
        inert: the bot is mentioned only in code, quotes, links or escaped.
        others: a live mention of somebody else, or an answer to somebody else.
    """

    user: bool = False
    role: bool = False
    reply: bool | None = False
    reply_pinged: bool = False
    inert: bool = False
    others: bool = False


class Reply(Fact, frozen=True, kw_only=True):
    """The message this one answers. `target` is there exactly when `state` is PRESENT."""

    state: ReplyState
    message_id: str | None = None
    channel_id: str | None = None
    target: "InboundMessage | None" = None


class InboundMessage(Fact, frozen=True, kw_only=True):
    """What one message, or one slash command, says.

    Attributes:
        id: the message's; of a slash command, the interaction's.
        sent_at_ms: milliseconds since 1970, from the id.
        edited_at_ms: of the last edit, or None.
        content: the author's words as sent.
        own_words: `content` without what is inert and without mentions: what names are looked for in.
        text: what a model should see: the words without the leading mention of the bot, other mentions as name
            and id, then what else is in the message, named as what it is.
        mention_only: there is nothing in it but mentions of the bot.
        forwarded: the text is somebody else's, of unknown authorship.
        starter: it opens its thread or forum post.
        mention_everyone: Discord counted an @everyone or @here; false for anything but a person's.
    """

    entry: Entry = Entry.MESSAGE
    id: str
    author: Author
    from_self: bool
    place: Place
    sent_at_ms: int
    edited_at_ms: int | None
    content: str
    own_words: str
    text: str
    named: tuple[Named, ...]
    content_state: ContentState
    mention_only: bool
    forwarded: bool
    starter: bool
    mention_everyone: bool
    addressed: Addressed
    reply: Reply
    attachments: tuple[InboundAttachment, ...]
