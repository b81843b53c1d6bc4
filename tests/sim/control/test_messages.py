"""Messages over the control API: posting, paging, reacting, and what Discord knows of a message's way."""

import json
from typing import Any

from clankie.sim.world.entities import MessageDraft, MessageFlag, Reference
from sim.control.support import Control


async def test_a_message_is_posted_edited_pinned_and_deleted_as_a_person(control: Control) -> None:
    me, base = {"as": str(control.guest.id)}, f"/channels/{control.channel().id}/messages"
    posted = await control.ask("POST", base, 201, json={**me, "content": "first"})
    one = f"{base}/{posted['id']}"
    edited = await control.ask("PATCH", one, 200, json={**me, "content": "second"})
    assert (edited["content"], edited["author"]["id"]) == ("second", str(control.guest.id))
    await control.ask("PUT", f"{one}/pin", 403, json=me)
    await control.ask("PUT", f"{one}/pin", 204, json={"as": str(control.owner.id)})
    pins = await control.ask("GET", f"/channels/{control.channel().id}/pins", 200, params=me)
    assert [each["id"] for each in pins["messages"]] == [posted["id"]]
    await control.ask("PATCH", one, 403, json={"as": str(control.owner.id), "content": "mine"})
    await control.ask("DELETE", one, 204, params=me)
    await control.ask("DELETE", one, 404, params=me)


async def test_pages_go_both_ways_and_say_whether_there_is_more(control: Control) -> None:
    general, me = control.channel(), str(control.owner.id)
    ids = [
        control.world.post_message(control.guest.id, general.id, MessageDraft(str(number))).id
        for number in range(30)
    ]

    async def page(**query: Any) -> tuple[list[str], bool, bool]:
        found = await control.ask(
            "GET", f"/channels/{general.id}/messages", 200, params={"as": me, "limit": 10, **query}
        )
        contents = [each["content"] for each in found["messages"]]
        return contents, found["hasOlder"], found["hasNewer"]

    assert await page() == ([str(n) for n in range(20, 30)], True, False)
    assert await page(before=str(ids[20])) == ([str(n) for n in range(10, 20)], True, True)
    assert await page(after=str(ids[9])) == ([str(n) for n in range(10, 20)], True, True)
    around, older, newer = await page(around=str(ids[15]))
    assert "15" in around
    assert older
    assert newer
    assert (await page(before=str(ids[0])))[1:] == (False, True)
    both = {"as": me, "before": "1", "after": "1"}
    await control.ask("GET", f"/channels/{general.id}/messages", 400, params=both)


async def test_files_come_with_a_message_and_bad_parts_are_refused(control: Control) -> None:
    path = f"/channels/{control.channel().id}/uploads"
    message = json.dumps({"as": str(control.guest.id), "content": "two"})
    files = [("files", ("a.txt", b"alpha", "text/plain")), ("files", ("b.bin", b"\0", None))]
    posted = await control.ask("POST", path, 201, data={"message": message}, files=files)
    assert [each["filename"] for each in posted["attachments"]] == ["a.txt", "b.bin"]
    served = await control.client.get(posted["attachments"][0]["url"])
    assert served.content == b"alpha"
    before = len(control.world.history(control.channel().id))
    await control.ask("POST", path, 400, data={"message": "{"}, files=files)
    await control.ask("POST", path, 400, data={"message": message, "files": "text"})
    assert len(control.world.history(control.channel().id)) == before


async def test_a_reply_pings_unless_told_otherwise_and_a_forward_needs_sight_of_its_source(
    control: Control,
) -> None:
    general, secret = control.channel(), control.channel("owners-only")
    source = control.world.post_message(control.owner.id, secret.id, MessageDraft("plans"))
    first = control.world.post_message(control.owner.id, general.id, MessageDraft("hello"))
    base, me = f"/channels/{general.id}/messages", {"as": str(control.guest.id)}
    loud = await control.ask(
        "POST", base, 201, json={**me, "content": "a", "replyTo": str(first.id)}
    )
    quiet = await control.ask(
        "POST", base, 201, json={**me, "content": "b", "replyTo": str(first.id), "ping": False}
    )
    assert [len(each["mentions"]) for each in (loud, quiet)] == [1, 0]
    forward = {"channelId": str(secret.id), "messageId": str(source.id)}
    await control.ask("POST", base, 403, json={**me, "forward": forward})
    sent = await control.ask(
        "POST", base, 201, json={"as": str(control.owner.id), "forward": forward}
    )
    assert sent["message_snapshots"][0]["message"]["content"] == "plans"


async def test_a_poll_is_posted(control: Control) -> None:
    base, me = f"/channels/{control.channel().id}/messages", {"as": str(control.guest.id)}
    poll = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Yes"}}]}
    posted = await control.ask("POST", base, 201, json={**me, "poll": poll})
    assert posted["poll"]["question"]["text"] == "Tea?"


async def test_reactions_are_the_persons_own(control: Control) -> None:
    general = control.channel()
    posted = control.world.post_message(control.owner.id, general.id, MessageDraft("hello"))
    path = f"/channels/{general.id}/messages/{posted.id}/reactions/%F0%9F%91%8D"
    me = {"as": str(control.guest.id)}
    await control.ask("PUT", path, 204, json=me)

    async def mine(who: int) -> bool:
        found = await control.ask(
            "GET", f"/channels/{general.id}/messages", 200, params={"as": str(who)}
        )
        return bool(found["messages"][-1]["reactions"][0]["me"])

    assert await mine(control.guest.id)
    assert not await mine(control.owner.id)
    await control.ask("DELETE", path, 204, params=me)
    assert control.world.message(general.id, posted.id).reactions == ()


async def test_discord_tells_when_a_message_was_posted_and_which_bot_answered_it(
    control: Control,
) -> None:
    general = control.channel()
    asked = control.world.post_message(control.owner.id, general.id, MessageDraft("hello"))
    reference = Reference(general.id, asked.id, general.guild_id)
    for draft in (
        MessageDraft("to nobody"),
        MessageDraft("to you", reference=reference),
        MessageDraft("to you", reference=reference, flags=MessageFlag.SUPPRESS_NOTIFICATIONS),
    ):
        control.world.post_message(control.bot.id, general.id, draft)
    control.world.post_message(
        control.guest.id, general.id, MessageDraft("me", reference=reference)
    )
    path = f"/channels/{general.id}/messages/{asked.id}/hops"
    way = await control.ask("GET", path, 200, params={"as": str(control.guest.id)})
    assert [(hop["role"], hop["what"]) for hop in way["hops"]] == [
        ("discord", "posted in #general"),
        ("discord", "has the answer of helper"),
        ("discord", "has the answer of helper"),
    ]
    assert way["notes"] == []
