"""The scheduler against a plain model of what it promises, over arbitrary histories."""

from collections import Counter, defaultdict

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from body.turns.harness import event, key_of
from clankie.body.admissions.contracts import Claim
from clankie.body.turns.contracts import AdmittedTurn, RunnerLimits, SessionName
from clankie.body.turns.errors import IllegalMove, QueueFull
from clankie.body.turns.job import Job
from clankie.body.turns.rooms import Rooms
from clankie.body.turns.states import NEXT, TurnState

SLOTS, SHARE, ROOM_QUEUE, TOTAL_QUEUE = 3, 2, 4, 8


def job(number: int, channel: str, owner: bool) -> Job:
    made = event(f"d{number}", channel_id=channel)
    return Job(AdmittedTurn(Claim(key_of(f"d{number}"), 1, 1), made, owner, lambda: True), 0.0)


class AnyHistory(RuleBasedStateMachine):
    """Pushes, takes, leavings and withdrawals in any order."""

    running = Bundle("running")
    waiting = Bundle("waiting")

    def __init__(self) -> None:
        super().__init__()
        self.rooms = Rooms(
            RunnerLimits(
                concurrency=SLOTS, room_share=SHARE, room_queue=ROOM_QUEUE, total_queue=TOTAL_QUEUE
            )
        )
        self.arrived = 0
        self.queues: dict[SessionName, list[Job]] = defaultdict(list)
        self.slots: set[Job] = set()
        self.holders: dict[SessionName, Job] = {}
        self.passed_over: Counter[str] = Counter()

    @rule(target=waiting, channel=st.sampled_from("123"), owner=st.booleans())
    def push(self, channel: str, owner: bool) -> object:
        self.arrived += 1
        new = job(self.arrived, channel, owner)
        waiting = [one for queue in self.queues.values() for one in queue]
        in_room = [one for one in waiting if one.room == new.room]
        if len(in_room) >= ROOM_QUEUE or len(waiting) >= TOTAL_QUEUE:
            with pytest.raises(QueueFull):
                self.rooms.push(new)
            return multiple()
        self.rooms.push(new)
        self.queues[new.session].append(new)
        return new

    @rule(target=running)
    def take(self) -> object:
        may = {
            queue[0].room for queue in self.queues.values() if queue and self.may_start(queue[0])
        }
        taken = self.rooms.take()
        if taken is None:
            assert not may, "a room with a free lane was left standing"
            return multiple()
        assert taken.room in may
        assert self.queues[taken.session].pop(0) is taken, "a session's turns keep their order"
        self.slots.add(taken)
        self.holders[taken.session] = taken
        for room in may - {taken.room}:
            self.passed_over[room.channel_id] += 1
        self.passed_over[taken.room.channel_id] = 0
        return taken

    @rule(one=running)
    def leave(self, one: Job) -> None:
        if one in self.slots:
            self.slots.remove(one)
            if self.holders.get(one.session) is one:
                del self.holders[one.session]
            self.rooms.leave(one)

    @rule(one=running)
    def leave_slot(self, one: Job) -> None:
        if one in self.slots:
            self.slots.remove(one)
            self.rooms.leave_slot(one)

    @rule(one=running)
    def leave_lane(self, one: Job) -> None:
        if self.holders.get(one.session) is one:
            del self.holders[one.session]
        self.rooms.leave_lane(one)  # also by one that left it before: nothing happens then

    @rule(one=waiting)
    def withdraw(self, one: Job) -> None:
        if one in self.queues[one.session]:
            self.queues[one.session].remove(one)
            self.rooms.withdraw(one)

    def may_start(self, one: Job) -> bool:
        in_room = sum(other.room == one.room for other in self.slots)
        return len(self.slots) < SLOTS and in_room < SHARE and one.session not in self.holders

    @invariant()
    def counts_agree(self) -> None:
        assert self.rooms.running == len(self.slots) <= SLOTS
        assert self.rooms.queued == sum(map(len, self.queues.values()))
        assert set(self.rooms.waiting()) == {one for all_ in self.queues.values() for one in all_}

    @invariant()
    def no_room_is_passed_over_for_more_than_a_round(self) -> None:
        # Three rooms: each of the other two may be served once before it, and once more while it was not ready.
        assert all(times <= 4 for times in self.passed_over.values())

    @invariant()
    def only_rooms_with_turns_are_remembered(self) -> None:
        rooms = {one.room for one in self.slots} | {one.room for one in self.holders.values()}
        rooms |= {queue[0].room for queue in self.queues.values() if queue}
        assert len(self.rooms) == len(rooms)


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def test_every_room_gets_a_slot_before_any_room_gets_a_second_one() -> None:
    rooms = Rooms(RunnerLimits(concurrency=1))
    for number in range(30):
        rooms.push(job(number, channel=str(number % 10 if number < 10 else 0), owner=False))
    served = []
    for _ in range(10):
        taken = rooms.take()
        assert taken is not None
        served.append(taken.room.channel_id)
        rooms.leave(taken)
    assert sorted(served) == [str(number) for number in range(10)]


@pytest.mark.parametrize("state", TurnState)
def test_a_turn_goes_only_where_the_table_of_states_leads(state: TurnState) -> None:
    for target in TurnState:
        one = job(1, "1", owner=False)
        one.state = state
        if target in NEXT[state]:
            one.move(target)
            assert one.state is target
        else:
            with pytest.raises(IllegalMove):
                one.move(target)
            assert one.state is state


def test_every_state_but_the_last_leads_somewhere_and_the_last_nowhere() -> None:
    assert {state for state in TurnState if not NEXT[state]} == {TurnState.DONE}
