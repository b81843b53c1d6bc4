"""Admitting: once per delivery, durably, whatever the caller or its rivals do."""

import asyncio

import pytest

from body.admissions.support import (
    DIGEST,
    OTHER_DIGEST,
    REPLY,
    FakeTurns,
    Opener,
    Place,
    delivery,
    rejected,
)
from clankie.body.admissions.errors import AtCapacity, DeliveryConflict, StoreClosed
from clankie.body.admissions.states import State
from clankie.body.admissions.upkeep import HANDOVER_SECONDS

ROWS = "SELECT delivery_id, state FROM body_admissions ORDER BY delivery_id"
COUNT = "SELECT count(*) FROM body_admissions"


@pytest.mark.seed("S21")
async def test_a_new_delivery_is_stored_before_the_answer(opener: Opener, place: Place) -> None:
    store = await opener(place)
    admission = await opener.admit(store)
    assert admission.is_new
    assert admission.claim is not None
    assert admission.state is State.PENDING
    assert admission.result() is None
    assert place.sql(ROWS) == "discord:1|pending"


@pytest.mark.seed("S22")
async def test_a_thousand_copies_at_once_are_one_new_delivery(opener: Opener, place: Place) -> None:
    store = await opener(place)
    answers = await asyncio.gather(*(opener.admit(store) for _ in range(1_000)))
    assert sum(answer.is_new for answer in answers) == 1
    assert {answer.state for answer in answers} == {State.PENDING}
    assert place.sql(COUNT) == "1"


@pytest.mark.seed("S22")
async def test_asking_again_never_gives_a_second_claim(opener: Opener, place: Place) -> None:
    store = await opener(place)
    first = await opener.admit(store)
    again = await opener.admit(store)
    assert first.is_new
    assert not again.is_new
    assert again.claim is None
    assert again.state is State.PENDING


@pytest.mark.seed("S27")
async def test_another_event_under_a_known_id_is_a_conflict_and_changes_nothing(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    admission = await opener.admit(store)
    before = place.sql("SELECT * FROM body_admissions")
    with pytest.raises(DeliveryConflict):
        await opener.admit(store, digest=OTHER_DIGEST)
    assert place.sql("SELECT * FROM body_admissions") == before
    assert admission.claim is not None
    await store.settle(admission.claim, State.REPLY, REPLY)
    with pytest.raises(DeliveryConflict):
        await opener.admit(store, digest=OTHER_DIGEST)


@pytest.mark.seed("S27")
async def test_of_two_events_with_one_id_at_the_same_moment_one_is_a_conflict(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    answers = await asyncio.gather(
        *(opener.admit(store, digest=digest) for digest in (DIGEST, OTHER_DIGEST) * 5),
        return_exceptions=True,
    )
    refused = rejected(answers)
    assert len(refused) == 5
    assert all(isinstance(error, DeliveryConflict) for error in refused)
    assert place.sql(COUNT) == "1"


async def test_ids_of_other_routes_are_other_deliveries(opener: Opener, place: Place) -> None:
    store = await opener(place)
    expires_at_ms = opener.clock.now_ms() + 300_000
    keys = [delivery()._replace(tenant_id="tn_" + letter * 20) for letter in "abc"]
    answers = await asyncio.gather(
        *(store.admit(key, event_digest=DIGEST, expires_at_ms=expires_at_ms) for key in keys)
    )
    assert all(answer.is_new for answer in answers)


async def test_at_the_bound_new_ids_are_refused_and_known_ones_answered(
    opener: Opener, place: Place
) -> None:
    store = await opener(place, max_admissions=3)
    answers = await asyncio.gather(
        *(opener.admit(store, number) for number in range(5)), return_exceptions=True
    )
    refused = rejected(answers)
    assert len(refused) == 2
    assert all(isinstance(error, AtCapacity) for error in refused)
    assert place.sql(COUNT) == "3"
    assert store.health().code == "at_capacity"
    known = next(answer for answer in answers if not isinstance(answer, BaseException))
    again = await store.admit(known.key, event_digest=DIGEST, expires_at_ms=known.expires_at_ms)
    assert not again.is_new


async def test_the_bound_counts_what_former_processes_stored_and_what_was_purged(
    opener: Opener, place: Place
) -> None:
    first = await opener(place)
    for number in range(3):
        await opener.admit(first, number, life_ms=1_000)
    await first.close()
    store = await opener(place, max_admissions=3)
    with pytest.raises(AtCapacity):
        await opener.admit(store, "late")
    opener.clock.set_wall(opener.clock.now_ms() + 302_000)
    await store.purge()
    assert place.sql(COUNT) == "0"
    assert (await opener.admit(store, "late")).is_new


async def test_a_caller_that_gives_up_harms_no_one_in_its_batch(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    tasks = [asyncio.ensure_future(opener.admit(store, number)) for number in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert len(rejected(answers)) == 10
    assert [answer.is_new for answer in answers[1::2] if not isinstance(answer, BaseException)] == [
        True
    ] * 10
    # Whoever gave up may come back: known or not, nothing waits for ever.
    await store.interrupt_abandoned()
    assert place.sql("SELECT count(*) FROM body_admissions WHERE state = 'pending'") == "10"


@pytest.mark.seed("S25", "S26")
async def test_a_delivery_whose_caller_vanished_after_the_commit_is_interrupted_and_never_new(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    # In one batch, "a" is told first; it then cancels "b", whose answer is there but has not been seen.
    vanishing: list[asyncio.Future[object]] = []

    async def first() -> None:
        await opener.admit(store, "a")
        vanishing[0].cancel()

    task = asyncio.ensure_future(first())
    vanishing.append(asyncio.ensure_future(opener.admit(store, "b")))
    answers = await asyncio.gather(task, vanishing[0], return_exceptions=True)
    assert isinstance(answers[1], asyncio.CancelledError)
    again = await opener.admit(store, "b")
    assert again.state is State.INTERRUPTED
    assert not again.is_new
    assert place.sql(ROWS) == "discord:a|pending\ndiscord:b|interrupted"


async def test_a_claim_that_no_turn_stands_behind_is_interrupted_after_the_handover(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    turns = FakeTurns()
    turns.running.add(delivery("runs"))
    store.attach(turns)
    await opener.admit(store, "runs")
    await opener.admit(store, "forgotten")
    await store.interrupt_abandoned()
    assert "interrupted" not in place.sql(ROWS)
    opener.clock.advance(HANDOVER_SECONDS)
    await store.interrupt_abandoned()
    assert place.sql(ROWS) == "discord:forgotten|interrupted\ndiscord:runs|pending"


@pytest.mark.seed("S25", "S26")
async def test_after_a_restart_what_was_pending_is_interrupted_and_the_rest_is_known(
    opener: Opener, place: Place
) -> None:
    first = await opener(place)
    answered = await opener.admit(first, "answered")
    await opener.admit(first, "unfinished")
    assert answered.claim is not None
    await first.settle(answered.claim, State.REPLY, REPLY)
    await first.close()
    second = await opener(place)
    known = await opener.admit(second, "answered")
    assert not known.is_new
    assert known.state is State.REPLY
    assert known.result() == REPLY
    lost = await opener.admit(second, "unfinished")
    assert not lost.is_new
    assert lost.state is State.INTERRUPTED


async def test_looking_up_answers_as_admitting_does_and_stores_nothing(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    assert await store.lookup(delivery()) is None
    assert place.sql(COUNT) == "0"
    await opener.admit(store)
    found = await store.lookup(delivery())
    assert found is not None
    assert found.state is State.PENDING
    assert not found.is_new


async def test_a_closed_store_says_so_and_a_second_close_is_harmless(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    await store.close()
    await store.close()
    with pytest.raises(StoreClosed):
        await opener.admit(store)
    assert store.health().code == "closed"
    assert place.sql(COUNT) == "0"


async def test_closing_commits_what_waits(opener: Opener, place: Place) -> None:
    store = await opener(place)
    waiting = [asyncio.ensure_future(opener.admit(store, number)) for number in range(50)]
    await asyncio.sleep(0)
    await store.close()
    assert all(answer.is_new for answer in await asyncio.gather(*waiting))
    assert place.sql(COUNT) == "50"
    assert place.sql("SELECT count(*) FROM body_admissions WHERE state = 'pending'") == "0"
