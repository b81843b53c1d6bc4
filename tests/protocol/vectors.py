"""The recorded vectors, and a body that trusts their keys. Tests of the wire contract share it; it tests nothing."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from clankie.protocol import base64url
from clankie.protocol.discord_ingress_crypto import OpenedIngress, open_discord_ingress
from clankie.protocol.fleet_tokens import VerifyKeys, load_verify_keys
from clankie.protocol.primitives import Ed25519PrivateKey, P256PrivateKey

FOLDER = Path(__file__).parent.parent / "vectors"

CONTEXT: dict[str, Any] = json.loads((FOLDER / "context.json").read_text("utf-8"))
TENANT: str = CONTEXT["tenantId"]
INSTALLATION: str = CONTEXT["installationId"]
NOW_MS: int = CONTEXT["nowMs"]
BODY_PUBLIC_KEY: str = CONTEXT["bodyPublicKey"]
BODY_KEY = P256PrivateKey.from_scalar(bytes.fromhex(CONTEXT["bodyPrivateKey"]))
FLEET_KEYS = tuple(
    Ed25519PrivateKey.from_seed(bytes.fromhex(key["seed"])) for key in CONTEXT["fleetKeys"]
)
VERIFY_KEYS: VerifyKeys = load_verify_keys(
    json.dumps({"keys": [{"publicKeyPem": key["publicKeyPem"]} for key in CONTEXT["fleetKeys"]]})
)

EVENT_TEXT = (
    '{"schemaVersion":1,"tenantId":"tn_abcdefghij234567abcd","installationId":"AbCdEfGhIjKlMnOpQrSt-_",'
    '"deliveryId":"discord:1001","eventAtMs":1790000000000,"expiresAtMs":1790000300000,"guildId":"100",'
    '"channelId":"200","messageId":"1001","actorId":"300","owner":false,"kind":"mention",'
    '"content":"hello there","attachments":[]}'
)
"""The canonical text of a plain event of the context's tenant."""


@cache
def rows(name: str) -> list[dict[str, Any]]:
    """Every row of one file."""
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def draws(*values: bytes) -> Callable[[int], bytes]:
    """Randomness that gives these, in this order, each of the length that is asked for, and then no more."""
    left = list(values)

    def draw(length: int) -> bytes:
        value = left.pop(0)
        if len(value) != length:
            raise AssertionError(f"asked for {length} bytes where {len(value)} were recorded")
        return value

    return draw


def nonce_draw(text: str) -> Callable[[int], bytes]:
    """Randomness that gives the bytes of one base64url text."""
    return draws(base64url.decode(text))


def open_here(body: str | bytes, **changes: Any) -> OpenedIngress:
    """`open_discord_ingress` by the context's body at the context's time, but for `changes`."""
    arguments: dict[str, Any] = {
        "tenant_id": TENANT,
        "installation_id": INSTALLATION,
        "private_key": BODY_KEY,
        "verify_keys": VERIFY_KEYS,
        "now_ms": NOW_MS,
    }
    return open_discord_ingress(body, **(arguments | changes))
