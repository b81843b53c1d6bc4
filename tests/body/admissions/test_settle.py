"""Settling: one outcome per delivery, sealed, by the fence that admitted it."""

import asyncio
from pathlib import Path

import pytest

from body.admissions.support import REPLY, Opener, Place, SqlitePlace, delivery
from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.body.admissions.errors import SettleRefused, StoreUnavailable
from clankie.body.admissions.outcomes import MOST_ROWS
from clankie.body.admissions.states import RULES, State

OUTCOMES = {
    State.REPLY: REPLY,
    State.SILENT: b'{"state":"silent"}',
    State.VOICE: b'{"state":"voice","result":{"text":"","isError":false}}',
    State.FAILED: b'{"state":"failed","code":"unavailable"}',
    State.INTERRUPTED: None,
}


@pytest.mark.parametrize("state", list(OUTCOMES))
async def test_polls_get_the_outcome_byte_for_byte_from_memory_and_from_disk(
    opener: Opener, place: Place, state: State
) -> None:
    store = await opener(place)
    admission = await opener.admit(store)
    assert admission.claim is not None
    await store.settle(admission.claim, state, OUTCOMES[state])
    remembered = await opener.admit(store)
    assert (remembered.state, remembered.result()) == (state, OUTCOMES[state])
    await store.close()
    stored = await opener.admit(await opener(place))
    assert (stored.state, stored.result(), stored.is_new) == (state, OUTCOMES[state], False)


async def test_a_final_outcome_never_changes(opener: Opener, place: Place) -> None:
    store = await opener(place)
    for first, result in OUTCOMES.items():
        admission = await opener.admit(store, first.value)
        assert admission.claim is not None
        await store.settle(admission.claim, first, result)
        before = place.sql("SELECT * FROM body_admissions ORDER BY delivery_id")
        for second, other in OUTCOMES.items():
            if second is not first:
                with pytest.raises(SettleRefused):
                    await store.settle(admission.claim, second, other)
        with pytest.raises(SettleRefused):
            await store.settle(admission.claim, State.REPLY, b'{"state":"reply","text":"other"}')
        assert place.sql("SELECT * FROM body_admissions ORDER BY delivery_id") == before


@pytest.mark.parametrize("count", [1, 2, 3, MOST_ROWS - 1, MOST_ROWS, 2 * MOST_ROWS + 5])
async def test_outcomes_that_settle_together_each_reach_their_own_delivery(
    opener: Opener, place: Place, count: int
) -> None:
    store = await opener(place)
    every = await asyncio.gather(*(opener.admit(store, number) for number in range(count + 1)))
    claims = [admission.claim for admission in every if admission.claim is not None]
    kinds = list(OUTCOMES)
    given = {claim.key: kinds[number % len(kinds)] for number, claim in enumerate(claims[:count])}
    await asyncio.gather(
        *(store.settle(claim, given[claim.key], _outcome(given, claim)) for claim in claims[:count])
    )
    await store.close()
    reopened = await opener(place)
    for claim in claims[:count]:
        stored = await reopened.lookup(claim.key)
        assert stored is not None
        assert (stored.state, stored.result()) == (given[claim.key], _outcome(given, claim))
    untouched = await reopened.lookup(claims[count].key)
    assert untouched is not None
    assert untouched.state is State.INTERRUPTED  # by its owner's end, and by nobody's outcome


def _outcome(given: dict[DeliveryKey, State], claim: Claim) -> bytes | None:
    """The result of a claim's state; a reply that no other delivery gets."""
    state = given[claim.key]
    if state is not State.REPLY:
        return OUTCOMES[state]
    return b'{"state":"reply","text":"%s"}' % claim.key.delivery_id.encode()


async def test_one_of_many_rival_outcomes_wins(opener: Opener, place: Place) -> None:
    store = await opener(place)
    admission = await opener.admit(store)
    claim = admission.claim
    assert claim is not None
    texts = [b'{"state":"reply","text":"%d"}' % number for number in range(10)]
    answers = await asyncio.gather(
        *(store.settle(claim, State.REPLY, text) for text in texts), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 1
    assert (await opener.admit(store)).result() == texts[answers.index(None)]


@pytest.mark.seed("S61")
async def test_the_same_outcome_again_is_no_error(opener: Opener, place: Place) -> None:
    store = await opener(place)
    admission = await opener.admit(store)
    assert admission.claim is not None
    for _ in range(2):
        await store.settle(admission.claim, State.REPLY, REPLY)


async def test_a_claim_nobody_was_given_settles_nothing(opener: Opener, place: Place) -> None:
    store = await opener(place)
    claim = Claim(delivery(), store.health().fence, opener.clock.now_ms() + 1)
    with pytest.raises(SettleRefused):
        await store.settle(claim, State.REPLY, REPLY)
    assert place.sql("SELECT count(*) FROM body_admissions") == "0"


async def test_the_fence_of_a_former_lease_settles_nothing(opener: Opener, place: Place) -> None:
    first = await opener(place)
    admission = await opener.admit(first)
    await first.close()
    second = await opener(place)
    assert admission.claim is not None
    assert second.health().fence > admission.claim.fence
    with pytest.raises(SettleRefused):
        await second.settle(admission.claim, State.REPLY, REPLY)
    assert place.sql("SELECT state FROM body_admissions") == "interrupted"


@pytest.mark.parametrize(
    ("state", "result"),
    [
        (State.PENDING, None),
        (State.PENDING, REPLY),
        (State.REPLY, None),
        (State.INTERRUPTED, REPLY),
    ],
)
async def test_what_the_table_of_states_does_not_allow_is_refused_by_name(
    opener: Opener, sqlite_place: SqlitePlace, state: State, result: bytes | None
) -> None:
    store = await opener(sqlite_place)
    admission = await opener.admit(store)
    assert admission.claim is not None
    with pytest.raises(ValueError, match=state.value):
        await store.settle(admission.claim, state, result)
    assert sqlite_place.sql("SELECT state FROM body_admissions") == "pending"


def test_every_state_is_in_the_table_and_only_pending_may_change() -> None:
    assert set(RULES) == set(State)
    assert [state for state, rule in RULES.items() if not rule.final] == [State.PENDING]


@pytest.mark.seed("S29")
async def test_nothing_of_a_result_is_readable_at_rest(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    store = await opener(sqlite_place)
    admission = await opener.admit(store)
    assert admission.claim is not None
    await store.settle(admission.claim, State.REPLY, REPLY)
    assert not _found(sqlite_place.path.parent, b"MARKER")
    await store.close()
    assert not _found(sqlite_place.path.parent, b"MARKER")


def _found(folder: Path, marker: bytes) -> list[str]:
    return [file.name for file in folder.iterdir() if marker in file.read_bytes()]


async def test_a_result_moved_to_another_row_or_state_does_not_open(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    for number, state in (("a", State.REPLY), ("b", State.REPLY), ("c", State.FAILED)):
        admission = await opener.admit(store, number)
        assert admission.claim is not None
        await store.settle(admission.claim, state, OUTCOMES[state])
    await store.close()
    place.sql(
        "UPDATE body_admissions SET sealed_result = (SELECT sealed_result FROM body_admissions"
        " WHERE delivery_id = 'discord:a') WHERE delivery_id = 'discord:b' RETURNING 1"
    )
    place.sql(
        "UPDATE body_admissions SET state = 'reply' WHERE delivery_id = 'discord:c' RETURNING 1"
    )
    store = await opener(place)
    assert (await opener.admit(store, "a")).result() == REPLY
    for number in ("b", "c"):
        admission = await opener.admit(store, number)
        assert not admission.is_new
        with pytest.raises(StoreUnavailable):
            admission.result()


async def test_another_store_key_opens_nothing(opener: Opener, place: Place) -> None:
    store = await opener(place)
    admission = await opener.admit(store)
    assert admission.claim is not None
    await store.settle(admission.claim, State.REPLY, REPLY)
    await store.close()
    stored = await opener.admit(await opener(place, store_key=b"x" * 32))
    with pytest.raises(StoreUnavailable):
        stored.result()
