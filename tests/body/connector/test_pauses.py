"""How long the connector waits before it dials again."""

import pytest

from clankie.body.connector.contracts import ConnectorTimes
from clankie.body.connector.pauses import Pauses
from clankie.connection.pacing import Pace

FULL = ConnectorTimes(jitter=lambda: 1.0)
LEAST = ConnectorTimes(jitter=lambda: 0.0)


def test_pauses_after_failures_double_up_to_a_cap() -> None:
    pauses = Pauses(FULL)
    assert [pauses.after_failure() for _ in range(7)] == [0.25, 0.5, 1, 2, 3, 3, 3]


def test_what_waits_for_a_gateway_that_is_back_goes_on_within_ten_seconds() -> None:
    """At worst a connection asked just before the body was back, and pauses once more."""
    pauses = Pauses(FULL)
    longest = max(pauses.after_failure() for _ in range(10_000))
    assert longest + Pace().retry_longest < 10


def test_pauses_are_shortened_at_random_by_up_to_half() -> None:
    assert Pauses(LEAST).after_failure() == FULL.first_pause / 2


def test_a_refused_credential_is_tried_ever_less_often() -> None:
    pauses = Pauses(FULL)
    assert [pauses.after_failure(refused=True) for _ in range(10)][-2:] == [60, 60]


def test_a_stable_tunnel_begins_anew_and_a_short_one_does_not() -> None:
    pauses = Pauses(FULL)
    for _ in range(5):
        pauses.after_failure()
    assert pauses.after_tunnel(1006, lived=1) == 3
    assert pauses.after_tunnel(1006, lived=FULL.stable) == 0.25
    assert pauses.after_tunnel(1006, lived=1) == 0.5


def test_a_replaced_host_waits_thirty_seconds_at_least() -> None:
    assert Pauses(LEAST).after_tunnel(1012, lived=100) == 30
    assert Pauses(FULL).after_tunnel(1012, lived=0.1) == 45


@pytest.mark.parametrize("code", [1001, 4001])
def test_hosts_of_a_gateway_that_stops_or_of_a_key_that_was_retired_come_back_spread(
    code: int,
) -> None:
    assert Pauses(LEAST).after_tunnel(code, lived=100) == 0
    assert Pauses(FULL).after_tunnel(code, lived=100) == FULL.going_away


@pytest.mark.parametrize("code", [1001, 4001])
def test_a_gateway_that_ends_each_tunnel_at_once_is_dialled_ever_less_often(code: int) -> None:
    pauses = Pauses(FULL)
    assert [pauses.after_tunnel(code, lived=0.1) for _ in range(4)] == [2, 0.5, 1, 2]


@pytest.mark.parametrize("code", [1000, 1001, 1006, 1008, 1011, 1012, 4001, 9999])
def test_no_end_of_a_tunnel_waits_longer_than_a_minute(code: int) -> None:
    pauses = Pauses(FULL)
    assert all(0 <= pauses.after_tunnel(code, lived=0) <= 60 for _ in range(100))
