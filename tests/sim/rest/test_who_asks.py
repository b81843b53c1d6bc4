"""Who may ask, and what is answered to whom and what is not served."""

from sim.rest.places import Place


async def test_nobody_is_refused_as_discord_refuses(place: Place) -> None:
    token = place.application.token
    wrong = ("Bot", "Bot unknown", "Bearer unknown", "unknown", f"bot {token}", token)
    for authorization in (None, f"Bot  {token}", *wrong):
        headers = {} if authorization is None else {"authorization": authorization}
        for path in ("/users/@me", place.messages):
            answer = await place.nobody.get(path, headers=headers)
            assert answer.status_code == 401, authorization
            assert answer.json() == {"message": "401: Unauthorized", "code": 0}
        fields = {"content": "x"}
        posted = await place.nobody.post(place.messages, json=fields, headers=headers)
        assert posted.status_code == 401
    assert place.count() == 0
    assert place.events == []


async def test_a_token_that_was_reset_is_refused(place: Place) -> None:
    assert (await place.bot.get("/users/@me")).status_code == 200
    place.world.reset_token(place.application.id)
    assert (await place.bot.get("/users/@me")).status_code == 401


async def test_a_bot_is_told_who_it_is(place: Place) -> None:
    me = (await place.bot.get("/users/@me")).json()
    assert me["id"] == str(place.bot_id)
    assert me["bot"] is True
    application = (await place.bot.get("/oauth2/applications/@me")).json()
    assert application["id"] == str(place.application.id)
    assert application["owner"]["id"] == str(place.owner.id)
    assert place.application.token not in str(application)
    assert (await place.bot.get("/applications/@me")).json() == application


async def test_the_gateway_is_named_and_starts_are_counted_down(place: Place) -> None:
    plain = (await place.nobody.get("/gateway")).json()
    assert plain == {"url": f"ws://127.0.0.1:{place.server.port}/gateway"}
    before = (await place.bot.get("/gateway/bot")).json()
    assert before["url"] == plain["url"]
    assert before["shards"] == 1
    limit = before["session_start_limit"]
    assert limit["total"] == limit["remaining"]
    assert limit["max_concurrency"] == 1
    assert place.world.spend_session_start(place.application.id)
    after = (await place.bot.get("/gateway/bot")).json()["session_start_limit"]
    assert after["remaining"] == limit["remaining"] - 1
    assert after["reset_after"] > 0


async def test_an_unknown_path_is_404_as_discord_writes_it(place: Place) -> None:
    for path in ("/nothing", "/channels", "/channels/1/nothing", "/users/@me/x"):
        answer = await place.bot.get(path)
        assert answer.status_code == 404
        assert answer.json() == {"message": "404: Not Found", "code": 0}


async def test_a_wrong_method_is_405(place: Place) -> None:
    answer = await place.bot.put("/users/@me")
    assert answer.status_code == 405
    assert answer.json() == {"message": "405: Method Not Allowed", "code": 0}
    assert "GET" in answer.headers["allow"]


async def test_what_is_not_json_is_refused_and_nothing_is_posted(place: Place) -> None:
    kind = {"content-type": "application/json"}
    for text in (b"{", b"nul", b'{"content": "\\ud800"}', b'{"content": "\xff"}'):
        answer = await place.bot.post(place.messages, content=text, headers=kind)
        assert (answer.status_code, answer.json()["code"]) == (400, 50109), text
    for text in (b"[]", b'"text"', b"1", b"true", b"null"):
        answer = await place.bot.post(place.messages, content=text, headers=kind)
        assert (answer.status_code, answer.json()["code"]) == (400, 50035), text
    assert place.count() == 0


async def test_an_id_that_is_none_is_named(place: Place) -> None:
    full_width = "\N{FULLWIDTH DIGIT ONE}"
    for value in ("x", "1_0", "-1", "99999999999999999999", full_width):
        answer = await place.bot.get(f"/channels/{value}")
        assert (answer.status_code, answer.json()["code"]) == (400, 50035), value
        assert list(answer.json()["errors"]) == ["channel_id"]


async def test_an_id_that_is_nobodys_is_unknown(place: Place) -> None:
    for path, code in (
        ("/channels/1", 10003),
        (f"{place.messages}/1", 10008),
        ("/guilds/1", 10004),
        ("/users/1", 10013),
        (f"/guilds/{place.guild.id}/members/1", 10007),
        ("/webhooks/1", 10015),
    ):
        answer = await place.bot.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, code), path


async def test_a_place_that_a_bot_is_not_in_is_out_of_its_sight(place: Place) -> None:
    other = place.world.create_guild(place.guest.id, "another server")
    channel = place.world.channels(other.id)[0]
    for path in (
        f"/guilds/{other.id}",
        f"/guilds/{other.id}/members",
        f"/channels/{channel.id}",
        f"/channels/{channel.id}/messages",
    ):
        answer = await place.bot.get(path)
        assert (answer.status_code, answer.json()["code"]) == (403, 50001), path
    place.clear()
    posted = await place.bot.post(f"/channels/{channel.id}/messages", json={"content": "x"})
    assert (posted.status_code, posted.json()["code"]) == (403, 50001)
    assert place.events == []
