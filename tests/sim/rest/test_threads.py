"""Threads and forum posts as REST makes and lists them."""

import json

import pytest

from clankie.sim.world.entities import Channel, ChannelType
from sim.rest.places import Place, codes


@pytest.fixture
def forum(place: Place) -> Channel:
    channel = place.world.create_channel(
        place.owner.id, place.guild.id, "forum", ChannelType.FORUM, available_tags=["question"]
    )
    place.clear()
    return channel


async def test_a_thread_from_a_message_has_the_messages_id(place: Place) -> None:
    message = (await place.post(content="x")).json()
    path = f"{place.messages}/{message['id']}/threads"
    thread = await place.bot.post(path, json={"name": "aside"})
    assert thread.status_code == 201
    assert thread.json()["id"] == message["id"]
    assert thread.json()["type"] == 11
    again = await place.bot.post(path, json={"name": "aside"})
    assert (again.status_code, again.json()["code"]) == (400, 160004)
    said = await place.bot.post(f"/channels/{message['id']}/messages", json={"content": "in it"})
    assert said.json()["channel_id"] == message["id"]
    active = (await place.bot.get(f"/guilds/{place.guild.id}/threads/active")).json()
    assert [each["id"] for each in active["threads"]] == [message["id"]]
    assert [each["user_id"] for each in active["members"]] == [str(place.bot_id)]


async def test_a_thread_without_a_message_needs_a_name(place: Place) -> None:
    path = f"/channels/{place.general.id}/threads"
    assert codes(await place.bot.post(path, json={"type": 11}), "name") == ["BASE_TYPE_REQUIRED"]
    thread = await place.bot.post(path, json={"type": 11, "name": "aside"})
    assert thread.status_code == 201
    private = await place.bot.post(path, json={"name": "aside"})
    assert (private.status_code, private.json()["type"]) == (201, 12)


async def test_followers_come_and_go(place: Place) -> None:
    made = await place.bot.post(
        f"/channels/{place.general.id}/threads", json={"type": 11, "name": "aside"}
    )
    path = f"/channels/{made.json()['id']}/thread-members"
    assert (await place.bot.put(f"{path}/{place.guest.id}")).status_code == 204
    followers = {each["user_id"] for each in (await place.bot.get(path)).json()}
    assert followers == {str(place.bot_id), str(place.guest.id)}
    assert (await place.bot.delete(f"{path}/@me")).status_code == 204
    gone = await place.bot.get(f"{path}/@me")
    assert (gone.status_code, gone.json()["code"]) == (404, 10007)
    assert (await place.bot.put(f"{path}/@me")).status_code == 204
    assert (await place.bot.get(f"{path}/@me")).json()["user_id"] == str(place.bot_id)


async def test_a_forum_post_and_its_message_come_in_one_call_files_included(
    place: Place, forum: Channel
) -> None:
    fields = {
        "name": "how to",
        "applied_tags": [str(forum.available_tags[0].id)],
        "message": {"content": "body", "attachments": [{"id": 0, "description": "d"}]},
    }
    made = await place.bot.post(
        f"/channels/{forum.id}/threads",
        data={"payload_json": json.dumps(fields)},
        files=[("files[0]", ("a.txt", b"x", "text/plain"))],
    )
    assert made.status_code == 201, made.text
    post = made.json()
    assert post["parent_id"] == str(forum.id)
    assert post["applied_tags"] == fields["applied_tags"]
    assert post["message"]["id"] == post["id"]
    assert post["message"]["attachments"][0]["description"] == "d"
    assert place.events.index("THREAD_CREATE") < place.events.index("MESSAGE_CREATE")


async def test_a_forum_takes_no_message_and_a_post_no_emptiness(
    place: Place, forum: Channel
) -> None:
    plain = await place.bot.post(f"/channels/{forum.id}/messages", json={"content": "x"})
    assert (plain.status_code, plain.json()["code"]) == (400, 40058)
    path = f"/channels/{forum.id}/threads"
    assert codes(await place.bot.post(path, json={"name": "n"}), "message") == [
        "BASE_TYPE_REQUIRED"
    ]
    empty = await place.bot.post(path, json={"name": "n", "message": {"content": ""}})
    assert (empty.status_code, empty.json()["code"]) == (400, 50006)
    assert place.events == []
    assert (await place.bot.get(f"/guilds/{place.guild.id}/threads/active")).json() == {
        "threads": [],
        "members": [],
    }


async def test_archived_threads_are_listed_in_pages(place: Place) -> None:
    ids = []
    for number in range(3):
        thread = place.world.create_thread(place.owner.id, place.general.id, f"t{number}")
        place.clock.advance(1)
        place.world.edit_channel(place.owner.id, thread.id, archived=True)
        ids.append(str(thread.id))
    path = f"/channels/{place.general.id}/threads/archived/public"
    first = (await place.bot.get(path, params={"limit": 2})).json()
    assert [each["id"] for each in first["threads"]] == ids[:0:-1]
    assert first["has_more"] is True
    before = first["threads"][-1]["thread_metadata"]["archive_timestamp"]
    rest = (await place.bot.get(path, params={"before": before})).json()
    assert [each["id"] for each in rest["threads"]] == ids[:1]
    assert rest["has_more"] is False
    wrong = await place.bot.get(path, params={"before": "yesterday"})
    assert codes(wrong, "before") == ["DATE_TIME_TYPE_PARSE"]
    private = await place.bot.get(f"/channels/{place.general.id}/threads/archived/private")
    assert (private.status_code, private.json()["code"]) == (403, 50013)
    joined = f"/channels/{place.general.id}/users/@me/threads/archived/private"
    assert (await place.bot.get(joined)).json()["threads"] == []
