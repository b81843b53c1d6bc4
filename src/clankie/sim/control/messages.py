"""Messages as a person reads, writes and changes them. Owns these routes; the world owns the rules."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Final

import msgspec
from litestar import Request, delete, get, patch, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from clankie.sim import payloads
from clankie.sim.control.contracts import Acting, EditedMessage, MadeThing, NewMessage
from clankie.sim.control.hops import HopSource, Way, delivery_id, seen_by_discord
from clankie.sim.control.ids import to_id
from clankie.sim.control.refusals import NotSaid
from clankie.sim.control.snapshot import person_of
from clankie.sim.rest.pictures import size_of
from clankie.sim.rest.stickers import sticker
from clankie.sim.rest.types import type_of
from clankie.sim.world.entities import (
    AllowedMentions,
    Channel,
    Emoji,
    Message,
    MessageDraft,
    MessageEdit,
    Reference,
    ReferenceKind,
    Upload,
)
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.world import World

MAX_PAGE: Final = 100
"""Messages in one answer, as Discord's own."""
CHANNEL: Final = "/channels/{channel_id:str}"
MESSAGE: Final = CHANNEL + "/messages/{message_id:str}"
As = Annotated[str, QueryParameter(name="as", description="Who asks.")]
AsyncBytes = AsyncIterator[bytes]

_READ: Final = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY
_ALL: Final = frozenset({"users", "roles", "everyone"})


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """Messages of a channel, oldest first, and whether there are others on either side."""

    messages: list[dict[str, Any]]
    has_older: bool
    has_newer: bool


def message_routes(world: World, source: HopSource) -> list[Any]:
    """The handlers."""
    return [*_reading(world, source), *_writing(world), *_marking(world)]


def _reading(world: World, source: HopSource) -> list[Any]:
    def readable(channel_id: str, person: str) -> tuple[Channel, int]:
        user = person_of(world, to_id(person))
        return world.require(user.id, to_id(channel_id), _READ), user.id

    @get(CHANNEL + "/messages", summary="A page of a channel's messages", sync_to_thread=False)
    def list_messages(
        channel_id: FromPath[str],
        person: As,
        before: FromQuery[str | None] = None,
        after: FromQuery[str | None] = None,
        around: FromQuery[str | None] = None,
        limit: Annotated[int, QueryParameter(ge=1, le=MAX_PAGE)] = 50,
    ) -> Page:
        channel, viewer = readable(channel_id, person)
        asked = {
            name: to_id(text)
            for name, text in (("before", before), ("after", after), ("around", around))
            if text is not None
        }
        if len(asked) > 1:
            raise NotSaid("Only one of before, after and around.", "Leave the others out.")
        found = world.history(channel.id, limit=limit, viewer_id=viewer, **asked)
        return _page(world, channel, found[::-1], viewer)

    @get(CHANNEL + "/pins", summary="Pinned messages", sync_to_thread=False)
    def list_pins(channel_id: FromPath[str], person: As) -> Page:
        channel, viewer = readable(channel_id, person)
        shown = [payloads.message(world.tables, each, viewer) for each in world.pins(channel.id)]
        return Page(shown, has_older=False, has_newer=False)

    @get(MESSAGE + "/hops", summary="The way of a message through the roles that run here")
    async def hops(channel_id: FromPath[str], message_id: FromPath[str], person: As) -> Way:
        channel, _ = readable(channel_id, person)
        message = world.message(channel.id, to_id(message_id))
        told = await source.hops(delivery_id(message))
        own = seen_by_discord(world, message)
        return Way(sorted([*own, *told.hops], key=lambda hop: hop.at_ms), told.notes)

    return [list_messages, list_pins, hops]


def _writing(world: World) -> list[Any]:
    @post(CHANNEL + "/messages", summary="Post a message", sync_to_thread=False)
    def post_message(channel_id: FromPath[str], data: JSONBody[NewMessage]) -> dict[str, Any]:
        return _post(world, channel_id, data, ())

    @post(CHANNEL + "/uploads", summary="Post a message with files (multipart: message, files)")
    async def post_uploads(
        channel_id: FromPath[str], request: Request[Any, Any, Any]
    ) -> dict[str, Any]:
        form = await request.form()
        try:
            draft = msgspec.json.decode(str(form.get("message") or "{}"), type=NewMessage)
        except msgspec.MsgspecError:
            raise NotSaid(
                "The part `message` is not a message.",
                "Send it as JSON, as POST …/messages takes it.",
            ) from None
        uploads = [await _upload(each) for each in form.getall("files", [])]
        return _post(world, channel_id, draft, uploads)

    @patch(MESSAGE, summary="Edit one's message", sync_to_thread=False)
    def edit_message(
        channel_id: FromPath[str], message_id: FromPath[str], data: JSONBody[EditedMessage]
    ) -> dict[str, Any]:
        actor = person_of(world, to_id(data.as_))
        edit = MessageEdit(content=data.content)
        changed = world.edit_message(actor.id, to_id(channel_id), to_id(message_id), edit)
        return payloads.message(world.tables, changed, actor.id)

    @delete(MESSAGE, summary="Delete a message", sync_to_thread=False)
    def delete_message(channel_id: FromPath[str], message_id: FromPath[str], person: As) -> None:
        actor = person_of(world, to_id(person))
        world.delete_message(actor.id, to_id(channel_id), to_id(message_id))

    return [post_message, post_uploads, edit_message, delete_message]


def _marking(world: World) -> list[Any]:
    @put(MESSAGE + "/reactions/{emoji:str}", summary="React", status_code=204, sync_to_thread=False)
    def add_reaction(
        channel_id: FromPath[str],
        message_id: FromPath[str],
        emoji: FromPath[str],
        data: JSONBody[Acting],
    ) -> None:
        actor = person_of(world, to_id(data.as_))
        world.add_reaction(actor.id, to_id(channel_id), to_id(message_id), _emoji(emoji))

    @delete(MESSAGE + "/reactions/{emoji:str}", summary="React no more", sync_to_thread=False)
    def remove_reaction(
        channel_id: FromPath[str], message_id: FromPath[str], emoji: FromPath[str], person: As
    ) -> None:
        actor = person_of(world, to_id(person)).id
        where = to_id(channel_id), to_id(message_id)
        world.remove_reaction(actor, *where, _emoji(emoji), actor)

    @put(MESSAGE + "/pin", summary="Pin", status_code=204, sync_to_thread=False)
    def pin(channel_id: FromPath[str], message_id: FromPath[str], data: JSONBody[Acting]) -> None:
        world.pin(person_of(world, to_id(data.as_)).id, to_id(channel_id), to_id(message_id))

    @delete(MESSAGE + "/pin", summary="Unpin", sync_to_thread=False)
    def unpin(channel_id: FromPath[str], message_id: FromPath[str], person: As) -> None:
        world.unpin(person_of(world, to_id(person)).id, to_id(channel_id), to_id(message_id))

    @post(CHANNEL + "/typing", summary="Show that one types", status_code=204, sync_to_thread=False)
    def typing(channel_id: FromPath[str], data: JSONBody[Acting]) -> None:
        world.start_typing(person_of(world, to_id(data.as_)).id, to_id(channel_id))

    return [add_reaction, remove_reaction, pin, unpin, typing]


def draft_of(
    world: World,
    actor_id: int,
    channel_id: int,
    data: JSONBody[NewMessage],
    uploads: Sequence[Upload],
) -> MessageDraft:
    """What the world is to post."""
    reference = None
    if data.forward is not None:
        source = world.require(actor_id, to_id(data.forward.channel_id), _READ)
        reference = Reference(
            source.id, to_id(data.forward.message_id), source.guild_id, ReferenceKind.FORWARD
        )
    elif data.reply_to is not None:
        guild_id = world.channel(channel_id).guild_id
        reference = Reference(channel_id, to_id(data.reply_to), guild_id)
    return MessageDraft(
        content=data.content,
        uploads=tuple(uploads),
        reference=reference,
        stickers=tuple(sticker(to_id(each)) for each in data.stickers),
        poll=data.poll,
        allowed_mentions=None if data.ping else AllowedMentions(_ALL, replied_user=False),
    )


def _post(
    world: World, channel_id: str, data: NewMessage, uploads: Sequence[Upload]
) -> dict[str, Any]:
    actor, place = person_of(world, to_id(data.as_)).id, to_id(channel_id)
    posted = world.post_message(actor, place, draft_of(world, actor, place, data, uploads))
    return payloads.message(world.tables, posted, actor)


async def _upload(part: Any) -> Upload:
    if isinstance(part, str):
        raise NotSaid("A part `files` is not a file.", "Give each a filename.")
    data = await part.read()
    name = part.filename or "file"
    width, height = size_of(data) or (None, None)
    return Upload(
        name, data, content_type=type_of(name, part.content_type), width=width, height=height
    )


def _page(world: World, channel: Channel, messages: list[Message], viewer: int) -> Page:
    shown = [payloads.message(world.tables, each, viewer) for each in messages]
    if not messages:
        return Page([], has_older=False, has_newer=False)
    older = world.history(channel.id, before=messages[0].id, limit=1, viewer_id=viewer)
    newer = world.history(channel.id, after=messages[-1].id, limit=1, viewer_id=viewer)
    return Page(shown, has_older=bool(older), has_newer=bool(newer))


def _emoji(text: str) -> Emoji:
    name, colon, emoji_id = text.partition(":")
    return Emoji(name, to_id(emoji_id)) if colon else Emoji(text)


def made(entity: Channel) -> MadeThing:
    """What was made, by its id."""
    return MadeThing(str(entity.id))
