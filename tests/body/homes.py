"""A home as a fleet would set it up, and who its body is. What the tests of whole bodies share; it tests nothing."""

import json
import time
from pathlib import Path
from typing import Any

from clankie.protocol.fleet_tokens import VerifyKeys, host_id, sign_host_credential
from clankie.protocol.primitives import Ed25519PrivateKey

TENANT = "tn_" + "a" * 20
INSTALLATION = "I" * 22
ACCOUNT = "account"
HOST = host_id(ACCOUNT, INSTALLATION)
FLEET_KEY = Ed25519PrivateKey.from_seed(bytes(range(32)))
HALF_DAY_MS = 43_200_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def bootstrap_fields(**changes: Any) -> dict[str, Any]:
    """What a fleet gives out now, but for `changes`; a change to None leaves the field out."""
    fields: dict[str, Any] = {
        "hostCredential": sign_host_credential(
            FLEET_KEY,
            tenant_id=TENANT,
            account_id=ACCOUNT,
            installation_id=INSTALLATION,
            now_ms=now_ms(),
        ),
        "credentialExpiresAtMs": now_ms() + HALF_DAY_MS,
        "gatewayOrigin": "http://127.0.0.1:1",  # nobody listens there
        "tenantId": TENANT,
        "accountId": ACCOUNT,
        "installationId": INSTALLATION,
        "fleetVerifyKeysJson": VerifyKeys([FLEET_KEY.public_key()]).json(),
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def write_bootstrap(home: Path, **changes: Any) -> Path:
    """The bootstrap file, readable by this user alone."""
    path = home / "bootstrap.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(bootstrap_fields(**changes)))
    return path
