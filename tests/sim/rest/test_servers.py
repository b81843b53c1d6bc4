"""Servers, their channels, members and roles as REST shows and changes them."""

import pytest

from clankie.sim.world.entities import ChannelType
from clankie.sim.world.permissions import Permissions
from sim.rest.places import Place, codes


@pytest.fixture
async def trusted(place: Place) -> Place:
    """The bot may do anything below its own role."""
    role = next(each for each in place.world.roles(place.guild.id) if each.bot_id == place.bot_id)
    place.world.edit_role(
        place.owner.id, place.guild.id, role.id, permissions=Permissions.ADMINISTRATOR
    )
    place.clear()
    return place


async def test_a_server_is_shown_with_its_roles(place: Place) -> None:
    path = f"/guilds/{place.guild.id}"
    guild = (await place.bot.get(path, params={"with_counts": "true"})).json()
    assert guild["name"] == "a server"
    assert guild["approximate_member_count"] == 3
    roles = (await place.bot.get(f"{path}/roles")).json()
    assert roles == guild["roles"]
    one = (await place.bot.get(f"{path}/roles/{place.guild.id}")).json()
    assert one["name"] == "@everyone"
    assert (await place.bot.get(f"{path}/emojis")).json() == []
    assert (await place.bot.get(f"{path}/stickers")).json() == []


async def test_ones_servers_are_listed_with_what_one_may_do(place: Place) -> None:
    second = place.world.create_guild(place.owner.id, "second")
    place.world.join(second.id, place.bot_id)
    listed = (await place.bot.get("/users/@me/guilds")).json()
    assert [each["id"] for each in listed] == [str(place.guild.id), str(second.id)]
    assert int(listed[0]["permissions"]) & Permissions.SEND_MESSAGES
    assert listed[0]["owner"] is False
    after = await place.bot.get("/users/@me/guilds", params={"after": str(place.guild.id)})
    assert [each["id"] for each in after.json()] == [str(second.id)]
    before = await place.bot.get("/users/@me/guilds", params={"before": str(second.id), "limit": 1})
    assert [each["id"] for each in before.json()] == [str(place.guild.id)]
    assert (await place.bot.delete(f"/users/@me/guilds/{second.id}")).status_code == 204
    assert not place.world.is_member(second.id, place.bot_id)


async def test_members_are_listed_in_pages_and_searched_by_any_name(place: Place) -> None:
    path = f"/guilds/{place.guild.id}/members"
    everyone = sorted([place.owner.id, place.guest.id, place.bot_id])
    first = (await place.bot.get(path, params={"limit": 2})).json()
    rest = await place.bot.get(path, params={"limit": 2, "after": first[-1]["user"]["id"]})
    found = [int(each["user"]["id"]) for each in (*first, *rest.json())]
    assert found == everyone
    place.world.set_nick(place.owner.id, place.guild.id, place.guest.id, "Visitor")
    for query in ("gue", "VISIT"):
        hits = await place.bot.get(f"{path}/search", params={"query": query, "limit": 5})
        assert [int(each["user"]["id"]) for each in hits.json()] == [place.guest.id]
    assert codes(await place.bot.get(f"{path}/search"), "query") == ["BASE_TYPE_REQUIRED"]
    one = (await place.bot.get(f"{path}/{place.guest.id}")).json()
    assert one["nick"] == "Visitor"


async def test_a_channel_out_of_sight_is_not_listed(place: Place) -> None:
    hidden = place.world.create_channel(place.owner.id, place.guild.id, "hidden")
    path = f"/channels/{hidden.id}/permissions/{place.guild.id}"
    refused = await place.bot.put(path, json={"type": 0, "deny": "1024"})
    assert (refused.status_code, refused.json()["code"]) == (403, 50013)
    listed = (await place.bot.get(f"/guilds/{place.guild.id}/channels")).json()
    assert str(hidden.id) in [each["id"] for each in listed]
    member_path = f"/channels/{hidden.id}/permissions/{place.bot_id}"
    assert (await place.bot.delete(member_path)).status_code in (403, 404)


async def test_whoever_may_manages_channels(trusted: Place) -> None:
    place = trusted
    made = await place.bot.post(
        f"/guilds/{place.guild.id}/channels", json={"name": "new", "topic": "t", "type": 0}
    )
    assert made.status_code == 201
    path = f"/channels/{made.json()['id']}"
    edited = (await place.bot.patch(path, json={"name": "newer", "nsfw": True})).json()
    assert (edited["name"], edited["topic"], edited["nsfw"]) == ("newer", "t", True)
    denied = {"type": 0, "deny": str(int(Permissions.VIEW_CHANNEL)), "allow": "0"}
    overwrite = f"{path}/permissions/{place.guild.id}"
    assert (await place.bot.put(overwrite, json=denied)).status_code == 204
    shown = (await place.bot.get(path)).json()["permission_overwrites"]
    assert shown == [{"id": str(place.guild.id), "type": 0, "allow": "0", "deny": "1024"}]
    assert not place.world.can_view(place.guest.id, int(made.json()["id"]))
    assert (await place.bot.delete(overwrite)).status_code == 204
    assert (await place.bot.delete(path)).json()["id"] == made.json()["id"]
    assert (await place.bot.get(path)).json()["code"] == 10003


async def test_whoever_may_not_changes_no_channel(place: Place) -> None:
    for answer in (
        await place.bot.patch(f"/channels/{place.general.id}", json={"name": "x"}),
        await place.bot.delete(f"/channels/{place.general.id}"),
        await place.bot.post(f"/guilds/{place.guild.id}/channels", json={"name": "x"}),
        await place.bot.post(f"/guilds/{place.guild.id}/roles", json={"name": "x"}),
        await place.bot.patch(f"/guilds/{place.guild.id}", json={"name": "other"}),
        await place.bot.delete(f"/guilds/{place.guild.id}/members/{place.guest.id}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, 50013)
    assert place.events == []
    assert place.world.is_member(place.guild.id, place.guest.id)


async def test_a_kind_of_channel_that_is_not_made_is_refused(trusted: Place) -> None:
    path = f"/guilds/{trusted.guild.id}/channels"
    for kind in (1, 3, 11, 13):
        refused = await trusted.bot.post(path, json={"name": "x", "type": kind})
        assert codes(refused, "type") == ["BASE_TYPE_CHOICES"]
    assert (await trusted.bot.post(path, json={"name": "x"})).json()["type"] == ChannelType.TEXT


async def test_whoever_may_manages_roles_and_members(trusted: Place) -> None:
    place = trusted
    roles = f"/guilds/{place.guild.id}/roles"
    role = (await place.bot.post(roles, json={"name": "guests", "permissions": "2048"})).json()
    path = f"/guilds/{place.guild.id}/members/{place.guest.id}"
    assert (await place.bot.put(f"{path}/roles/{role['id']}")).status_code == 204
    assert (await place.bot.get(path)).json()["roles"] == [role["id"]]
    edited = await place.bot.patch(f"{roles}/{role['id']}", json={"mentionable": True})
    assert (edited.json()["mentionable"], edited.json()["name"]) == (True, "guests")
    assert (await place.bot.delete(f"{path}/roles/{role['id']}")).status_code == 204
    changed = (await place.bot.patch(path, json={"nick": "n", "roles": [role["id"]]})).json()
    assert (changed["nick"], changed["roles"]) == ("n", [role["id"]])
    assert (await place.bot.delete(f"{roles}/{role['id']}")).status_code == 204
    assert (await place.bot.get(path)).json()["roles"] == []
    mine = await place.bot.patch(f"/guilds/{place.guild.id}/members/@me", json={"nick": "bot"})
    assert mine.json()["nick"] == "bot"
    assert (await place.bot.delete(path)).status_code == 204
    assert not place.world.is_member(place.guild.id, place.guest.id)
