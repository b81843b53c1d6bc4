"""Which hosts other gateways hold: what was told last is kept, within a bound."""

import pytest

from clankie.gateway.cluster import elsewhere
from clankie.gateway.cluster.elsewhere import Elsewhere


def test_a_host_is_elsewhere_from_the_word_of_its_gateway_until_it_is_found_gone() -> None:
    hosts = Elsewhere()
    assert "a" not in hosts
    hosts.told(["a", "b"])
    hosts.gone("a")
    hosts.gone("never there")
    assert ("a" in hosts, "b" in hosts) == (False, True)


def test_the_hosts_longest_without_a_word_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "MAX_ELSEWHERE", 3)
    hosts = Elsewhere()
    hosts.told(["a", "b", "c"])
    hosts.told(["a"])
    hosts.told(["d", "e"])
    assert len(hosts) == 3
    assert [host for host in "abcde" if host in hosts] == ["a", "d", "e"]
