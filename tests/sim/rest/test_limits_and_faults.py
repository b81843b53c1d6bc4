"""Rate limits and faults as HTTP shows them: what is refused is not done."""

from typing import get_args

from clankie.sim.faults import FaultKind, RateLimitScope
from sim.rest.places import Place


async def test_the_sixth_message_in_five_seconds_is_refused_and_not_posted(limited: Place) -> None:
    for left in range(5):
        granted = await limited.post(content="x")
        assert granted.headers["x-ratelimit-remaining"] == str(4 - left)
    refused = await limited.post(content="x")
    assert refused.status_code == 429
    body = refused.json()
    assert body == {
        "message": "You are being rate limited.",
        "retry_after": 5.0,
        "global": False,
        "code": 0,
    }
    assert refused.headers["retry-after"] == "5"
    assert refused.headers["x-ratelimit-scope"] == "user"
    assert refused.headers["via"]
    assert refused.headers["x-ratelimit-bucket"] == granted.headers["x-ratelimit-bucket"]
    assert limited.count() == 5
    assert limited.events == ["MESSAGE_CREATE"] * 5
    limited.clock.advance(body["retry_after"])
    assert (await limited.post(content="x")).status_code == 200


async def test_a_refused_body_counts_and_a_refused_token_does_not(limited: Place) -> None:
    wrong = await limited.post(content="")
    assert (wrong.status_code, wrong.headers["x-ratelimit-remaining"]) == (400, "4")
    stranger = await limited.nobody.post(limited.messages, json={"content": "x"})
    assert "x-ratelimit-remaining" not in stranger.headers
    assert (await limited.post(content="x")).headers["x-ratelimit-remaining"] == "3"


async def test_fifty_requests_a_second_are_a_bots_whole_share(limited: Place) -> None:
    channels = [
        limited.world.create_channel(limited.owner.id, limited.guild.id, f"c{number}").id
        for number in range(51)
    ]
    limited.clear()
    answers = [await limited.bot.post(f"/channels/{each}/typing") for each in channels]
    assert [each.status_code for each in answers] == [204] * 50 + [429]
    assert answers[-1].json()["global"] is True
    assert answers[-1].headers["x-ratelimit-global"] == "true"
    assert limited.events == ["TYPING_START"] * 50
    assert (await limited.nobody.get("/gateway")).status_code == 200


async def test_a_rate_limit_that_was_switched_on_refuses_once_and_posts_nothing(
    place: Place,
) -> None:
    for scope in get_args(RateLimitScope):
        place.faults.set(FaultKind.RATE_LIMIT, seconds=0.25, scope=scope)
        refused = await place.post(content="x")
        assert refused.status_code == 429
        assert refused.json()["retry_after"] == 0.25
        assert refused.json()["global"] is (scope == "global")
        assert refused.headers["x-ratelimit-scope"] == scope
        assert refused.headers["via"]
    assert place.count() == 0
    assert place.events == []
    assert (await place.post(content="x")).status_code == 200


async def test_a_server_error_that_was_switched_on_posts_nothing_until_cleared(
    place: Place,
) -> None:
    fault = place.faults.set(FaultKind.SERVER_ERROR, count=None, status=503)
    for _ in range(2):
        failed = await place.post(content="x")
        assert failed.status_code == 503
        assert failed.json() == {"message": "503: Service Unavailable", "code": 0}
    assert place.count() == 0
    assert place.events == []
    place.faults.clear(fault.id)
    assert (await place.post(content="x")).status_code == 200


async def test_a_fault_meets_only_the_application_and_route_it_is_for(place: Place) -> None:
    other = place.world.create_application("other", place.owner.id)
    place.faults.set(FaultKind.SERVER_ERROR, application_id=other.id)
    place.faults.set(
        FaultKind.SERVER_ERROR, application_id=place.application.id, route="GET /api/v10/gateway"
    )
    assert (await place.post(content="x")).status_code == 200
    assert (await place.bot.get("/gateway/bot")).status_code == 500
    async with place.client(f"Bot {other.token}") as theirs:
        assert (await theirs.get("/users/@me")).status_code == 500
        assert (await theirs.get("/users/@me")).status_code == 200


async def test_a_fault_of_an_application_meets_its_interactions_though_nobody_signs_in(
    place: Place,
) -> None:
    command = place.world.put_command(
        place.application.id, None, {"name": "ask", "description": "Ask"}
    )
    used = place.world.invoke_command(place.guest.id, place.general.id, command.id)
    answer = {"type": 4, "data": {"content": "x"}}
    path = f"/interactions/{used.id}/{used.token}/callback"
    place.faults.set(FaultKind.SERVER_ERROR, application_id=place.application.id, count=1)
    assert (await place.nobody.post(path, json=answer)).status_code == 500
    assert place.count() == 0
    assert (await place.nobody.post(path, json=answer)).status_code == 204
    place.faults.set(FaultKind.RATE_LIMIT, application_id=place.application.id, count=1)
    followup = f"/webhooks/{place.application.id}/{used.token}"
    assert (await place.nobody.post(followup, json={"content": "x"})).status_code == 429
    assert place.count() == 1
