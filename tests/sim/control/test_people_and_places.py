"""What people see and make: servers, channels, roles, threads, bots; refusals say what to do."""

from typing import Any

from clankie.sim.world.permissions import Intent
from sim.control.support import Control


def _channels(world: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for guild in world["guilds"] for each in guild["channels"]}


async def test_each_person_sees_their_world(control: Control) -> None:
    owner, guest = await control.snapshot(control.owner), await control.snapshot(control.guest)
    assert _channels(owner)["owners-only"]["private"]
    assert "owners-only" not in _channels(guest)
    assert "manage" in _channels(owner)["general"]["can"]
    assert set(_channels(guest)["general"]["can"]) >= {"view", "send", "react", "attach"}
    assert "manage" not in _channels(guest)["general"]["can"]
    assert [user["global_name"] for user in guest["people"]] == [
        "Owner",
        "Moderator",
        "Member",
        "Guest",
    ]
    assert control.sim.bots[0].token not in str(owner)


async def test_who_is_unknown_sees_the_first_persons_world_and_a_bot_sees_none(
    control: Control,
) -> None:
    assert (await control.ask("GET", "/world", 200))["me"]["global_name"] == "Owner"
    await control.ask("GET", "/world", 400, params={"as": str(control.bot.id)})
    await control.ask("GET", "/world", 400, params={"as": "\u0661"})


async def test_a_person_is_made_joins_and_every_page_hears_of_it(control: Control) -> None:
    since = (await control.snapshot(control.guest))["eventId"]
    body = {"name": "Visitor", "guildId": str(control.guild.id)}
    async with control.events(control.guest, since) as stream:
        made = await control.ask("POST", "/people", 201, json=body)
        names = {(await stream.dispatch())[0], (await stream.dispatch())[0]}
    assert "SIM_PEOPLE" in names
    assert control.world.is_member(control.guild.id, int(made["id"]))


async def test_a_server_with_channel_role_and_member(control: Control) -> None:
    me = {"as": str(control.guest.id)}
    guild = await control.ask("POST", "/guilds", 201, json={**me, "name": "Another"})
    base = f"/guilds/{guild['id']}"
    role = await control.ask("POST", f"{base}/roles", 201, json={**me, "name": "Helpers"})
    hidden = {**me, "name": "hidden", "private": True}
    channel = await control.ask("POST", f"{base}/channels", 201, json=hidden)
    await control.ask("POST", f"{base}/members", 201, json={"userId": str(control.owner.id)})
    assert not control.world.can_view(control.owner.id, int(channel["id"]))
    seen = f"/channels/{channel['id']}/overwrites/{role['id']}"
    await control.ask("PUT", seen, 200, json={**me, "view": "allow"})
    roles = {**me, "roles": [role["id"]]}
    await control.ask("PUT", f"{base}/members/{control.owner.id}/roles", 200, json=roles)
    assert control.world.can_view(control.owner.id, int(channel["id"]))
    await control.ask("PUT", seen, 200, json={**me, "view": "default"})
    assert not control.world.can_view(control.owner.id, int(channel["id"]))
    leaving = {"as": str(control.owner.id)}
    await control.ask("DELETE", f"{base}/members/{control.owner.id}", 204, params=leaving)
    assert not control.world.is_member(int(guild["id"]), control.owner.id)


async def test_threads_and_posts_are_made_archived_and_deleted(control: Control) -> None:
    me = {"as": str(control.owner.id)}
    general, forum = control.channel(), control.channel("help")
    thread = await control.ask(
        "POST", f"/channels/{general.id}/threads", 201, json={**me, "name": "Aside"}
    )
    body = {**me, "name": "Why?", "content": "Because", "tags": [str(forum.available_tags[0].id)]}
    post = await control.ask("POST", f"/channels/{forum.id}/posts", 201, json=body)
    await control.ask("PATCH", f"/channels/{post['id']}", 200, json={**me, "archived": True})
    channels = _channels(await control.snapshot(control.guest))
    assert channels["Why?"]["thread_metadata"]["archived"]  # a forum lists its archived posts
    await control.ask("DELETE", f"/channels/{thread['id']}", 204, params=me)
    assert "Aside" not in _channels(await control.snapshot(control.guest))


async def test_what_a_person_may_not_do_is_refused_and_not_done(control: Control) -> None:
    body = {"as": str(control.guest.id), "name": "mine"}
    told = await control.ask("POST", f"/guilds/{control.guild.id}/channels", 403, json=body)
    assert told["code"] == 50013
    assert told["next"].startswith("Speak as somebody who may")
    secret = control.channel("owners-only")
    query = {"as": str(control.guest.id)}
    for path in ("messages", "pins", "messages/1/hops"):
        await control.ask("GET", f"/channels/{secret.id}/{path}", 403, params=query)
    assert all(each.name != "mine" for each in control.world.channels(control.guild.id))


async def test_what_makes_no_sense_is_refused_with_what_to_do(control: Control) -> None:
    for method, path, body in (
        ("POST", "/people", {"name": ""}),
        ("POST", "/people", {"name": "A", "extra": 1}),
        ("POST", "/guilds", {"name": "A", "as": "1' OR 1"}),
        (
            "POST",
            f"/guilds/{control.guild.id}/channels",
            {"name": "a", "as": str(control.owner.id), "type": 3},
        ),
        ("POST", "/channels/9/messages", {"content": "x"}),
    ):
        told = await control.ask(method, path, 400, json=body)
        assert told["message"]
        assert told["next"]
    assert (await control.ask("GET", "/nothing", 404))["next"]
    assert (await control.ask("PUT", "/people", 405, json={}))["next"]


async def test_an_application_is_made_with_the_intents_it_may_ask_for(control: Control) -> None:
    body = {
        "as": str(control.owner.id),
        "name": "Second",
        "members": False,
        "guildId": str(control.guild.id),
    }
    made = await control.ask("POST", "/applications", 201, json=body)
    application = control.world.application(int(made["id"]))
    assert application.privileged == Intent.MESSAGE_CONTENT
    assert made["token"] == application.token
    assert control.world.is_member(control.guild.id, application.bot_user_id)
    shown = (await control.ask("GET", "/bots", 200))["bots"]
    assert [(each["name"], each["sessions"]) for each in shown] == [("Helper", []), ("Second", [])]
    assert application.token not in str(shown)


async def test_the_description_names_every_route(control: Control) -> None:
    described = await control.ask("GET", "/openapi/openapi.json", 200)
    assert "/sim/api/v1/channels/{channel_id}/messages" in described["paths"]
    assert len(described["paths"]) >= 25
