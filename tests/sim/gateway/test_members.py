"""Members, asked for by op 8."""

from typing import Any

import pytest

from clankie.sim.gateway.codes import Op
from clankie.sim.world.permissions import Intent
from sim.gateway.gateways import EVERYTHING, Client, Discord


async def asked(client: Client, discord: Discord, **request: Any) -> list[dict[str, Any]]:
    """Ask, and take every chunk."""
    guild = str(discord.sample.guild.id)
    await client.send(Op.REQUEST_MEMBERS, {"guild_id": guild, **request})
    chunks = [await client.event("GUILD_MEMBERS_CHUNK")]
    while len(chunks) < chunks[0]["chunk_count"]:
        chunks.append(await client.event("GUILD_MEMBERS_CHUNK"))
    assert [each["chunk_index"] for each in chunks] == list(range(len(chunks)))
    assert {each["guild_id"] for each in chunks} == {guild}
    return chunks


def names(chunks: list[dict[str, Any]]) -> list[str]:
    return [each["user"]["username"] for chunk in chunks for each in chunk["members"]]


async def test_all_members_come_a_thousand_at_a_time(discord: Discord) -> None:
    world, guild = discord.world, discord.sample.guild
    for number in range(1_200):
        world.join(guild.id, world.create_person(f"Guest {number}").id)
    async with discord.ready() as client:
        chunks = await asked(client, discord, query="", limit=0, nonce="n1")
        assert [len(each["members"]) for each in chunks] == [1_000, 205]
        assert {each["nonce"] for each in chunks} == {"n1"}
        assert len(set(names(chunks))) == 1_205


async def test_the_whole_list_needs_its_intent(discord: Discord) -> None:
    async with discord.ready(intents=EVERYTHING & ~Intent.GUILD_MEMBERS) as client:
        guild = str(discord.sample.guild.id)
        await client.send(Op.REQUEST_MEMBERS, {"guild_id": guild, "query": "", "limit": 0})
        await client.nothing_more()
        assert names(await asked(client, discord, query="own", limit=5)) == ["owner"]


async def test_members_are_found_by_the_start_of_any_name(discord: Discord) -> None:
    world, sample = discord.world, discord.sample
    world.set_nick(sample.owner.id, sample.guild.id, sample.owner.id, "Memorable")
    async with discord.ready() as client:
        assert names(await asked(client, discord, query="MEM", limit=10)) == ["owner", "member"]
        assert names(await asked(client, discord, query="m", limit=1)) == ["owner"]
        (chunk,) = await asked(client, discord, query="nobody", limit=1, presences=True)
        assert (chunk["members"], chunk["chunk_count"], chunk["presences"]) == ([], 1, [])


async def test_members_are_found_by_id_and_strangers_are_named(discord: Discord) -> None:
    stranger = discord.world.create_person("Stranger")
    owner = discord.sample.owner
    async with discord.ready() as client:
        ids = [str(owner.id), str(stranger.id), "1", "no id"]
        (chunk,) = await asked(client, discord, user_ids=ids, limit=0)
        assert names([chunk]) == ["owner"]
        assert chunk["not_found"] == ids[1:]
        assert names(await asked(client, discord, user_ids=str(owner.id))) == ["owner"]


async def test_a_server_that_the_bot_is_not_in_tells_nothing(discord: Discord) -> None:
    other = discord.world.create_guild(discord.sample.owner.id, "Other")
    async with discord.ready() as client:
        await client.send(Op.REQUEST_MEMBERS, {"guild_id": str(other.id), "query": "", "limit": 0})
        await client.nothing_more()


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"query": "a", "limit": 1, "user_ids": ["1"]},
        {"query": "a"},
        {"query": 7, "limit": 1},
        {"query": "a", "limit": -1},
    ],
)
async def test_a_request_that_asks_for_nothing_is_closed(
    discord: Discord, request_: dict[str, Any]
) -> None:
    async with discord.ready() as client:
        await client.send(
            Op.REQUEST_MEMBERS, {"guild_id": str(discord.sample.guild.id), **request_}
        )
        assert await client.close_code() == 4002
