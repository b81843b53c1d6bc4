"""A message payload, as Discord's gateway or REST gives it, turned into an `InboundMessage`.

MESSAGE_UPDATE is partial: `merged` lays it over the payload there was, and what it does not mention stays.

Owns which field means what. Must not know who may wake the bot, or where the facts go.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from clankie.discord.addressing import Us, addressed_in, answering, pinged_by_reply
from clankie.discord.contents import attachments_in, forwarded_in, is_forward, named_in
from clankie.discord.errors import NotReadable
from clankie.discord.facts import Channel, Surroundings
from clankie.discord.inbound import (
    Author,
    AuthorKind,
    ContentState,
    InboundAttachment,
    InboundMessage,
    Named,
    NamedKind,
    Place,
    Reply,
    ReplyState,
)
from clankie.discord.markup import MentionKind, live_words, parse
from clankie.discord.payload import (
    Payload,
    as_id,
    as_object,
    as_text,
    as_time_ms,
    objects_in,
    one_line,
    required_id,
    required_int,
    required_object,
    required_text,
    snowflake_ms,
)
from clankie.discord.rendering import only_calls, rendered
from clankie.protocol.text import is_blank

MESSAGE_DEFAULT: Final = 0
MESSAGE_REPLY: Final = 19
_PEOPLES: Final = frozenset((MESSAGE_DEFAULT, MESSAGE_REPLY, 20, 23))
"""Message types somebody wrote: a message, a reply, what a slash or a context menu command answered."""


def read_message(payload: Mapping[str, object], around: Surroundings) -> InboundMessage:
    """The facts of one whole message, as the gateway sends it: one that names no server is of a DM.

    Raises:
        NotReadable: it has no id, channel, author, content or type of the kind documented.
    """
    return _Reading(required_object(payload, "message"), around).answering_message()


def read_listed(
    payload: Mapping[str, object], around: Surroundings, *, guild_id: str | None
) -> InboundMessage:
    """The facts of a message as REST lists it: without its server, so that whoever asked for it must say.

    Args:
        guild_id: of the channel that was asked for; None for a DM.

    Raises:
        NotReadable: as `read_message`.
    """
    return read_message({**required_object(payload, "message"), "guild_id": guild_id}, around)


def merged(former: Mapping[str, object], update: Mapping[str, object]) -> Payload:
    """The payload after a MESSAGE_UPDATE: what the update does not mention stays as it was.

    Raises:
        NotReadable: they are not of one message.
    """
    for payload in (former, update):
        required_object(payload, "message")
    if required_id(update.get("id"), "id") != former.get("id"):
        raise NotReadable("id")
    return {**former, **update}


def with_target(message: InboundMessage, target: object, around: Surroundings) -> InboundMessage:
    """The message, once what it answers was asked for: its payload, or None when Discord has none any more.

    A payload that is not that message, or not readable, changes nothing: unknown stays unknown.
    """
    reply = _answered(message.reply, message.place, target, around)
    return answering(message, reply, pinged=message.addressed.reply_pinged)


class _Reading:
    """One payload, what nothing can be read without taken from it already."""

    def __init__(self, payload: Payload, around: Surroundings) -> None:
        self._payload = payload
        self._around = around
        self._id = required_id(payload.get("id"), "id")
        self._type = required_int(payload.get("type"), "type")
        self._content = required_text(payload.get("content"), "content")
        self._author = author_of(
            required_object(payload.get("author"), "author"),
            payload.get("member"),
            webhook=payload.get("webhook_id") is not None,
            system=self._type not in _PEOPLES,
        )
        guild_id = payload.get("guild_id")
        self._place = place_of(
            required_id(payload.get("channel_id"), "channel_id"),
            None if guild_id is None else required_id(guild_id, "guild_id"),
            around,
        )
        self._us = Us.in_guild(self._place.guild_id, around)
        self._markup = parse(self._content)
        mentions = payload.get("mentions")
        self._counted = _users(mentions) if isinstance(mentions, list | tuple) else None

    def message(self) -> InboundMessage:
        """Everything but what the message answers."""
        attachments, named = self._contents()
        return InboundMessage(
            id=self._id,
            author=self._author,
            from_self=self._author.id == self._us.user_id,
            place=self._place,
            sent_at_ms=snowflake_ms(self._id),
            edited_at_ms=as_time_ms(self._payload.get("edited_timestamp"), "edited_timestamp"),
            content=self._content,
            own_words=live_words(self._content, self._markup),
            text=self._text(named),
            named=named,
            content_state=self._content_state(bool(named or attachments)),
            mention_only=not named
            and not attachments
            and only_calls(self._content, self._markup, self._us.meant_by),
            forwarded=is_forward(self._payload),
            starter=self._id == self._place.channel_id,
            mention_everyone=self._payload.get("mention_everyone") is True
            and self._author.kind is AuthorKind.PERSON,
            addressed=addressed_in(self._markup, self._us, self._counted),
            reply=self._reference(),
            attachments=attachments,
        )

    def answering_message(self) -> InboundMessage:
        """Everything."""
        message = self.message()
        reply = message.reply
        if reply.state is ReplyState.UNKNOWN and "referenced_message" in self._payload:
            target = self._payload["referenced_message"]
            reply = _answered(reply, self._place, target, self._around)
        pinged = pinged_by_reply(self._markup, self._us, self._counted)
        return answering(message, reply, pinged=pinged)

    def _reference(self) -> Reply:
        if self._type != MESSAGE_REPLY:
            return Reply(state=ReplyState.NONE)
        reference = as_object(self._payload.get("message_reference"))
        return Reply(
            state=ReplyState.UNKNOWN,
            message_id=as_id(reference.get("message_id")),
            channel_id=as_id(reference.get("channel_id")) or self._place.channel_id,
        )

    def _contents(self) -> tuple[tuple[InboundAttachment, ...], tuple[Named, ...]]:
        attachments = attachments_in(self._payload)
        named = (*self._post_title(), *named_in(self._payload, attachments))
        if not is_forward(self._payload):
            return attachments, named
        carried, files = forwarded_in(self._payload)
        return (*attachments, *files), (*named, *carried)

    def _post_title(self) -> Iterator[Named]:
        """The first message of a forum post has the post's own id; half of what it asks is in the title."""
        name = one_line(self._channel_name(self._place.channel_id))
        if self._id == self._place.channel_id and name:
            yield Named(kind=NamedKind.POST_TITLE, text=f"[title of the post: {name}]")

    def _text(self, named: tuple[Named, ...]) -> str:
        words = rendered(
            self._content, self._markup, name_of=self._name_of, is_bot=self._us.meant_by
        )
        titles = [each.text for each in named if each.kind is NamedKind.POST_TITLE]
        rest = [each.text for each in named if each.kind is not NamedKind.POST_TITLE]
        return "\n".join(each for each in (*titles, words, *rest) if each)

    def _content_state(self, anything_else: bool) -> ContentState:
        if anything_else or not is_blank(self._content):
            return ContentState.PRESENT
        # Without the intent Discord still sends what is said to us: in DMs, by mention, and by ourselves.
        shown = (
            self._around.content_intent
            or self._place.guild_id is None
            or self._us.user_id in {self._author.id, *(self._counted or ())}
        )
        return ContentState.EMPTY if shown else ContentState.WITHHELD

    def _name_of(self, kind: MentionKind, item_id: str) -> str:
        if kind is MentionKind.USER:
            return (self._counted or {}).get(item_id, "")
        if kind is MentionKind.ROLE:
            return one_line(self._around.roles.get(item_id, ""))
        return one_line(self._channel_name(item_id))

    def _channel_name(self, channel_id: str) -> str:
        return self._around.channels.get(channel_id, Channel()).name


def author_of(
    user: Payload, member: object, *, webhook: bool = False, system: bool = False
) -> Author:
    """Who a user object is. Raises NotReadable without an id."""
    author_id = required_id(user.get("id"), "author.id")
    if webhook:
        kind = AuthorKind.WEBHOOK
    elif user.get("bot") is True:
        kind = AuthorKind.BOT
    elif system or user.get("system") is True:
        kind = AuthorKind.SYSTEM
    else:
        kind = AuthorKind.PERSON
    return Author(id=author_id, name=shown_name(user, member), kind=kind)


def place_of(channel_id: str, guild_id: str | None, around: Surroundings) -> Place:
    """The place of a channel, by what is known of it. What is known to be in a server is never taken for a DM."""
    channel = around.channels.get(channel_id, Channel())
    return Place(
        guild_id=guild_id or channel.guild_id,
        channel_id=channel_id,
        parent_id=channel.parent_id if channel.thread else None,
        thread=channel.thread,
    )


def _answered(reply: Reply, place: Place, target: object, around: Surroundings) -> Reply:
    """The reference with its target; as it was when `target` is not that message."""
    if reply.state is ReplyState.NONE:
        return reply
    if target is None:
        return replace(reply, state=ReplyState.DELETED, target=None)
    try:
        # Discord leaves the server out of a message inside another one.
        payload = {"guild_id": place.guild_id, **required_object(target, "referenced_message")}
        message = _Reading(payload, around).message()
    except NotReadable:
        return reply
    if reply.message_id not in {None, message.id}:
        return reply
    return replace(reply, state=ReplyState.PRESENT, message_id=message.id, target=message)


def _users(value: object) -> dict[str, str]:
    """Id → name of a list of users."""
    return {
        user_id: shown_name(user, user.get("member"))
        for user in objects_in(value)
        if (user_id := as_id(user.get("id"))) is not None
    }


def shown_name(user: Payload, member: object) -> str:
    """The name others see in that server: one line, "" for none. It proves nothing."""
    nick = as_text(as_object(member).get("nick"))
    return one_line(nick or as_text(user.get("global_name")) or as_text(user.get("username")))
