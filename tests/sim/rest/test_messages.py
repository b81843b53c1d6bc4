"""Messages as REST reads, makes and changes them."""

from clankie.sim.world.entities import MessageDraft
from clankie.sim.world.permissions import Intent, Permissions
from sim.rest.places import Place, codes


async def test_a_message_is_posted_once_and_dispatched_once(place: Place) -> None:
    answer = await place.post(content="hello", nonce="1")
    assert answer.status_code == 200
    body = answer.json()
    assert body["content"] == "hello"
    assert body["author"]["id"] == str(place.bot_id)
    assert place.events == ["MESSAGE_CREATE"]
    assert place.dispatches[0].data["id"] == body["id"]
    assert (await place.bot.get(f"{place.messages}/{body['id']}")).json() == body


async def test_an_enforced_nonce_posts_once(place: Place) -> None:
    first = await place.post(content="hello", nonce="7", enforce_nonce=True)
    again = await place.post(content="hello", nonce="7", enforce_nonce=True)
    assert again.json()["id"] == first.json()["id"]
    assert place.count() == 1
    assert place.events == ["MESSAGE_CREATE"]
    other = await place.post(content="hello", nonce="7")
    assert other.json()["id"] != first.json()["id"]


async def test_two_thousand_code_points_fit_however_long_they_are_in_bytes(place: Place) -> None:
    assert (await place.post(content="𝄞" * 2_000)).status_code == 200
    refused = await place.post(content="a" * 2_001)
    assert codes(refused, "content") == ["BASE_TYPE_MAX_LENGTH"]
    assert (
        refused.json()["errors"]["content"]["_errors"][0]["message"]
        == "Must be 2000 or fewer in length."
    )
    assert place.count() == 1


async def test_an_empty_message_is_refused(place: Place) -> None:
    for fields in ({}, {"content": ""}, {"content": " \n"}, {"content": None}):
        answer = await place.bot.post(place.messages, json=fields)
        assert (answer.status_code, answer.json()["code"]) == (400, 50006), fields
    assert place.events == []


async def test_history_of_250_messages_is_read_in_pages_newest_first(place: Place) -> None:
    ids = [
        str(place.world.post_message(place.guest.id, place.general.id, MessageDraft(str(n))).id)
        for n in range(250)
    ]
    read: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = (await place.bot.get(place.messages, params={"limit": 100, **before})).json()
        read += [each["id"] for each in page]
        if len(page) < 100:
            break
        before = {"before": page[-1]["id"]}
    assert read == ids[::-1]
    after = (await place.bot.get(place.messages, params={"after": ids[9], "limit": 3})).json()
    assert [each["id"] for each in after] == ids[12:9:-1]
    around = (await place.bot.get(place.messages, params={"around": ids[99], "limit": 3})).json()
    assert ids[99] in [each["id"] for each in around]
    assert len((await place.bot.get(place.messages)).json()) == 50


async def test_a_page_has_1_to_100(place: Place) -> None:
    for limit, code in (
        ("0", "NUMBER_TYPE_MIN"),
        ("101", "NUMBER_TYPE_MAX"),
        ("x", "NUMBER_TYPE_COERCE"),
    ):
        refused = await place.bot.get(place.messages, params={"limit": limit})
        assert codes(refused, "limit") == [code]


async def test_a_reply_pings_unless_told_not_to(place: Place) -> None:
    asked = place.world.post_message(place.guest.id, place.general.id, MessageDraft("?"))
    reference = {"message_id": asked.id, "channel_id": place.general.id}  # numbers, as discord.py
    loud = (await place.post(content="a", message_reference=reference)).json()
    quiet = (
        await place.post(
            content="b",
            message_reference=reference,
            allowed_mentions={"parse": [], "replied_user": False},
        )
    ).json()
    assert loud["type"] == quiet["type"] == 19
    assert [each["id"] for each in loud["mentions"]] == [str(place.guest.id)]
    assert quiet["mentions"] == []
    assert loud["referenced_message"]["id"] == str(asked.id)


async def test_a_reply_to_what_is_gone_is_refused_or_posted_as_no_reply(place: Place) -> None:
    refused = await place.post(content="a", message_reference={"message_id": 1})
    assert codes(refused, "message_reference") == ["REPLIES_UNKNOWN_MESSAGE"]
    assert place.count() == 0
    reference = {"message_id": 1, "fail_if_not_exists": False}
    posted = await place.post(content="a", message_reference=reference)
    assert posted.json()["type"] == 0
    assert "message_reference" not in posted.json()


async def test_a_forward_carries_a_snapshot_without_an_author(place: Place) -> None:
    said = place.world.post_message(place.guest.id, place.general.id, MessageDraft("news"))
    reference = {"type": 1, "message_id": str(said.id), "channel_id": str(place.general.id)}
    forward = (await place.post(message_reference=reference)).json()
    assert forward["content"] == ""
    snapshot = forward["message_snapshots"][0]["message"]
    assert snapshot["content"] == "news"
    assert "author" not in snapshot


async def test_mentions_that_are_not_allowed_are_not_made(place: Place) -> None:
    content = f"<@{place.guest.id}> @everyone"
    allowed = (await place.post(content=content)).json()
    assert [each["id"] for each in allowed["mentions"]] == [str(place.guest.id)]
    quiet = (await place.post(content=content, allowed_mentions={"parse": []})).json()
    assert quiet["mentions"] == []
    assert quiet["mention_everyone"] is False
    both = {"parse": ["users"], "users": [str(place.guest.id)]}
    refused = await place.post(content=content, allowed_mentions=both)
    assert codes(refused, "allowed_mentions") == ["MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"]


async def test_an_edit_changes_ones_own_and_nobody_elses(place: Place) -> None:
    own = (await place.post(content="before")).json()
    path = f"{place.messages}/{own['id']}"
    edited = await place.bot.patch(path, json={"content": "after"})
    assert edited.json()["content"] == "after"
    assert edited.json()["edited_timestamp"] is not None
    assert place.events == ["MESSAGE_CREATE", "MESSAGE_UPDATE"]
    theirs = place.world.post_message(place.guest.id, place.general.id, MessageDraft("theirs"))
    place.clear()
    refused = await place.bot.patch(f"{place.messages}/{theirs.id}", json={"content": "mine"})
    assert (refused.status_code, refused.json()["code"]) == (403, 50005)
    assert place.world.message(place.general.id, theirs.id).content == "theirs"
    assert place.events == []


async def test_ones_own_message_is_deleted_and_anothers_is_not(place: Place) -> None:
    own = (await place.post(content="x")).json()
    path = f"{place.messages}/{own['id']}"
    assert (await place.bot.delete(path)).status_code == 204
    again = await place.bot.delete(path)
    assert (again.status_code, again.json()["code"]) == (404, 10008)
    theirs = place.world.post_message(place.guest.id, place.general.id, MessageDraft("theirs"))
    refused = await place.bot.delete(f"{place.messages}/{theirs.id}")
    assert (refused.status_code, refused.json()["code"]) == (403, 50013)
    bulk = await place.bot.post(
        f"{place.messages}/bulk-delete", json={"messages": [str(theirs.id), "1"]}
    )
    assert bulk.status_code == 403
    assert place.count() == 1


async def test_reactions_are_put_listed_and_taken_away(place: Place) -> None:
    message = (await place.post(content="x")).json()
    path = f"{place.messages}/{message['id']}/reactions"
    for _ in range(2):
        assert (await place.bot.put(f"{path}/%F0%9F%91%8D/@me")).status_code == 204
    assert place.events == ["MESSAGE_CREATE", "MESSAGE_REACTION_ADD"]
    listed = (await place.bot.get(f"{path}/%F0%9F%91%8D")).json()
    assert [each["id"] for each in listed] == [str(place.bot_id)]
    shown = (await place.bot.get(f"{place.messages}/{message['id']}")).json()["reactions"]
    assert (shown[0]["count"], shown[0]["me"]) == (1, True)
    assert (await place.bot.delete(f"{path}/%F0%9F%91%8D/@me")).status_code == 204
    assert "reactions" not in (await place.bot.get(f"{place.messages}/{message['id']}")).json()
    for wrong in ("thumbsup", "name:1"):
        refused = await place.bot.put(f"{path}/{wrong}/@me")
        assert refused.json()["code"] == 10014
    assert place.events[-1] == "MESSAGE_REACTION_REMOVE"


async def test_typing_is_seen_and_has_no_answer(place: Place) -> None:
    answer = await place.bot.post(f"/channels/{place.general.id}/typing")
    assert (answer.status_code, answer.content) == (204, b"")
    assert place.events == ["TYPING_START"]


async def test_without_the_content_intent_others_messages_come_empty(place: Place) -> None:
    place.world.edit_application(place.application.id, privileged=Intent.NONE)
    place.world.post_message(place.guest.id, place.general.id, MessageDraft("secret"))
    mention = MessageDraft(f"<@{place.bot_id}> for you")
    place.world.post_message(place.guest.id, place.general.id, mention)
    await place.post(content="mine")
    own, mentioning, other = (await place.bot.get(place.messages)).json()
    assert (own["content"], mentioning["content"][-7:], other["content"]) == ("mine", "for you", "")
    dm = place.world.open_dm(place.guest.id, place.bot_id)
    place.world.post_message(place.guest.id, dm.id, MessageDraft("direct"))
    (direct,) = (await place.bot.get(f"/channels/{dm.id}/messages")).json()
    assert direct["content"] == "direct"


async def test_a_direct_conversation_is_opened_once_and_may_be_closed_to_bots(
    place: Place,
) -> None:
    asked = {"recipient_id": place.guest.id}
    first = (await place.bot.post("/users/@me/channels", json=asked)).json()
    again = (await place.bot.post("/users/@me/channels", json=asked)).json()
    assert first["id"] == again["id"]
    assert [each["id"] for each in first["recipients"]] == [str(place.guest.id)]
    place.world.edit_user(place.guest.id, dms_open=False)
    refused = await place.bot.post(f"/channels/{first['id']}/messages", json={"content": "x"})
    assert (refused.status_code, refused.json()["code"]) == (403, 50007)
    assert place.world.history(int(first["id"])) == []


async def test_pins_are_put_listed_and_taken_away(place: Place) -> None:
    message = (await place.post(content="x")).json()
    refused = await place.bot.put(f"{place.messages}/pins/{message['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, 50013)
    place.world.pin(place.owner.id, place.general.id, int(message["id"]))
    listed = (await place.bot.get(f"{place.messages}/pins")).json()
    assert [each["message"]["id"] for each in listed["items"]] == [message["id"]]
    assert listed["has_more"] is False
    old = (await place.bot.get(f"/channels/{place.general.id}/pins")).json()
    assert [each["id"] for each in old] == [message["id"]]


async def test_what_else_a_message_holds_comes_back(place: Place) -> None:
    embed = {
        "title": "t",
        "description": "d",
        "color": 255,
        "fields": [{"name": "n", "value": "v"}],
    }
    button = {"type": 2, "style": 1, "label": "Press", "custom_id": "press"}
    components = [{"type": 1, "components": [button]}]
    sent = (await place.post(embeds=[embed], components=components, flags=1 << 12)).json()
    assert sent["embeds"] == [embed | {"type": "rich"}]
    assert sent["components"] == components
    assert sent["flags"] == 1 << 12
    suppressed = await place.bot.patch(f"{place.messages}/{sent['id']}", json={"flags": 1 << 2})
    assert suppressed.json()["embeds"] == []


async def test_a_sticker_is_sent_by_its_id(place: Place) -> None:
    (pack,) = (await place.bot.get("/sticker-packs")).json()["sticker_packs"]
    first = pack["stickers"][0]
    assert (await place.bot.get(f"/stickers/{first['id']}")).json() == first
    sent = (await place.post(sticker_ids=[first["id"]])).json()
    assert [each["name"] for each in sent["sticker_items"]] == [first["name"]]
    refused = await place.post(sticker_ids=["1"])
    assert (refused.status_code, refused.json()["code"]) == (400, 50081)
    assert place.count() == 1


async def test_a_poll_is_sent_by_whoever_may(place: Place) -> None:
    place.world.edit_role(
        place.owner.id, place.guild.id, place.guild.id, permissions=Permissions.ALL
    )
    poll = {
        "question": {"text": "Where?"},
        "answers": [{"poll_media": {"text": "here"}}, {"poll_media": {"text": "there"}}],
        "duration": 1,
    }
    sent = (await place.post(poll=poll)).json()["poll"]
    assert [each["answer_id"] for each in sent["answers"]] == [1, 2]
    assert sent["expiry"] > "2026"
    assert (await place.post(poll=poll | {"duration": 0})).status_code == 400
    assert place.count() == 1
