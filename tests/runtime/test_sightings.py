"""What a role remembers of deliveries is bounded, in order, and found by delivery."""

from clankie.runtime.sightings import MAX_SIGHTINGS, Sightings
from conftest import ManualClock


def test_a_delivery_is_found_in_the_order_of_what_happened(clock: ManualClock) -> None:
    sightings = Sightings(clock)
    began = clock.now_ms()
    sightings.note("admitted", delivery_id="d:1", permit_id="p")
    clock.advance(1)
    sightings.note("refused", permit_id="q", detail="decrypt")
    sightings.note("answered", delivery_id="d:1", detail="reply")
    assert [(seen.at_ms - began, seen.what) for seen in sightings.of("d:1")] == [
        (0, "admitted"),
        (1000, "answered"),
    ]
    assert [seen.detail for seen in sightings.without_delivery()] == ["decrypt"]
    assert sightings.of("d:2") == []


def test_the_memory_is_bounded_and_forgets_the_oldest(clock: ManualClock) -> None:
    sightings = Sightings(clock)
    for number in range(MAX_SIGHTINGS + 1):
        sightings.note("admitted", delivery_id=f"d:{number}")
    assert sightings.of("d:0") == []
    assert len(sightings.of("d:1")) == len(sightings.of(f"d:{MAX_SIGHTINGS}")) == 1
