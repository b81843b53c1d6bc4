"""What the outbox asks of Discord, by discord.py against the simulator: each request once, its answer as it is."""

import pytest

from clankie.discord.posting import Step, after_answer
from clankie.discord.replies import plan_reply
from clankie.edge.discord import commands
from clankie.edge.discord.poster import Poster
from clankie.edge.outbox.contracts import Discord, Interaction, PostAnswer
from clankie.sim.faults import FaultKind, RateLimitScope
from edge.discord.talking import Heard, Talk, connected


def step(answer: PostAnswer, *, linked: bool = False) -> Step:
    return after_answer(
        answer.status,
        code=answer.code,
        retry_after=answer.retry_after,
        is_global=answer.is_global,
        linked=linked,
    )


async def test_a_post_is_made_once_however_often_it_is_tried_and_pings_nobody(talk: Talk) -> None:
    async with connected(talk, Heard()) as connection:
        poster: Discord = Poster(connection.rest, connection.bot_user_id)
        asked = talk.say("question")
        (post,) = plan_reply(
            f"@everyone <@{talk.person().id}>",
            delivery_id=f"discord:{asked.id}",
            channel_id=str(talk.general.id),
            reply_to=str(asked.id),
        ).posts
        first = await poster.post(post.channel_id, post.create_body())
        second = await poster.post(post.channel_id, post.create_body())
        (posted,) = talk.posted()
        assert (first.status, first.message_id) == (200, str(posted.id))
        assert second.message_id == first.message_id
        assert posted.reference is not None
        assert posted.reference.message_id == asked.id
        assert (posted.mention_ids, posted.mention_everyone) == ((), False)
        (own,) = await poster.history_after(post.channel_id, str(asked.id)) or ()
        assert (own.id, own.content, own.reply_to) == (
            str(posted.id),
            post.content,
            str(asked.id),
        )


@pytest.mark.parametrize(
    ("seconds", "scope", "expected"),
    [(0.3, "user", Step.WAIT), (900.0, "user", Step.OUTBOX), (0.3, "global", Step.OUTBOX)],
)
async def test_a_limit_comes_back_at_once_and_nothing_is_posted(
    talk: Talk, seconds: float, scope: RateLimitScope, expected: Step
) -> None:
    async with connected(talk, Heard()) as connection:
        poster = Poster(connection.rest, connection.bot_user_id)
        talk.sim.faults.set(FaultKind.RATE_LIMIT, count=1, seconds=seconds, scope=scope)
        answer = await poster.post(str(talk.general.id), {"content": "one"})
        assert (answer.status, step(answer)) == (429, expected)
        assert talk.posted() == []
        again = await poster.post(str(talk.general.id), {"content": "two"})
        assert step(again) is Step.POSTED


async def test_a_server_error_comes_back_at_once_as_uncertain(talk: Talk) -> None:
    async with connected(talk, Heard()) as connection:
        poster = Poster(connection.rest, connection.bot_user_id)
        talk.sim.faults.set(FaultKind.SERVER_ERROR, count=1, status=502)
        answer = await poster.post(str(talk.general.id), {"content": "one"})
        assert (answer.status, step(answer)) == (502, Step.UNCERTAIN)
        assert talk.posted() == []


async def test_a_channel_that_is_closed_to_us_is_refused_and_unreadable(talk: Talk) -> None:
    async with connected(talk, Heard()) as connection:
        poster = Poster(connection.rest, connection.bot_user_id)
        hidden = next(
            each for each in talk.world.channels(talk.guild.id) if each.name == "owners-only"
        )
        answer = await poster.post(str(hidden.id), {"content": "one"})
        assert step(answer) is Step.REFUSED
        assert await poster.history_after(str(hidden.id), "1") is None
        gone = await poster.post("1", {"content": "one"})
        assert (gone.status, gone.code) == (404, 10003)


async def test_typing_shows_and_its_failure_is_nobodys_concern(talk: Talk) -> None:
    heard = []
    end = talk.world.subscribe(lambda dispatch: heard.append(dispatch.event))
    async with connected(talk, Heard()) as connection:
        poster = Poster(connection.rest, connection.bot_user_id)
        await poster.typing(str(talk.general.id))
        await poster.typing("1")
    end()
    assert heard.count("TYPING_START") == 1


async def test_an_acknowledged_command_is_answered_in_its_place_and_then_below(talk: Talk) -> None:
    heard = Heard()
    async with connected(talk, heard) as connection:
        assert await commands.register(connection.rest, connection.application_id) is True
        (command,) = talk.world.commands(talk.sim.bots[0].id, None)
        talk.world.invoke_command(
            talk.person().id, talk.general.id, command.id, [{"type": 1, "name": "new"}]
        )
        (payload,) = await heard.until("INTERACTION_CREATE")
        interaction = Interaction(
            id=payload["id"],
            application_id=payload["application_id"],
            token=payload["token"],
            follow_up_before_ms=2**50,
        )
        path = f"/interactions/{payload['id']}/{payload['token']}/callback"
        assert (await connection.rest.call_with_token("POST", path, {"type": 5})).ok
        poster = Poster(connection.rest, connection.bot_user_id)
        posts = plan_reply(
            "a" * 3_000,
            delivery_id=f"discord:{payload['id']}",
            channel_id=str(talk.general.id),
            reply_to=None,
        ).posts
        for post in posts:
            answer = await poster.follow_up(interaction, post.create_body(), first=post.index == 0)
            assert step(answer) is Step.POSTED
        assert [len(each.content) for each in talk.posted()] == [
            len(each.content) for each in posts
        ]
        assert step(await poster.clear_deferred(interaction)) is Step.POSTED
        assert len(talk.posted()) == 1


async def test_commands_are_written_once_and_others_are_left_alone(talk: Talk) -> None:
    application = talk.sim.bots[0]
    talk.world.set_commands(application.id, None, [{"name": "other", "description": "x"}])
    async with connected(talk, Heard()) as connection:
        assert await commands.register(connection.rest, connection.application_id) is True
        assert await commands.register(connection.rest, connection.application_id) is False
        names = {each.name for each in talk.world.commands(application.id, None)}
        assert names == {"other", "clankie"}


async def test_commands_that_cannot_be_written_stop_nothing(talk: Talk) -> None:
    async with connected(talk, Heard()) as connection:
        talk.sim.faults.set(FaultKind.SERVER_ERROR, count=1, status=503)
        assert await commands.register(connection.rest, connection.application_id) is None


def test_what_each_command_says_to_the_body() -> None:
    def used(*options: object, name: str = "clankie") -> str | None:
        return commands.content_of({"data": {"name": name, "options": list(options)}})

    text = {"type": 3, "name": "text", "value": "how are you?"}
    assert used({"type": 1, "name": "ask", "options": [text]}) == "how are you?"
    assert used({"type": 1, "name": "stop"}) == "/stop"
    assert used({"type": 1, "name": "new"}) == "/new"
    assert used({"type": 1, "name": "other"}) is None
    assert used({"type": 1, "name": "stop"}, name="other") is None
    assert used() is None
