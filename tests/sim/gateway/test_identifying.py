"""How a session begins, and what refuses it."""

import zlib
from typing import Any

import pytest

from clankie.sim.gateway.codes import Op
from clankie.sim.world.entities import MessageDraft
from clankie.sim.world.permissions import Intent
from sim.gateway.gateways import EVERYTHING, Discord, running


async def test_hello_comes_first_with_the_interval_that_is_asked_for(discord: Discord) -> None:
    async with discord.client() as client:
        assert await client.hello() == {"heartbeat_interval": 60_000}


async def test_a_session_is_ready_and_hears_its_servers(discord: Discord) -> None:
    async with discord.ready() as client:
        assert client.ready["v"] == 10
        assert client.ready["user"]["id"] == str(discord.sample.application.bot_user_id)
        assert client.ready["user"]["bot"] is True
        assert client.ready["application"]["id"] == str(discord.sample.application.id)
        assert client.ready["guilds"] == [{"id": str(discord.sample.guild.id), "unavailable": True}]
        assert client.ready["resume_gateway_url"].startswith("ws://127.0.0.1:")
        (guild,) = client.guilds
        assert guild["name"] == "Sample server"
        assert [each["name"] for each in guild["roles"]] == ["@everyone", "Moderators", "helper"]
        assert {each["name"] for each in guild["channels"]} == {
            "general", "ideas", "owners-only", "help", "Voice",
        }  # fmt: skip
        assert guild["member_count"] == len(guild["members"]) == 5
        assert guild["presences"] == []
        await client.nothing_more()


async def test_a_session_without_guilds_hears_of_no_server(discord: Discord) -> None:
    async with discord.ready(intents=0) as client:
        discord.say("hello")
        await client.nothing_more()


async def test_members_are_only_named_with_the_presences_intent(discord: Discord) -> None:
    without = EVERYTHING & ~Intent.GUILD_PRESENCES
    async with discord.ready(intents=without) as client:
        (guild,) = client.guilds
        assert guild["member_count"] == 5
        assert [each["user"]["id"] for each in guild["members"]] == [client.ready["user"]["id"]]


async def test_a_large_server_names_only_the_bot(discord: Discord) -> None:
    world, guild = discord.world, discord.sample.guild
    for number in range(50):
        world.join(guild.id, world.create_person(f"Guest {number}").id)
    async with discord.ready() as client:
        assert client.guilds[0]["large"] is True
        assert len(client.guilds[0]["members"]) == 1
    async with discord.ready(large_threshold=250) as client:
        assert client.guilds[0]["large"] is False
        assert len(client.guilds[0]["members"]) == 55


@pytest.mark.parametrize(
    ("identify", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"token": 7}, 4004),
        ({"intents": None}, 4013),
        ({"intents": 1 << 30}, 4013),
        ({"intents": -1}, 4013),
        ({"intents": "1"}, 4013),
        ({"shard": [2, 2]}, 4010),
        ({"shard": [0]}, 4010),
        ({"shard": "0"}, 4010),
        ({"large_threshold": 1}, 4002),
    ],
)
async def test_a_wrong_identify_is_closed(
    discord: Discord, identify: dict[str, Any], code: int
) -> None:
    async with discord.client() as client:
        await client.hello()
        right = {"token": discord.token, "intents": 1, "properties": {}}
        await client.send(Op.IDENTIFY, right | identify)
        assert await client.close_code() == code
    assert len(discord.app.sessions) == 0
    limit = discord.world.session_start_limit(discord.sample.application.id)
    assert limit.remaining == limit.total


@pytest.mark.parametrize(
    "privileged", [Intent.GUILD_MEMBERS, Intent.GUILD_PRESENCES, Intent.MESSAGE_CONTENT]
)
async def test_a_privileged_intent_that_is_not_allowed_is_closed(
    discord: Discord, privileged: Intent
) -> None:
    application = discord.sample.application.id
    discord.world.edit_application(application, privileged=Intent.PRIVILEGED & ~privileged)
    async with discord.client() as client:
        await client.hello()
        await client.send(Op.IDENTIFY, {"token": discord.token, "intents": int(privileged)})
        assert await client.close_code() == 4014
    async with discord.ready(intents=EVERYTHING & ~privileged):
        pass


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('{"op": 3, "d": {}}', 4003),
        ('{"op": 4, "d": {}}', 4003),
        ('{"op": 8, "d": {}}', 4003),
        ('{"op": 5, "d": {}}', 4001),
        ('{"op": 99}', 4001),
        ('{"op": 11}', 4001),
        ('{"op": "2"}', 4002),
        ('{"d": {}}', 4002),
        ("[]", 4002),
        ("{", 4002),
        ('{"op": 2, "d": null}', 4002),
        ('{"op": 1, "d": "' + "x" * 4_096 + '"}', 4002),
    ],
)
async def test_what_is_no_message_closes_the_connection(
    discord: Discord, message: str, code: int
) -> None:
    async with discord.client() as client:
        await client.hello()
        await client.socket.send(message)
        assert await client.close_code() == code


async def test_identifying_twice_is_closed(discord: Discord) -> None:
    async with discord.ready() as client:
        await client.send(Op.IDENTIFY, {"token": discord.token, "intents": 0})
        assert await client.close_code() == 4005


async def test_the_121st_message_within_a_minute_is_closed(discord: Discord) -> None:
    async with discord.client() as client:
        await client.hello()
        for _ in range(120):
            await client.send(Op.HEARTBEAT)
            assert (await client.receive())["op"] == Op.HEARTBEAT_ACK
        await client.send(Op.HEARTBEAT)
        assert await client.close_code() == 4008


async def test_a_client_that_does_not_beat_is_closed() -> None:
    async with running(heartbeat_ms=100) as discord, discord.ready() as client:
        assert await client.close_code() == 4009
        assert len(discord.app.sessions) == 0


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?v=6&encoding=json", 4012),
        ("?v=10&encoding=etf", 4002),
        ("?v=10&encoding=json&compress=zstd-stream", 4002),
    ],
)
async def test_a_connection_that_is_asked_for_otherwise_is_closed(
    discord: Discord, query: str, code: int
) -> None:
    async with discord.client(query) as client:
        assert await client.close_code() == code


async def test_each_message_of_a_compressed_stream_is_flushed(discord: Discord) -> None:
    async with discord.ready() as client:
        assert all(isinstance(raw, bytes) for raw in client.raw)
        assert all(bytes(raw[-4:]) == b"\x00\x00\xff\xff" for raw in client.raw)  # type: ignore[arg-type]
        assert sum(map(len, client.raw)) < 2_500  # what is said again costs nearly nothing


async def test_a_client_that_asks_for_no_compression_gets_text(discord: Discord) -> None:
    async with discord.client("?v=10&encoding=json") as client:
        await client.hello()
        await client.identify(discord.token)
        assert all(isinstance(raw, str) for raw in client.raw)


async def test_a_large_message_is_packed_by_itself_for_who_asks_in_identify(
    discord: Discord,
) -> None:
    world = discord.world
    for _ in range(4):
        world.post_message(discord.sample.owner.id, discord.general.id, MessageDraft("x" * 2_000))
    for number in range(20):
        world.create_channel(discord.sample.owner.id, discord.sample.guild.id, f"more-{number}")
    async with discord.client("?v=10&encoding=json") as client:
        await client.hello()
        await client.send(Op.IDENTIFY, {"token": discord.token, "intents": 1, "compress": True})
        await client.event("READY")
        packed = await client.socket.recv()
        assert isinstance(packed, bytes)
        assert b'"t":"GUILD_CREATE"' in zlib.decompress(packed)


async def test_session_starts_are_counted_and_run_out(discord: Discord) -> None:
    application = discord.sample.application.id
    discord.world.set_session_starts_left(application, 2)
    for left in (1, 0):
        async with discord.ready():
            assert discord.world.session_start_limit(application).remaining == left
    async with discord.client() as client:
        await client.hello()
        await client.send(Op.IDENTIFY, {"token": discord.token, "intents": 1})
        assert await client.close_code() == 4004


async def test_a_token_that_was_reset_ends_its_sessions(discord: Discord) -> None:
    async with discord.ready() as client:
        discord.world.reset_token(discord.sample.application.id)
        await client.send(Op.HEARTBEAT)
        assert await client.close_code() == 4004


async def test_shards_share_the_servers(discord: Discord) -> None:
    guild_id = discord.sample.guild.id
    own = (guild_id >> 22) % 2
    async with (
        discord.ready(shard=[own, 2]) as mine,
        discord.ready(shard=[1 - own, 2], guilds=0) as other,
    ):
        assert other.ready["guilds"] == []
        assert other.ready["shard"] == [1 - own, 2]
        discord.say("hello")
        await mine.event("MESSAGE_CREATE")
        bot, owner = discord.sample.application.bot_user_id, discord.sample.owner.id
        dm = discord.world.open_dm(owner, bot)
        discord.world.post_message(owner, dm.id, MessageDraft("direct"))
        first, second = (mine, other) if own == 0 else (other, mine)
        assert (await first.event("MESSAGE_CREATE"))["content"] == "direct"
        await second.nothing_more()
