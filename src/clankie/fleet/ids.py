"""The ids and tokens the fleet makes. Randomness enters here.

Owns their spelling, and how a token is kept (as its SHA-256) and compared. Must not know what one is good for.
"""

import base64
import re
from typing import Final

from clankie.protocol import base64url
from clankie.protocol.primitives import RandomBytes, equal, random_bytes, sha256

INSTALLATION_BYTES: Final = 16
"""22 characters of base64url (wire.md 3)."""
TOKEN_BYTES: Final = 32
"""256 bits: nobody guesses one, so a plain hash keeps it."""
_WORD_LENGTH: Final = 20
"""Characters of base32, 100 bits (wire.md 3, `tn_`)."""
_WORD_BYTES: Final = 13
_EDGE_TOKEN: Final = re.compile(r"(ed_[a-z2-7]{20})\.([A-Za-z0-9_-]{43})")


def new_tenant_id(random: RandomBytes = random_bytes) -> str:
    """A route's id, `tn_` and 20 characters."""
    return "tn_" + _word(random)


def new_account_id(random: RandomBytes = random_bytes) -> str:
    """An account's id, `ac_` and 20 characters."""
    return "ac_" + _word(random)


def new_edge_id(random: RandomBytes = random_bytes) -> str:
    """An edge's id, `ed_` and 20 characters."""
    return "ed_" + _word(random)


def new_installation_id(random: RandomBytes = random_bytes) -> str:
    """An installation's id, 22 characters of base64url; the first no dash, which would begin an option of a command."""
    while (made := base64url.encode(random(INSTALLATION_BYTES))).startswith("-"):
        pass
    return made


def new_token(random: RandomBytes = random_bytes) -> str:
    """A secret of 43 characters."""
    return base64url.encode(random(TOKEN_BYTES))


def edge_token(edge_id: str, secret: str) -> str:
    """An edge's bearer: it names its edge, so that it is found without comparing secrets."""
    return f"{edge_id}.{secret}"


def edge_of(unverified_token: str) -> str | None:
    """The edge that a bearer says it is of; None when it is no edge's."""
    match = _EDGE_TOKEN.fullmatch(unverified_token)
    return match[1] if match else None


def hashed(token: str) -> bytes:
    """What is kept of a token, 32 bytes."""
    return sha256(token.encode("utf-8", "surrogatepass"))


def same(token_hash: bytes, unverified_hash: bytes) -> bool:
    """Whether both are the same token's, in constant time."""
    return equal(token_hash, unverified_hash)


def _word(random: RandomBytes) -> str:
    return base64.b32encode(random(_WORD_BYTES)).decode("ascii").lower()[:_WORD_LENGTH]
