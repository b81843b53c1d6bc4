"""A bot of two shards: each server is told to one of them, direct messages to the first."""

import asyncio

import discord
from sim.bots.heard import SECONDS, Heard
from sim.bots.town import Town

SHARDS = 2


class Sharded(discord.AutoShardedClient):
    """Hears everything, over two connections."""

    def __init__(self) -> None:
        super().__init__(
            shard_count=SHARDS, intents=discord.Intents.all(), guild_ready_timeout=0.05
        )
        self.heard = Heard(self)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Without the wait that Discord asks for."""


async def test_two_shards_hear_everything_once(town: Town) -> None:
    guilds = [town.guild]
    while len({_shard(guild.id) for guild in guilds}) < SHARDS or len(guilds) < 4:
        await asyncio.sleep(0.002)  # a server's shard is of its id, which is of the time
        guild = town.world.create_guild(town.owner.id, f"Server {len(guilds)}")
        town.world.join(guild.id, town.bot_id)
        guilds.append(guild)
    bot = Sharded()
    running = asyncio.create_task(bot.start(town.application.token))
    await bot.heard.next("ready")
    assert {guild.id for guild in bot.guilds} == {guild.id for guild in guilds}
    assert all(each.shard_id == _shard(each.id) for each in bot.guilds)
    said = []
    for guild in guilds:
        channel = town.world.channels(guild.id)[0]
        said.append(town.say(guild.name, who=town.owner, channel=channel.id).id)
    dm = town.world.open_dm(town.guest.id, town.bot_id)
    said.append(town.say("direct", channel=dm.id).id)
    await bot.heard.until(lambda: len(bot.heard.messages()) >= len(said))
    for known in bot.guilds:
        assert len(await known.query_members("owner")) == 1
    assert sorted(message.id for message in bot.heard.all("message")) == said
    assert bot.heard.order.count("shard_ready") == SHARDS
    assert {shard: info.is_closed() for shard, info in bot.shards.items()} == {0: False, 1: False}
    await bot.close()
    await asyncio.wait({running}, timeout=SECONDS)
    assert bot.heard.errors == []


def _shard(guild_id: int) -> int:
    return (guild_id >> 22) % SHARDS
