"""Commands, interactions and what follows them."""

from typing import Any

import httpx2
import pytest

from clankie.sim.world.entities import Interaction
from sim.rest.places import Place, codes

EPHEMERAL = 64
COMMAND = {"name": "ask", "description": "Ask something", "type": 1}


@pytest.fixture
async def invoked(place: Place) -> Interaction:
    """The guest used the bot's command."""
    made = await place.bot.put(f"/applications/{place.application.id}/commands", json=[COMMAND])
    command_id = int(made.json()[0]["id"])
    interaction = place.world.invoke_command(place.guest.id, place.general.id, command_id)
    place.clear()
    return interaction


async def respond(
    place: Place, interaction: Interaction, kind: int, **data: Any
) -> httpx2.Response:
    return await place.nobody.post(
        f"/interactions/{interaction.id}/{interaction.token}/callback",
        params={"with_response": "1"},
        json={"type": kind, "data": data},
    )


def webhook(place: Place, interaction: Interaction) -> str:
    return f"/webhooks/{place.application.id}/{interaction.token}"


async def test_an_answer_is_a_message_and_nobody_need_sign_in(
    place: Place, invoked: Interaction
) -> None:
    answer = await respond(place, invoked, 4, content="here")
    assert answer.status_code == 200
    body = answer.json()
    message = body["resource"]["message"]
    assert body["resource"]["type"] == 4
    assert body["interaction"]["id"] == str(invoked.id)
    assert body["interaction"]["response_message_id"] == message["id"]
    assert message["content"] == "here"
    assert message["type"] == 20
    assert place.events == ["MESSAGE_CREATE"]
    original = await place.nobody.get(f"{webhook(place, invoked)}/messages/@original")
    assert original.json()["id"] == message["id"]


async def test_without_with_response_there_is_no_answer(place: Place, invoked: Interaction) -> None:
    answer = await place.nobody.post(
        f"/interactions/{invoked.id}/{invoked.token}/callback",
        json={"type": 4, "data": {"content": "here"}},
    )
    assert (answer.status_code, answer.content) == (204, b"")
    assert place.count() == 1


async def test_a_second_answer_is_refused_and_posts_nothing(
    place: Place, invoked: Interaction
) -> None:
    await respond(place, invoked, 4, content="here")
    again = await respond(place, invoked, 4, content="again")
    assert (again.status_code, again.json()["code"]) == (400, 40060)
    assert place.count() == 1


async def test_after_three_seconds_the_interaction_is_unknown(
    place: Place, invoked: Interaction
) -> None:
    place.clock.advance(3.1)
    late = await respond(place, invoked, 4, content="late")
    assert (late.status_code, late.json()["code"]) == (404, 10062)
    wrong = await place.nobody.post(
        f"/interactions/{invoked.id}/wrong/callback", json={"type": 4, "data": {"content": "x"}}
    )
    assert (wrong.status_code, wrong.json()["code"]) == (404, 10062)
    assert place.events == []


async def test_a_deferral_is_filled_in_later_and_followed_up(
    place: Place, invoked: Interaction
) -> None:
    deferred = await respond(place, invoked, 5)
    assert deferred.json()["interaction"]["response_message_loading"] is True
    path = f"{webhook(place, invoked)}/messages/@original"
    place.clock.advance(600)
    filled = await place.nobody.patch(path, json={"content": "done"})
    assert filled.json()["content"] == "done"
    further = await place.nobody.post(
        webhook(place, invoked), params={"wait": "true"}, json={"content": "and more"}
    )
    assert further.json()["content"] == "and more"
    followup = f"{webhook(place, invoked)}/messages/{further.json()['id']}"
    edited = await place.nobody.patch(followup, json={"content": "and less"})
    assert edited.json()["content"] == "and less"
    assert (await place.nobody.get(followup)).json()["content"] == "and less"
    assert (await place.nobody.delete(followup)).status_code == 204
    assert (await place.nobody.delete(path)).status_code == 204
    gone = await place.nobody.get(path)
    assert (gone.status_code, gone.json()["code"]) == (404, 10008)


async def test_after_fifteen_minutes_the_token_is_refused(
    place: Place, invoked: Interaction
) -> None:
    await respond(place, invoked, 5)
    place.clock.advance(901)
    place.clear()
    for late in (
        await place.nobody.post(webhook(place, invoked), json={"content": "late"}),
        await place.nobody.patch(
            f"{webhook(place, invoked)}/messages/@original", json={"content": "late"}
        ),
    ):
        assert (late.status_code, late.json()["code"]) == (401, 50027)
    assert place.events == []


async def test_an_ephemeral_answer_is_for_whoever_asked(place: Place, invoked: Interaction) -> None:
    answer = await respond(place, invoked, 4, content="psst", flags=EPHEMERAL)
    assert answer.json()["interaction"]["response_message_ephemeral"] is True
    assert answer.json()["resource"]["message"]["flags"] & EPHEMERAL
    shown = place.world.history(place.general.id, viewer_id=place.guest.id)
    assert [each.content for each in shown] == ["psst"]
    assert place.world.history(place.general.id, viewer_id=place.owner.id) == []


async def test_a_callback_of_another_type_is_refused(place: Place, invoked: Interaction) -> None:
    wrong: tuple[Any, ...] = (0, 1, 2, 3, 6, 7, 8, 10, "4", None, [4])
    for kind in wrong:
        refused = await respond(place, invoked, kind, content="x")
        assert codes(refused, "type") == ["BASE_TYPE_CHOICES"], kind
    assert (await respond(place, invoked, 4, content="x")).status_code == 200


async def test_an_answer_that_is_too_long_leaves_the_interaction_open(
    place: Place, invoked: Interaction
) -> None:
    refused = await respond(place, invoked, 4, content="x" * 2_001)
    assert (refused.status_code, refused.json()["code"]) == (400, 50035)
    assert (await respond(place, invoked, 4, content="x")).status_code == 200


async def test_commands_are_replaced_listed_changed_and_deleted(place: Place) -> None:
    for path in (
        f"/applications/{place.application.id}/commands",
        f"/applications/{place.application.id}/guilds/{place.guild.id}/commands",
    ):
        made = (await place.bot.put(path, json=[COMMAND, {"name": "Look", "type": 2}])).json()
        assert [each["name"] for each in made] == ["ask", "Look"]
        again = (await place.bot.put(path, json=[COMMAND])).json()
        assert again[0]["id"] == made[0]["id"]
        assert (await place.bot.get(path)).json() == again
        one = f"{path}/{again[0]['id']}"
        changed = await place.bot.patch(one, json={"description": "Ask anything"})
        assert changed.json()["description"] == "Ask anything"
        assert (await place.bot.get(one)).json()["description"] == "Ask anything"
        created = await place.bot.post(path, json=COMMAND | {"name": "new"})
        assert created.status_code == 201
        upserted = await place.bot.post(path, json=COMMAND | {"name": "new"})
        assert (upserted.status_code, upserted.json()["id"]) == (200, created.json()["id"])
        assert (await place.bot.delete(one)).status_code == 204
        gone = await place.bot.get(one)
        assert (gone.status_code, gone.json()["code"]) == (404, 10063)


async def test_a_command_of_the_wrong_form_is_refused_and_all_stay(place: Place) -> None:
    commands = f"/applications/{place.application.id}/commands"
    before = (await place.bot.put(commands, json=[COMMAND])).json()
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"name": "Ask"}, "0.name"),
        ({"name": "a b"}, "0.name"),
        ({"name": ""}, "0.name"),
        ({"name": "x" * 33}, "0.name"),
        ({"description": ""}, "0.description"),
        ({"description": "x" * 101}, "0.description"),
        ({"options": [{}] * 26}, "0.options"),
    )
    for change, path in wrong:
        refused = await place.bot.put(commands, json=[COMMAND | change])
        assert len(codes(refused, path)) == 1
    assert (await place.bot.get(commands)).json() == before


async def test_a_hundred_commands_fit_and_another_ones_are_not_ones_own(place: Place) -> None:
    path = f"/applications/{place.application.id}/commands"
    many = [COMMAND | {"name": f"c{number}"} for number in range(101)]
    refused = await place.bot.put(path, json=many)
    assert (refused.status_code, refused.json()["code"]) == (400, 30032)
    assert len((await place.bot.put(path, json=many[:100])).json()) == 100
    refused = await place.bot.post(path, json=many[100])
    assert (refused.status_code, refused.json()["code"]) == (400, 30032)
    other = place.world.create_application("other", place.owner.id)
    foreign = await place.bot.get(f"/applications/{other.id}/commands")
    assert (foreign.status_code, foreign.json()["code"]) == (403, 20012)


async def test_a_webhooks_message_is_posted_under_its_name_and_changed_by_its_token(
    place: Place,
) -> None:
    hooks = f"/channels/{place.general.id}/webhooks"
    refused = await place.bot.post(hooks, json={"name": "news"})
    assert (refused.status_code, refused.json()["code"]) == (403, 50013)
    made = place.world.create_webhook(place.owner.id, place.general.id, "news")
    path = f"/webhooks/{made.id}/{made.token}"
    place.clear()
    silent = await place.nobody.post(path, json={"content": "one"})
    assert (silent.status_code, silent.content) == (204, b"")
    sent = await place.nobody.post(
        path, params={"wait": "1"}, json={"content": "two", "username": "herald"}
    )
    message = sent.json()
    assert message["webhook_id"] == str(made.id)
    assert message["author"]["username"] == "herald"
    assert place.events == ["MESSAGE_CREATE"] * 2
    one = f"{path}/messages/{message['id']}"
    assert (await place.nobody.patch(one, json={"content": "2"})).json()["content"] == "2"
    assert (await place.nobody.get(one)).json()["content"] == "2"
    assert (await place.nobody.delete(one)).status_code == 204
    wrong = await place.nobody.post(f"/webhooks/{made.id}/wrong", json={"content": "x"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, 50027)
    own = (await place.post(content="not the webhook's")).json()
    foreign = await place.nobody.delete(f"{path}/messages/{own['id']}")
    assert (foreign.status_code, foreign.json()["code"]) == (404, 10008)
    assert place.count() == 2
