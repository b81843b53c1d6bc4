"""Who runs next: a slot goes to each room in turn, and within a session in order of arrival.

Pure bookkeeping: no task, no clock. A room has a lane for each of its sessions; a lane is held by the turn
that runs in it. Rooms with something to run stand in a ring; the room at the front gives one turn and goes to the
back, so a room with a thousand waiting turns gets no more than a room with one.
"""

from collections import deque
from collections.abc import Iterator

from clankie.body.turns.contracts import RunnerLimits, SessionName
from clankie.body.turns.errors import QueueFull
from clankie.body.turns.job import Job, RoomKey


class Lane:
    """One session's turns: who runs, and who waits in order of arrival."""

    __slots__ = ("holder", "room", "session", "waiting")

    def __init__(self, room: "Room", session: SessionName) -> None:
        self.room = room
        self.session = session
        self.holder: Job | None = None
        self.waiting: deque[Job] = deque()


class Room:
    """One room's lanes and running turns. `in_ring` says whether it stands in the ring."""

    __slots__ = ("in_ring", "key", "lanes", "running")

    def __init__(self, key: RoomKey) -> None:
        self.key = key
        self.lanes: dict[SessionName, Lane] = {}
        self.running: set[Job] = set()
        self.in_ring = False

    def free_lane(self, share: int) -> Lane | None:
        """A lane with a turn that may start now."""
        if len(self.running) < share:
            for lane in self.lanes.values():
                if lane.holder is None and lane.waiting:
                    return lane
        return None

    def begin(self, lane: Lane) -> Job:
        """Let the lane's next turn run; lanes take turns as rooms do."""
        job = lane.holder = lane.waiting.popleft()
        self.running.add(job)
        self.lanes[lane.session] = self.lanes.pop(lane.session)
        return job

    def is_empty(self) -> bool:
        return not self.running and all(
            lane.holder is None and not lane.waiting for lane in self.lanes.values()
        )


class Rooms:
    """All rooms with turns. A turn is pushed once, taken once, and leaves both its slot and its lane."""

    def __init__(self, limits: RunnerLimits) -> None:
        self._slots = limits.concurrency
        self._share = limits.room_share or max(1, limits.concurrency // 2)
        self._room_queue = limits.room_queue
        self._total_queue = limits.total_queue
        self._rooms: dict[RoomKey, Room] = {}
        self._ring: deque[Room] = deque()
        self.running = 0
        self.queued = 0

    def push(self, job: Job) -> None:
        """Let a turn wait. Raises QueueFull, and nothing has changed."""
        key = job.room
        room = self._rooms.get(key)
        if room is None:
            room = Room(key)
        waiting = sum(len(lane.waiting) for lane in room.lanes.values())
        if waiting >= self._room_queue or self.queued >= self._total_queue:
            raise QueueFull("too many turns wait")
        self._rooms[key] = room
        session = job.session
        lane = room.lanes.get(session)
        if lane is None:
            lane = room.lanes[session] = Lane(room, session)
        job.lane = lane
        lane.waiting.append(job)
        self.queued += 1
        self._into_ring(room)

    def take(self) -> Job | None:
        """The next turn to run, which then holds a slot and its lane; None when nothing may start now."""
        while self._ring and self.running < self._slots:
            room = self._ring.popleft()
            room.in_ring = False
            lane = room.free_lane(self._share)
            if lane is None:  # what waited was withdrawn
                continue
            job = room.begin(lane)
            self.queued -= 1
            self.running += 1
            self._into_ring(room)
            return job
        return None

    def withdraw(self, job: Job) -> None:
        """Take a turn that waits out of its lane."""
        lane = _lane_of(job)
        lane.waiting.remove(job)
        self.queued -= 1
        self._drop_if_empty(lane.room)

    def leave(self, job: Job) -> None:
        """Give back all that the turn holds: its slot, and its lane if it still holds that."""
        lane = _lane_of(job)
        if lane.holder is job:
            lane.holder = None
        self._leave_slot(lane.room, job)

    def leave_slot(self, job: Job) -> None:
        """Give the turn's slot to others; its session still waits for it."""
        self._leave_slot(_lane_of(job).room, job)

    def leave_lane(self, job: Job) -> None:
        """Let the session go on without the turn; nothing happens when it does not hold its lane any more."""
        lane = _lane_of(job)
        if lane.holder is job:
            lane.holder = None
            self._into_ring(lane.room)
            self._drop_if_empty(lane.room)

    def holder(self, room: RoomKey, session: SessionName) -> Job | None:
        """The turn that holds a session's lane."""
        found = self._rooms.get(room)
        lane = found.lanes.get(session) if found else None
        return lane.holder if lane else None

    def running_in(self, room: RoomKey) -> list[Job]:
        """The turns that hold a slot in a room."""
        found = self._rooms.get(room)
        return list(found.running) if found else []

    def waiting(self) -> Iterator[Job]:
        """Every turn that waits."""
        for room in list(self._rooms.values()):
            for lane in list(room.lanes.values()):
                yield from list(lane.waiting)

    def __len__(self) -> int:
        """How many rooms are remembered: those with a turn, and no other."""
        return len(self._rooms)

    def _leave_slot(self, room: Room, job: Job) -> None:
        room.running.remove(job)
        self.running -= 1
        self._into_ring(room)
        self._drop_if_empty(room)

    def _into_ring(self, room: Room) -> None:
        # Only with a turn that may start: a room that waits for its own turn to end keeps no place at the front.
        if not room.in_ring and room.free_lane(self._share):
            room.in_ring = True
            self._ring.append(room)

    def _drop_if_empty(self, room: Room) -> None:
        if room.is_empty():
            self._rooms.pop(room.key, None)


def _lane_of(job: Job) -> Lane:
    if job.lane is None:
        raise LookupError("the turn never entered a lane")
    return job.lane
