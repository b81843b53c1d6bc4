"""Secret settings hide themselves, and a setting may name what the broker keeps."""

from pathlib import Path

import pytest

from clankie.runtime.broker import FileBroker, P256Credential, TokenCredential
from clankie.runtime.errors import UnresolvedSecret, WrongCredential
from clankie.runtime.secrets import SecretText, resolve_secret


def test_a_secret_text_shows_nothing_of_itself() -> None:
    secret = SecretText("postgresql://u:hunter2@db/x")
    assert "hunter2" not in f"{secret} {secret!r} {[secret]} {secret.shown()}"
    assert secret.reveal() == "postgresql://u:hunter2@db/x"


def test_a_plain_value_is_its_own_secret(home: Path) -> None:
    broker = FileBroker(home / "broker" / "credentials.json")
    assert resolve_secret("body.store", SecretText("sqlite:///x"), broker) == "sqlite:///x"
    assert not broker.path.parent.exists()


def test_a_reference_gives_the_brokers_token(home: Path) -> None:
    broker = FileBroker(home / "broker" / "credentials.json")
    broker.set("body-store", TokenCredential("postgresql://u:hunter2@db/x"))
    resolved = resolve_secret("body.store", SecretText("broker:body-store"), broker)
    assert resolved == "postgresql://u:hunter2@db/x"


def test_a_reference_to_nothing_is_an_error_that_names_setting_and_credential(home: Path) -> None:
    broker = FileBroker(home / "broker" / "credentials.json")
    with pytest.raises(
        UnresolvedSecret, match=r"body\.store names the credential 'body-store'"
    ) as missing:
        resolve_secret("body.store", SecretText("broker:body-store"), broker)
    assert "clankie secret set body-store" in missing.value.next_step


def test_a_reference_to_a_key_is_refused(home: Path) -> None:
    broker = FileBroker(home / "broker" / "credentials.json")
    broker.set("key", P256Credential(bytes(32)))
    with pytest.raises(WrongCredential):
        resolve_secret("body.store", SecretText("broker:key"), broker)
