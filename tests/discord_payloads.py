"""Discord's payloads as its gateway sends them, for the tests of what reads them."""

from typing import Any

from clankie.discord.facts import Channel, Surroundings
from clankie.discord.inbound import InboundMessage
from clankie.discord.reading import read_message

BOT, ROLE, GUILD = "1001", "2001", "3001"
CHANNEL, OTHER_CHANNEL, THREAD, FORUM, POST = "4001", "4002", "4101", "4003", "4201"
DIRECT = "4500"
GUEST, OTHER, OTHER_BOT, OTHER_ROLE = "5001", "5002", "5003", "2002"
MESSAGE, EARLIER = "1290000000000000001", "1290000000000000000"
SENT_AT_MS = (int(MESSAGE) >> 22) + 1_420_070_400_000
EDITED = "2026-01-02T03:04:05.678000+00:00"
EDITED_MS = 1_767_323_045_678

Json = dict[str, Any]

AROUND = Surroundings(
    bot_user_id=BOT,
    managed_roles={GUILD: ROLE},
    channels={
        CHANNEL: Channel(name="general", guild_id=GUILD),
        OTHER_CHANNEL: Channel(name="elsewhere", guild_id=GUILD),
        THREAD: Channel(name="a thread", guild_id=GUILD, parent_id=CHANNEL, thread=True),
        FORUM: Channel(name="help", guild_id=GUILD),
        POST: Channel(name="Cannot log in", guild_id=GUILD, parent_id=FORUM, thread=True),
    },
    roles={ROLE: "Clankie", OTHER_ROLE: "Moderators"},
)


def user(user_id: str = GUEST, name: str = "guest", **more: Any) -> Json:
    return {
        "id": user_id,
        "username": name,
        "discriminator": "0",
        "avatar": None,
        "global_name": None,
    } | more


def the_bot() -> Json:
    return user(BOT, "clankie", bot=True)


def message(content: str = "hello", **more: Any) -> Json:
    """A MESSAGE_CREATE in a server; a field given as `...` is left out."""
    fields: Json = {
        "id": MESSAGE,
        "type": 0,
        "channel_id": CHANNEL,
        "guild_id": GUILD,
        "author": user(),
        "member": {"roles": [], "flags": 0, "nick": None},
        "content": content,
        "timestamp": "2026-01-02T03:04:00.000000+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "flags": 0,
    } | more
    return {key: value for key, value in fields.items() if value is not ...}


def mention(content: str = f"<@{BOT}> hello", **more: Any) -> Json:
    return message(content, **{"mentions": [the_bot()]} | more)


def direct(content: str = "hello", **more: Any) -> Json:
    return message(content, **{"channel_id": DIRECT, "guild_id": ..., "member": ...} | more)


def reply(content: str = "yes", *, to: Any = None, pinged: bool = True, **more: Any) -> Json:
    """An answer to a message of the bot's, or to `to`, the payload of another."""
    target = earlier(author=the_bot()) if to is None else to
    return message(
        content,
        **{
            "type": 19,
            "message_reference": {
                "type": 0,
                "message_id": EARLIER,
                "channel_id": CHANNEL,
                "guild_id": GUILD,
            },
            "referenced_message": target,
            "mentions": [the_bot()] if pinged else [],
        }
        | more,
    )


def earlier(content: str = "before", **more: Any) -> Json:
    """A message inside another one: Discord leaves its server out."""
    return message(content, **{"id": EARLIER, "guild_id": ..., "member": ...} | more)


def forward(**snapshot: Any) -> Json:
    inner: Json = {
        "type": 0,
        "content": "carried on",
        "mentions": [],
        "attachments": [],
        "embeds": [],
        "timestamp": "2026-01-01T00:00:00+00:00",
        "edited_timestamp": None,
        "flags": 0,
    } | snapshot
    return message(
        "",
        message_reference={"type": 1, "message_id": EARLIER, "channel_id": OTHER_CHANNEL},
        message_snapshots=[{"message": inner}],
    )


def image(file_id: str = "7001", **more: Any) -> Json:
    return {
        "id": file_id,
        "filename": f"{file_id}.png",
        "content_type": "image/png",
        "size": 1_000,
        "url": f"https://cdn.discordapp.com/attachments/1/{file_id}/{file_id}.png?ex=1",
        "proxy_url": f"https://media.discordapp.net/attachments/1/{file_id}/{file_id}.png",
        "width": 8,
        "height": 8,
    } | more


def voice(**more: Any) -> Json:
    return image(
        "7900",
        filename="voice-message.ogg",
        content_type="audio/ogg",
        duration_secs=11.6,
        waveform="AAAA",
        **more,
    )


def command(
    name: str = "ask", options: list[Json] | None = None, *, dm: bool = False, **more: Any
) -> Json:
    """An INTERACTION_CREATE of a slash command."""
    channel_id = DIRECT if dm else CHANNEL
    who: Json = (
        {"user": user()} if dm else {"member": {"user": user(), "roles": []}, "guild_id": GUILD}
    )
    return (
        {
            "id": MESSAGE,
            "application_id": "1000",
            "type": 2,
            "token": "a-token-of-an-interaction",
            "version": 1,
            "channel_id": channel_id,
            "channel": {"id": channel_id, "type": 1 if dm else 0},
            "data": {"id": "9001", "name": name, "type": 1, "options": options or []},
        }
        | who
        | more
    )


def read(payload: Json, around: Surroundings = AROUND) -> InboundMessage:
    return read_message(payload, around)
