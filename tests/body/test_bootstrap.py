"""The bootstrap file: taken whole and exact, or the start is refused with why, and nothing secret is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from body.homes import FLEET_KEY, HALF_DAY_MS, bootstrap_fields, now_ms, write_bootstrap
from clankie.body.bootstrap import (
    MAX_BOOTSTRAP_BYTES,
    Bootstrap,
    BootstrapInvalid,
    read_bootstrap,
)
from clankie.protocol.fleet_tokens import VerifyKeys, key_id
from clankie.protocol.primitives import Ed25519PrivateKey


def keys_json(*keys: Ed25519PrivateKey) -> str:
    return VerifyKeys([key.public_key() for key in keys]).json()


def read(home: Path, **changes: Any) -> Bootstrap:
    found = read_bootstrap(write_bootstrap(home, **changes))
    assert found is not None
    return found


def test_a_whole_file_is_taken(home: Path) -> None:
    found = read(home)
    fields = bootstrap_fields()
    assert found.tenant_id == fields["tenantId"]
    assert found.credential_expires_at_ms <= now_ms() + HALF_DAY_MS
    assert found.verify_keys().kids == (key_id(FLEET_KEY.public_key()),)


@pytest.mark.seed("S6")
def test_no_file_is_no_managed_body(home: Path) -> None:
    assert read_bootstrap(home / "bootstrap.json") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"pairingKeyRegistrationToken": "once"},
        {"fleetOrigin": "https://fleet.example"},
        {"fleetOrigin": "http://127.0.0.1:9000"},
        {"gatewayOrigin": "http://[::1]:9000"},
        {"gatewayOrigin": "http://localhost:9000"},
        {"gatewayOrigin": "https://gateway.example:8443"},
        {"accountId": "a" * 128},
        {"fleetVerifyKeysJson": keys_json(FLEET_KEY, Ed25519PrivateKey(bytes(range(32))))},
    ],
    ids=str,
)
def test_what_the_contract_allows_is_taken(home: Path, changes: dict[str, Any]) -> None:
    read(home, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        *({name: None} for name in bootstrap_fields()),
        *({name: 7} for name in bootstrap_fields() if name != "credentialExpiresAtMs"),
        {"unknownField": "x"},
        {"hostCredential": ""},
        {"credentialExpiresAtMs": 0},
        {"credentialExpiresAtMs": 1.5},
        {"credentialExpiresAtMs": 2**53},
        {"credentialExpiresAtMs": "1"},
        {"gatewayOrigin": "gateway.example"},
        {"gatewayOrigin": "http://gateway.example"},
        {"gatewayOrigin": "http://127.0.0.1.example"},
        {"gatewayOrigin": "https://gateway.example/"},
        {"gatewayOrigin": "https://gateway.example:443"},
        {"gatewayOrigin": "https://GATEWAY.example"},
        {"gatewayOrigin": "https://user@gateway.example"},
        {"gatewayOrigin": "https://gateway.example/h/x"},
        {"gatewayOrigin": "wss://gateway.example"},
        {"fleetOrigin": "http://fleet.example"},
        {"tenantId": "tn_" + "A" * 20},
        {"tenantId": "tn_" + "a" * 19},
        {"accountId": ""},
        {"accountId": "a" * 129},
        {"installationId": "I" * 21},
        {"installationId": "I" * 21 + "\n"},
        {"pairingKeyRegistrationToken": ""},
        {"fleetVerifyKeysJson": "{}"},
        {"fleetVerifyKeysJson": '{"keys":[]}'},
        {"fleetVerifyKeysJson": "not JSON"},
        {"fleetVerifyKeysJson": keys_json(FLEET_KEY).replace("PUBLIC", "PRIVATE")},
        {"fleetVerifyKeysJson": json.dumps({"keys": json.loads(keys_json(FLEET_KEY))["keys"] * 3})},
    ],
    ids=str,
)
def test_each_wrong_field_is_refused_with_what_to_do_and_no_credential(
    home: Path, changes: dict[str, Any]
) -> None:
    path = write_bootstrap(home, **changes)
    with pytest.raises(BootstrapInvalid) as raised:
        read_bootstrap(path)
    assert str(path) in str(raised.value)
    assert raised.value.next_step
    credential = json.loads(path.read_text()).get("hostCredential") or "no credential"
    assert str(credential) not in f"{raised.value} {raised.value.next_step}" or credential == 7


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "\x00", "{}" * 2], ids=repr)
def test_what_is_no_object_is_refused(home: Path, text: str) -> None:
    path = write_bootstrap(home)
    path.write_text(text)
    with pytest.raises(BootstrapInvalid, match="not a bootstrap file"):
        read_bootstrap(path)


def test_a_file_larger_than_any_is_refused(home: Path) -> None:
    path = write_bootstrap(home)
    path.write_text(path.read_text() + " " * MAX_BOOTSTRAP_BYTES)
    with pytest.raises(BootstrapInvalid, match="larger than any"):
        read_bootstrap(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o777])
def test_a_file_that_others_can_reach_is_refused(home: Path, mode: int) -> None:
    path = write_bootstrap(home)
    path.chmod(mode)
    with pytest.raises(BootstrapInvalid, match="others can reach it") as raised:
        read_bootstrap(path)
    assert f"chmod 600 {path}" in raised.value.next_step


def test_a_link_to_a_good_file_is_refused(home: Path) -> None:
    path = write_bootstrap(home)
    link = home / "link.json"
    link.symlink_to(path)
    with pytest.raises(BootstrapInvalid, match="cannot be read"):
        read_bootstrap(link)


def test_a_folder_in_its_place_is_refused(home: Path) -> None:
    (home / "bootstrap.json").mkdir(mode=0o700)
    with pytest.raises(BootstrapInvalid, match="is not a file"):
        read_bootstrap(home / "bootstrap.json")


def test_its_repr_shows_no_credential(home: Path) -> None:
    found = read(home, pairingKeyRegistrationToken="MARKER-token")
    assert found.host_credential not in repr(found)
    assert "MARKER" not in repr(found)
