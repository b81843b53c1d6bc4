"""The Wycheproof cases through our own primitives: accepted and refused as they say, or stricter for a reason.

Stricter, and why (docs/protocol.md says it too):

- ECDH case 2, `CompressedPublic` ("acceptable"): a compressed point. The contract's keys are 65 bytes that begin with
  4; one spelling for each key, since the spelling is what is signed.
- AES-GCM, every key that is not 256 bits and every IV that is not 96 bits: the contract has one of each.

The files are not part of this repository. They are looked for in `$CLANKIE_SHARED/vectors/wycheproof`, or in
`../shared/vectors/wycheproof` beside it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clankie.protocol.errors import DecryptionFailed, InvalidKey, InvalidToken
from clankie.protocol.primitives import AeadKey, Ed25519PublicKey, P256PrivateKey, hkdf_sha256

_BESIDE = Path(__file__).parents[2].parent / "shared"
FOLDER = Path(os.environ.get("CLANKIE_SHARED", _BESIDE)) / "vectors" / "wycheproof"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the Wycheproof files are not on this machine (CLANKIE_SHARED)"
)

COMPRESSED_POINT = 2
"""ECDH: the one case that may be accepted and is not."""
AES_KEY_BITS, AES_IV_BITS = 256, 96


class Case(NamedTuple):
    group: dict[str, Any]
    test: dict[str, Any]

    def bytes(self, name: str) -> bytes:
        return bytes.fromhex(self.test[name])


def cases(name: str, count: int) -> Iterator[Case]:
    groups = json.loads((FOLDER / name).read_text("utf-8"))["testGroups"]
    found = [Case(group, test) for group in groups for test in group["tests"]]
    assert len(found) == count
    return iter(found)


@pytest.mark.seed("S14")
def test_ed25519_verifies_exactly_what_it_should() -> None:
    wrong = []
    for case in cases("ed25519_test.json", 151):
        key = Ed25519PublicKey(bytes.fromhex(case.group["publicKey"]["pk"]))
        try:
            key.verify(case.bytes("sig"), case.bytes("msg"))
            verified = True
        except InvalidToken:
            verified = False
        if verified != (case.test["result"] == "valid"):
            wrong.append(case.test["tcId"])
    assert wrong == []


@pytest.mark.seed("S16")
def test_p256_agreement_gives_the_shared_secret_or_refuses_the_point() -> None:
    wrong = []
    for case in cases("ecdh_secp256r1_ecpoint_test.json", 355):
        # Theirs are signed integers of any length, ours exactly 32 bytes.
        scalar = int.from_bytes(case.bytes("private"), "big").to_bytes(32, "big")
        try:
            secret = P256PrivateKey.from_scalar(scalar).agree(case.bytes("public"))
        except InvalidKey:
            secret = None
        expected = case.bytes("shared") if case.test["result"] == "valid" else None
        if case.test["tcId"] == COMPRESSED_POINT:
            assert (case.test["result"], case.test["flags"]) == (
                "acceptable",
                ["CompressedPublic", "CompressedPoint"],
            )
        else:
            assert case.test["result"] != "acceptable"
        if secret != expected:
            wrong.append(case.test["tcId"])
    assert wrong == []


@pytest.mark.seed("S16")
def test_hkdf_gives_the_key_or_refuses_the_length() -> None:
    wrong = []
    for case in cases("hkdf_sha256_test.json", 86):
        try:
            key = hkdf_sha256(
                case.bytes("ikm"), case.bytes("salt"), case.bytes("info"), case.test["size"]
            )
        except InvalidKey:
            key = None
        if key != (case.bytes("okm") if case.test["result"] == "valid" else None):
            wrong.append(case.test["tcId"])
    assert wrong == []


@pytest.mark.seed("S16", "S18")
def test_aes_gcm_opens_and_seals_what_it_should_at_the_contracts_sizes() -> None:
    wrong, of_our_size = [], 0
    for case in cases("aes_gcm_test.json", 316):
        group = case.group
        if group["keySize"] != AES_KEY_BITS:
            with pytest.raises(InvalidKey):
                AeadKey(case.bytes("key"))
            continue
        key, iv, aad = AeadKey(case.bytes("key")), case.bytes("iv"), case.bytes("aad")
        sealed = case.bytes("ct") + case.bytes("tag")
        if group["ivSize"] != AES_IV_BITS:
            with pytest.raises(DecryptionFailed):
                key.open(iv, sealed, aad)
            with pytest.raises(InvalidKey):
                key.seal(iv, case.bytes("msg"), aad)
            continue
        of_our_size += 1
        try:
            right = key.open(iv, sealed, aad) == case.bytes("msg")
            right &= key.seal(iv, case.bytes("msg"), aad) == sealed
        except DecryptionFailed:
            right = case.test["result"] == "invalid"
        else:
            right &= case.test["result"] == "valid"
        if not right:
            wrong.append(case.test["tcId"])
    assert wrong == []
    assert of_our_size == 66
