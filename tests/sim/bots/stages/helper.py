"""The bot that is run against both simulators, as its author would write it: `!` commands, slash commands, events.

Owns what it does. Must not know where Discord is.
"""

import hashlib
from typing import Any

from discord.ext import commands

import discord
from sim.bots.commanding import COMMANDS

UNKNOWN_ID = 100_000_000_000_000_000


class Helper(commands.Bot):
    """Does what it is told, and notes what it hears.

    Attributes:
        heard: its events, in words and in order.
        did: what came of what it did itself, in order. How both lie in time is each simulator's own.
        texts: of all messages that it heard, by id.
        refused: codes of what Discord refused the last slash command.
    """

    def __init__(self, **changed: bool) -> None:
        intents = discord.Intents.all()
        for name, value in changed.items():
            setattr(intents, name, value)
        super().__init__("!", intents=intents, help_command=None, guild_ready_timeout=0.05)
        self.heard: list[str] = []
        self.did: list[str] = []
        self.texts: dict[int, str] = {}
        self.refused: list[int] = []
        for command in COMMANDS:
            self.tree.add_command(command)
        for text_command in TEXT_COMMANDS:
            self.add_command(text_command.copy())

    async def setup_hook(self) -> None:
        await self.tree.sync()

    async def on_message(self, message: discord.Message) -> None:
        self.texts[message.id] = message.content or message.type.name
        files = [f"{each.filename}:{each.size}" for each in message.attachments]
        mentions = sorted(user.id for user in message.mentions)
        channel = message.channel
        where = "direct"
        if isinstance(channel, discord.Thread):
            where = f"thread {channel.name}"
        elif isinstance(channel, discord.TextChannel) and message.guild is not None:
            where = channel.name
        self.heard.append(
            f"message {message.author.id} in {where}: {message.content!r} {message.type.name} "
            f"mentions {mentions} files {files} "
            f"to {message.reference.message_id if message.reference else None}"
        )
        if message.guild is None and message.author != self.user:
            await message.channel.send(f"you said {message.content}")
        await self.process_commands(message)

    async def on_message_edit(self, before: discord.Message, after: discord.Message) -> None:
        self.heard.append(f"edit {before.content!r} {after.content!r}")

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        self.heard.append(f"delete {event.message_id}")

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        self.heard.append(f"reaction {event.emoji} {event.user_id} {event.message_id}")
        if event.user_id != self.user.id:  # type: ignore[union-attr]
            channel = self.get_channel(event.channel_id)
            message = channel.get_partial_message(event.message_id)  # type: ignore[union-attr]
            await message.add_reaction(event.emoji)

    async def on_raw_reaction_remove(self, event: discord.RawReactionActionEvent) -> None:
        self.heard.append(f"no reaction {event.emoji} {event.user_id} {event.message_id}")

    async def on_member_join(self, member: discord.Member) -> None:
        self.heard.append(f"join {member.display_name}")
        await member.guild.text_channels[0].send(f"Welcome {member.mention}")

    async def on_member_remove(self, member: discord.Member) -> None:
        self.heard.append(f"leave {member.display_name}")

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.heard.append(f"thread {thread.name} {thread.type.name}")

    async def on_guild_channel_pins_update(self, channel: Any, _: Any) -> None:
        self.heard.append(f"pins {channel.name}")

    async def code(self, awaitable: Any) -> int:
        """What Discord refuses something with; 0 when it does not."""
        try:
            await awaitable
        except discord.HTTPException as refused:
            return refused.code
        return 0


Context = commands.Context[Helper]


@commands.command()
async def quiet(context: Context) -> None:
    await context.reply("quiet", mention_author=False)


@commands.command()
async def loud(context: Context) -> None:
    await context.reply("loud")


@commands.command()
async def name(context: Context, *people: discord.User) -> None:
    text = " ".join(person.mention for person in people)
    await context.send(text)
    await context.send(text, allowed_mentions=discord.AllowedMentions(users=people[:1]))
    await context.send(f"{text} @everyone", allowed_mentions=discord.AllowedMentions.none())


@commands.command()
async def card(context: Context) -> None:
    embed = discord.Embed(title="Card", description="*text*", colour=0x123456)
    embed.add_field(name="a", value="b").set_footer(text="foot")
    await context.send("with a card", embed=embed)


@commands.command()
async def echo(context: Context) -> None:
    files = [await each.to_file() for each in context.message.attachments]
    digests = [
        hashlib.sha256(await each.read()).hexdigest() for each in context.message.attachments
    ]
    sent = await context.send(" ".join(digests), files=files)
    again = [await each.read() for each in sent.attachments]
    context.bot.did.append(
        f"echoed {[hashlib.sha256(each).hexdigest() for each in again] == digests}"
    )


@commands.command()
async def change(context: Context) -> None:
    sent = await context.send("first")
    await sent.edit(content="second", embed=discord.Embed(title="new"))
    gone = await context.send("gone soon")
    await gone.delete()


@commands.command()
async def thread(context: Context) -> None:
    made = await context.message.create_thread(name="aside")
    await made.send("inside")
    again = await context.bot.code(context.message.create_thread(name="again"))
    context.bot.did.append(f"again {again}")


@commands.command()
async def post(context: Context) -> None:
    forum = context.guild.forums[0]  # type: ignore[union-attr]
    made = await forum.create_thread(name="question", content="how?")
    context.bot.did.append(f"starter {made.message.id == made.thread.id}")


@commands.command()
async def once(context: Context) -> None:
    body = {"content": "once", "nonce": "n1", "enforce_nonce": True}
    route = discord.http.Route(
        "POST", "/channels/{channel_id}/messages", channel_id=context.channel.id
    )
    sent = [(await context.bot.http.request(route, json=body))["id"] for _ in range(2)]
    context.bot.did.append(f"same {sent[0] == sent[1]}")


@commands.command()
async def tidy(context: Context) -> None:
    sent = [await context.send(str(number)) for number in range(3)]
    await context.channel.delete_messages(sent)  # type: ignore[union-attr]


@commands.command()
async def count(context: Context, number: int) -> None:
    for each in range(number):
        await context.send(str(each))


@commands.command()
async def read(context: Context) -> None:
    channel = context.channel
    everything = [each async for each in channel.history(limit=None, oldest_first=True)]
    middle = discord.utils.get(context.bot.cached_messages, content="60")
    for where in ("before", "after", "around"):
        found = [each async for each in channel.history(limit=21, **{where: middle})]  # type: ignore[arg-type]
        found.sort(key=lambda each: each.id)
        context.bot.did.append(f"{where} {len(found)} {found[0].content} to {found[-1].content}")
    context.bot.did.append(f"all {len(everything)} from {everything[0].content!r}")


@commands.command()
async def members(context: Context) -> None:
    guild = context.guild
    assert guild is not None
    await guild.chunk()
    found = await guild.query_members("gue")
    by_id = await guild.query_members(user_ids=[context.author.id, UNKNOWN_ID])
    context.bot.did.append(
        f"members {len(guild.members)} {[each.display_name for each in found]} {len(by_id)}"
    )


@commands.command()
async def refused(context: Context) -> None:
    """Each thing that Discord refuses, by its code."""
    bot, channel = context.bot, context.channel
    hidden = next(each for each in context.guild.text_channels if each.name == "hidden")  # type: ignore[union-attr]
    unknown = channel.get_partial_message(UNKNOWN_ID)  # type: ignore[union-attr]
    reference = discord.MessageReference(message_id=UNKNOWN_ID, channel_id=channel.id)
    gone = await channel.send("gone")
    await gone.delete()
    codes = {
        "unknown message": await bot.code(unknown.fetch()),
        "unknown channel": await bot.code(bot.fetch_channel(UNKNOWN_ID)),
        "unknown user": await bot.code(bot.fetch_user(UNKNOWN_ID)),
        "edit of a deleted": await bot.code(gone.edit(content="x")),
        "edit of another's": await bot.code(context.message.edit(content="x")),
        "empty": await bot.code(channel.send("")),
        "too long": await bot.code(channel.send("x" * 2_001)),
        "too long a card": await bot.code(
            channel.send(embed=discord.Embed(description="x" * 4_097))
        ),
        "reply to nothing": await bot.code(channel.send("x", reference=reference)),
        "hidden": await bot.code(hidden.send("x")),
        "hidden history": await bot.code(_read(hidden)),
        "no emoji": await bot.code(context.message.add_reaction("no emoji")),
        "to itself": await bot.code(bot.http.start_private_message(bot.user.id)),  # type: ignore[union-attr]
    }
    bot.did += [f"refused {what} {code}" for what, code in codes.items()]


async def _read(channel: discord.TextChannel) -> None:
    [each async for each in channel.history()]


TEXT_COMMANDS: list[commands.Command[Any, ..., Any]] = [
    quiet, loud, name, card, echo, change, thread, post, once, tidy, count, read, members, refused
]  # fmt: skip
