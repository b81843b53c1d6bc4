"""The body's keys: made once, the same ever after, in the broker alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from body.homes import HOST
from clankie.body.keys import (
    MANAGED_INGRESS_KEY,
    STORE_KEY_ID,
    fingerprint,
    ingress_key,
    store_key,
)
from clankie.runtime.broker import FileBroker, TokenCredential
from clankie.runtime.errors import WrongCredential


@pytest.fixture
def broker(home: Path) -> FileBroker:
    return FileBroker(home / "broker" / "credentials.json")


@pytest.mark.seed("S4")
def test_the_ingress_key_is_made_once_and_kept_in_the_broker(broker: FileBroker) -> None:
    first = ingress_key(broker, HOST)
    again = ingress_key(FileBroker(broker.path), HOST)
    assert again.public_point() == first.public_point()
    assert broker.kinds() == {MANAGED_INGRESS_KEY + HOST: "p256"}


def test_another_host_has_another_key(broker: FileBroker) -> None:
    other = "x" + HOST[1:]
    assert ingress_key(broker, HOST).public_point() != ingress_key(broker, other).public_point()


def test_the_store_key_is_made_once(broker: FileBroker) -> None:
    assert store_key(broker) == store_key(FileBroker(broker.path))
    assert len(store_key(broker)) == 32
    assert broker.kinds() == {STORE_KEY_ID: "secret_key"}


def test_asked_for_at_once_they_are_made_once(broker: FileBroker) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: store_key(FileBroker(broker.path)), range(16)))
    assert len(keys) == 1


def test_something_else_under_the_id_is_refused_and_left_alone(broker: FileBroker) -> None:
    broker.set(STORE_KEY_ID, TokenCredential("theirs"))
    with pytest.raises(WrongCredential):
        store_key(broker)
    assert broker.get(STORE_KEY_ID, TokenCredential) == TokenCredential("theirs")


def test_a_fingerprint_tells_keys_apart_and_is_no_hash_of_the_key_alone() -> None:
    one, other = bytes(32), bytes(31) + b"\x01"
    assert fingerprint(one) == fingerprint(bytes(32))
    assert fingerprint(one) != fingerprint(other)
    assert len(fingerprint(one)) == 43
