"""Limits and errors of REST, as an unmodified client takes them: each message is there once, or not at all."""

import asyncio
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest

import discord
from clankie.sim.faults import FaultKind
from sim.bots.town import Bot, Scene, Town, connected, point_discord_at, simulator


@pytest.fixture
async def limited(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """A simulator with Discord's own limits."""
    async with simulator(limit_factor=1) as role:
        point_discord_at(monkeypatch, role.origin)
        town, bot = Town(role), Bot()
        async with connected(town, bot, bot.heard):
            yield Scene(town, bot)


async def test_a_client_keeps_to_the_limit_by_the_headers_alone(
    limited: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    begun = time.monotonic()
    for number in range(6):
        await limited.general.send(str(number))
    assert time.monotonic() - begun > 4
    assert [message.content for message in limited.town.said()] == list("012345")
    assert "429" not in caplog.text  # it waited by itself


@pytest.mark.parametrize("scope", ["user", "shared", "global"])
async def test_a_429_is_waited_for_and_the_message_is_there_once(
    scene: Scene, caplog: pytest.LogCaptureFixture, scope: str
) -> None:
    scene.town.faults.set(FaultKind.RATE_LIMIT, seconds=0.05, count=2, scope=scope)  # type: ignore[arg-type]
    sent = await scene.general.send("once")
    await scene.fence()
    assert [message.id for message in scene.town.said()] == [sent.id]
    assert [message.id for message in scene.heard.all("message")] == [sent.id]
    assert caplog.text.count("responded with 429") == 2
    assert ("Global rate limit" in caplog.text) == (scope == "global")


async def test_a_5xx_that_a_client_tries_again_after_ends_in_one_message(scene: Scene) -> None:
    scene.town.faults.set(FaultKind.SERVER_ERROR, status=502, route="POST /api/v10/channels/")
    sent = await scene.general.send("once")
    await scene.fence()
    assert [message.id for message in scene.heard.all("message")] == [sent.id]
    assert len(scene.town.said()) == 1


async def test_a_5xx_that_it_gives_up_on_posts_nothing(scene: Scene) -> None:
    scene.town.faults.set(FaultKind.SERVER_ERROR, status=503)
    with pytest.raises(discord.DiscordServerError) as refused:
        await scene.general.send("never")
    assert refused.value.status == 503
    await scene.fence()
    assert scene.town.said() == scene.heard.all("message") == []


async def test_a_limit_too_long_to_wait_for_is_an_error_and_posts_nothing(town: Town) -> None:
    async with discord.Client(
        intents=discord.Intents.none(), max_ratelimit_timeout=30
    ) as impatient:
        await impatient.login(town.application.token)
        town.faults.set(FaultKind.RATE_LIMIT, seconds=60)
        channel = impatient.get_partial_messageable(town.general.id)
        with pytest.raises(discord.RateLimited) as refused:
            await channel.send("never")
        assert refused.value.retry_after == 60
    assert town.said() == []


async def test_every_answer_says_what_is_left(limited: Scene) -> None:
    url = f"{limited.town.sim.origin}/api/v10/channels/{limited.town.general.id}/messages"
    token = {"authorization": f"Bot {limited.town.application.token}"}
    left = []
    async with aiohttp.ClientSession(headers=token) as session:
        for number in range(7):
            async with session.post(url, json={"content": str(number)}) as answer:
                body = await answer.json()
                left.append((answer.status, answer.headers["X-RateLimit-Remaining"]))
                assert answer.headers["X-RateLimit-Limit"] == "5"
                assert answer.headers["X-RateLimit-Bucket"]
                assert 0 < float(answer.headers["X-RateLimit-Reset-After"]) <= 5
                reset = float(answer.headers["X-RateLimit-Reset"])
                assert abs(reset - time.time()) < 6
    assert left == [(200, str(each)) for each in (4, 3, 2, 1, 0)] + [(429, "0")] * 2
    assert body["global"] is False
    assert answer.headers["X-RateLimit-Scope"] == "user"
    assert float(answer.headers["Retry-After"]) >= body["retry_after"]
    assert [message.content for message in limited.town.said()] == list("01234")


async def test_many_at_once_from_one_client_all_arrive_once(scene: Scene) -> None:
    texts = [str(number) for number in range(100)]
    scene.town.faults.set(FaultKind.RATE_LIMIT, seconds=0.02, count=4)
    await asyncio.gather(*(scene.general.send(text) for text in texts))
    await scene.heard.until(lambda: len(scene.heard.messages()) >= len(texts))
    await scene.fence()
    assert sorted(scene.heard.messages(), key=int) == texts
