"""The stream: who hears what, and what a page that was away is told."""

from clankie.sim.control import events
from clankie.sim.role import SimRole
from clankie.sim.world.entities import MessageDraft
from sim.control.support import Control


async def test_a_person_hears_what_they_may_see_and_nothing_else(control: Control) -> None:
    secret, general = control.channel("owners-only"), control.channel()
    since = (await control.snapshot(control.guest))["eventId"]
    async with control.events(control.guest, since) as stream:
        control.world.post_message(control.owner.id, secret.id, MessageDraft("hidden"))
        control.world.post_message(control.owner.id, general.id, MessageDraft("shown"))
        name, message = await stream.dispatch()
    assert (name, message["content"]) == ("MESSAGE_CREATE", "shown")


async def test_a_stream_that_comes_back_is_told_what_it_missed_once(control: Control) -> None:
    general = control.channel()
    since = (await control.snapshot(control.owner))["eventId"]

    def say(text: str) -> None:
        control.world.post_message(control.guest.id, general.id, MessageDraft(text))

    async with control.events(control.owner, since) as stream:
        say("one")
        assert (await stream.dispatch())[1]["content"] == "one"
        last = stream.last_id
    say("two")
    say("three")
    async with control.events(control.owner, last) as stream:
        assert [(await stream.dispatch())[1]["content"] for _ in range(2)] == ["two", "three"]


async def test_the_browsers_own_last_event_id_counts_more_than_the_address(
    control: Control,
) -> None:
    general = control.channel()
    since = (await control.snapshot(control.owner))["eventId"]
    control.world.post_message(control.guest.id, general.id, MessageDraft("one"))
    control.client.headers["last-event-id"] = control.sim._events.last_id  # type: ignore[union-attr]
    control.world.post_message(control.guest.id, general.id, MessageDraft("two"))
    async with control.events(control.owner, since) as stream:
        assert (await stream.dispatch())[1]["content"] == "two"


async def test_another_processs_event_or_one_too_old_begins_anew(control: Control) -> None:
    since = (await control.snapshot(control.owner))["eventId"]
    for _ in range(events.KEPT + 1):
        control.world.start_typing(control.guest.id, control.channel().id)
    for unknown in (since, "0123-5", "", "x", f"{since[:-1]}99999999", "\u0661-\u0661"):
        async with control.events(control.owner, unknown) as stream:
            assert (await stream.next())[0] == "reset"
            assert stream.last_id == control.sim._events.last_id  # type: ignore[union-attr]


async def test_streams_end_when_the_simulator_stops(sim: SimRole, control: Control) -> None:
    since = (await control.snapshot(control.owner))["eventId"]
    async with control.events(control.owner, since) as stream:
        await stream.next()
        await sim.stop(5)
        lines = [line async for line in stream._lines]
    assert lines == []
