"""Rate limits as a caller meets them, on a clock that a test moves."""

from clankie.sim.rest.limits import (
    CREATE_MESSAGE,
    GLOBAL_REQUESTS,
    REACTIONS,
    TYPING,
    RateLimits,
    Verdict,
)
from conftest import ManualClock


def ask(
    limits: RateLimits, *, caller: str = "a bot", major: str = "1", times: int = 1
) -> list[Verdict]:
    return [limits.ask(caller, CREATE_MESSAGE, major, counts_globally=True) for _ in range(times)]


def test_five_messages_in_a_channel_are_granted_and_the_sixth_is_told_when(
    clock: ManualClock,
) -> None:
    limits = RateLimits(clock)
    granted = ask(limits, times=5)
    assert [each.headers["x-ratelimit-remaining"] for each in granted] == ["4", "3", "2", "1", "0"]
    clock.advance(1.5)
    refused = ask(limits)[0]
    assert not refused.granted
    assert not refused.is_global
    assert refused.retry_after == 3.5
    assert refused.headers["retry-after"] == "4"
    assert refused.headers["x-ratelimit-reset-after"] == "3.500"
    assert refused.headers["x-ratelimit-scope"] == "user"


def test_whoever_waits_as_told_is_granted(clock: ManualClock) -> None:
    limits = RateLimits(clock)
    ask(limits, times=5)
    clock.advance(ask(limits)[0].retry_after)
    assert ask(limits)[0].granted


def test_another_channel_and_another_bot_have_windows_of_their_own(clock: ManualClock) -> None:
    limits = RateLimits(clock)
    ask(limits, times=5)
    assert ask(limits, major="2")[0].granted
    assert ask(limits, caller="another bot")[0].granted
    assert not ask(limits)[0].granted


def test_a_bucket_has_one_name_everywhere_and_buckets_have_different_ones(
    clock: ManualClock,
) -> None:
    limits = RateLimits(clock)
    here, there = ask(limits)[0], ask(limits, major="2")[0]
    other = limits.ask("a bot", REACTIONS, "1", counts_globally=True)
    assert here.headers["x-ratelimit-bucket"] == there.headers["x-ratelimit-bucket"]
    assert other.headers["x-ratelimit-bucket"] != here.headers["x-ratelimit-bucket"]


def test_reset_is_wall_time_and_reset_after_is_what_is_left(clock: ManualClock) -> None:
    limits = RateLimits(clock)
    headers = ask(limits)[0].headers
    assert float(headers["x-ratelimit-reset"]) == clock.now_ms() / 1_000 + 5
    assert headers["x-ratelimit-reset-after"] == "5.000"


def test_the_wall_clock_set_back_opens_no_window(clock: ManualClock) -> None:
    limits = RateLimits(clock)
    ask(limits, times=5)
    clock.set_wall(0)
    assert not ask(limits)[0].granted


def test_over_all_routes_a_bot_gets_fifty_a_second(clock: ManualClock) -> None:
    limits = RateLimits(clock)
    granted = [
        limits.ask("a bot", TYPING, str(channel), counts_globally=True)
        for channel in range(GLOBAL_REQUESTS)
    ]
    assert all(each.granted for each in granted)
    refused = limits.ask("a bot", TYPING, "next", counts_globally=True)
    assert not refused.granted
    assert refused.is_global
    assert refused.headers["x-ratelimit-global"] == "true"
    assert refused.headers["x-ratelimit-scope"] == "global"
    assert "x-ratelimit-bucket" not in refused.headers
    assert limits.ask("a bot", TYPING, "next", counts_globally=False).granted
    clock.advance(refused.retry_after)
    assert limits.ask("a bot", TYPING, "next", counts_globally=True).granted


def test_a_raised_limit_shows_in_its_headers(clock: ManualClock) -> None:
    limits = RateLimits(clock, factor=1_000)
    verdicts = ask(limits, times=5_000)
    assert all(each.granted for each in verdicts)
    assert verdicts[-1].headers["x-ratelimit-limit"] == "5000"
    assert not ask(limits)[0].granted
