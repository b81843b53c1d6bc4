"""Replicas on one PostgreSQL: one claim among them, one end for what a lost replica left, no word from the grave.

A replica is a store here; what a whole frozen process does is tested with whole processes.
"""

import asyncio

import pytest

from body.admissions.support import (
    REPLY,
    FakeTurns,
    Opener,
    PostgresPlace,
    Wire,
    until,
)
from clankie.body.admissions.errors import AtCapacity, LeaseNotHeld, SettleRefused, WrongKeys
from clankie.body.admissions.states import State
from clankie.runtime.clock import SystemClock

END_LEASES = "UPDATE body_replicas SET held_until_ms = 0"
STATES = "SELECT delivery_id, state FROM body_admissions ORDER BY delivery_id"


async def test_copies_that_reach_two_replicas_at_once_are_one_new_delivery(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    replicas = [await opener(postgres_place) for _ in range(2)]
    for number in range(20):
        answers = await asyncio.gather(
            *(opener.admit(replica, number) for replica in replicas for _ in range(5))
        )
        assert sum(answer.is_new for answer in answers) == 1
    assert postgres_place.sql("SELECT count(*) FROM body_admissions") == "20"


async def test_another_replica_sees_a_delivery_pending_and_then_its_outcome(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    owner, other = await opener(postgres_place), await opener(postgres_place)
    admission = await opener.admit(owner)
    assert (await opener.admit(other)).state is State.PENDING
    assert admission.claim is not None
    await owner.settle(admission.claim, State.REPLY, REPLY)
    assert (await opener.admit(other)).result() == REPLY


async def test_every_lease_has_a_higher_fence_and_every_replica_its_own_id(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    healths = [(await opener(postgres_place)).health() for _ in range(3)]
    fences = [health.fence for health in healths]
    assert fences == sorted(set(fences))
    assert len({health.replica_id for health in healths}) == 3


@pytest.mark.seed("S25", "S26")
async def test_what_a_dead_replica_left_is_interrupted_once_and_its_late_word_refused(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    # To the frozen replica no time has passed: its own clock and timers still say that it holds the lease.
    frozen, other = await opener(postgres_place), await opener(postgres_place)
    admission = await opener.admit(frozen)
    postgres_place.sql(f"{END_LEASES} WHERE fence = {frozen.health().fence}")
    seen = await opener.admit(other)
    assert seen.state is State.INTERRUPTED
    assert not seen.is_new
    assert admission.claim is not None
    with pytest.raises(SettleRefused):
        await frozen.settle(admission.claim, State.REPLY, REPLY)
    assert postgres_place.sql(STATES) == "discord:1|interrupted"


async def test_a_late_word_is_refused_also_when_nobody_has_ended_the_delivery_yet(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    frozen = await opener(postgres_place)
    admission = await opener.admit(frozen)
    postgres_place.sql(END_LEASES)
    assert admission.claim is not None
    with pytest.raises(SettleRefused):
        await frozen.settle(admission.claim, State.REPLY, REPLY)
    assert postgres_place.sql("SELECT count(*) FROM body_admissions WHERE state = 'reply'") == "0"


async def test_a_replica_whose_lease_is_over_admits_nothing_even_if_it_does_not_know(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    frozen = await opener(postgres_place)
    postgres_place.sql(END_LEASES)
    with pytest.raises(LeaseNotHeld):
        await opener.admit(frozen)
    assert postgres_place.sql("SELECT count(*) FROM body_admissions") == "0"


async def test_the_background_ends_what_a_dead_replica_left_without_being_asked(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    dead, _other = await opener(postgres_place), await opener(postgres_place)
    await opener.admit(dead)
    postgres_place.sql(f"{END_LEASES} WHERE fence = {dead.health().fence}")

    async def ended() -> bool:
        return "interrupted" in postgres_place.sql(STATES)

    await until(ended)
    assert postgres_place.sql("SELECT count(*) FROM body_replicas WHERE held_until_ms = 0") == "0"


async def test_a_live_lease_is_renewed_and_its_deliveries_are_left_alone(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    owner = await opener(postgres_place, lease_seconds=0.6)
    other = await opener(postgres_place)
    await opener.admit(owner)
    held_until = "SELECT held_until_ms FROM body_replicas ORDER BY fence LIMIT 1"
    first = int(postgres_place.sql(held_until))

    async def renewed_past_its_first_end() -> bool:
        return int(postgres_place.sql(held_until)) > first + 600

    await until(renewed_past_its_first_end)
    assert (await opener.admit(other)).state is State.PENDING
    assert owner.health().fence == 1


async def test_a_replica_that_cannot_renew_stops_its_turns_before_the_lease_is_over(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    store, turns = await opener(postgres_place), FakeTurns()
    store.attach(turns)
    admission = await opener.admit(store)
    assert admission.claim is not None
    opener.clock.advance(7.9)
    assert store.health().ok
    opener.clock.advance(0.2)
    assert store.health().code == "lease_not_held"
    assert turns.lost.is_set()
    still_held = "held_until_ms > extract(epoch FROM clock_timestamp()) * 1000"
    assert postgres_place.sql(f"SELECT {still_held} FROM body_replicas") == "t"  # noqa: S608  ours
    with pytest.raises(SettleRefused):
        await store.settle(admission.claim, State.REPLY, REPLY)
    with pytest.raises(LeaseNotHeld):
        await opener.admit(store, "new")
    assert postgres_place.sql(STATES) == "discord:1|pending"


async def test_a_replica_cut_off_loses_its_lease_and_comes_back_with_a_higher_fence(
    opener: Opener, postgres_place: PostgresPlace, wire: Wire
) -> None:
    url = postgres_place.server.url(postgres_place.name, wire.port)
    store, turns = await opener(url, lease_seconds=1.0, clock=SystemClock()), FakeTurns()
    store.attach(turns)
    other = await opener(postgres_place)
    admission = await opener.admit(store)
    old_fence = store.health().fence
    wire.hold()
    await asyncio.wait_for(turns.lost.wait(), 10)
    assert store.health().code == "lease_not_held"

    async def interrupted() -> bool:
        return (await opener.admit(other)).state is State.INTERRUPTED

    await until(interrupted)
    wire.let_go()

    async def back() -> bool:
        return store.health().fence > old_fence

    await until(back)
    assert admission.claim is not None
    with pytest.raises(SettleRefused):
        await store.settle(admission.claim, State.REPLY, REPLY)
    assert postgres_place.sql(STATES) == "discord:1|interrupted"


async def test_one_replica_at_a_time_holds_the_tunnel(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    first, second = await opener(postgres_place), await opener(postgres_place)
    assert await first.try_lease("tunnel")
    assert not await second.try_lease("tunnel")
    assert await first.try_lease("tunnel")
    assert await second.try_lease("another")
    await first.release_lease("tunnel")
    assert await second.try_lease("tunnel")
    assert not await first.try_lease("tunnel")


async def test_of_many_that_want_the_tunnel_first_one_gets_it(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    stores = [await opener(postgres_place) for _ in range(4)]
    answers = await asyncio.gather(*(store.try_lease("tunnel") for store in stores))
    assert sum(answers) == 1


async def test_the_tunnel_goes_to_another_when_its_holder_closes_or_falls_silent(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    first, second, third = [await opener(postgres_place) for _ in range(3)]
    assert await first.try_lease("tunnel")
    await first.close()
    assert await second.try_lease("tunnel")
    postgres_place.sql("UPDATE body_store_leases SET held_until_ms = 0")
    assert await third.try_lease("tunnel")


async def test_a_replica_without_a_live_lease_gets_no_tunnel(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    store = await opener(postgres_place)
    postgres_place.sql(END_LEASES)
    assert not await store.try_lease("tunnel")
    opener.clock.advance(60)
    assert not await store.try_lease("tunnel")


async def test_replicas_with_other_keys_are_refused_and_told_what_to_do(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    await opener(postgres_place)
    with pytest.raises(WrongKeys) as refused:
        await opener(postgres_place, fingerprint="other keys")
    assert "credentials" in refused.value.next_step
    assert postgres_place.sql("SELECT fingerprint FROM body_store") == "keys-of-this-body"
    assert postgres_place.sql("SELECT count(*) FROM body_replicas") == "1"


async def test_replicas_that_start_together_on_an_empty_database_all_come_up(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    stores = await asyncio.gather(*(opener(postgres_place) for _ in range(3)))
    answers = await asyncio.gather(*(opener.admit(store) for store in stores))
    assert sum(answer.is_new for answer in answers) == 1


async def test_replicas_share_the_bound(opener: Opener, postgres_place: PostgresPlace) -> None:
    first = await opener(postgres_place, max_admissions=4)
    second = await opener(postgres_place, max_admissions=4)
    for number in range(4):
        await opener.admit((first, second)[number % 2], number)
    for store in (first, second):
        with pytest.raises(AtCapacity):
            await opener.admit(store, "more")
    assert postgres_place.sql("SELECT count(*) FROM body_admissions") == "4"


async def test_two_replicas_that_purge_together_leave_nothing_and_do_not_disturb_each_other(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    first, second = await opener(postgres_place), await opener(postgres_place)
    await asyncio.gather(
        *(opener.admit((first, second)[n % 2], n, life_ms=1_000) for n in range(700))
    )
    opener.clock.set_wall(opener.clock.now_ms() + 302_000)
    await asyncio.gather(first.purge(), second.purge())
    await first.purge()
    assert postgres_place.sql("SELECT count(*) FROM body_admissions") == "0"
    for store in (first, second):
        await store.close()
    assert postgres_place.sql("SELECT stored FROM body_store") == "0"
