"""What a credential is: the kinds the broker keeps, and their file form.

Pure: bytes in, credentials out. Must not know where the file lies or what any credential is for.
"""

import json
import re
from typing import Annotated, Final, Literal

import msgspec

from clankie.runtime.errors import BrokerCorrupt, WrongCredential

KEY_BYTES: Final = 32  # a P-256 scalar, an Ed25519 seed and an AES-256 key are all this long
MAX_TOKEN_LENGTH: Final = 16_384  # characters; ten times the longest token any role gets
# Ids become JSON keys, command line arguments and words in errors: nothing in them needs quoting.
_CREDENTIAL_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")

KeyBytes = Annotated[bytes, msgspec.Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]


class _Credential(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    def __repr__(self) -> str:
        return f"{type(self).__name__}(hidden)"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return []  # msgspec's own would show every field to rich


class P256Credential(_Credential, frozen=True, tag="p256"):
    """A P-256 private key, as its scalar (big endian)."""

    scalar: KeyBytes


class Ed25519Credential(_Credential, frozen=True, tag="ed25519"):
    """An Ed25519 private key, as its seed."""

    seed: KeyBytes


class SecretKeyCredential(_Credential, frozen=True, tag="secret_key"):
    """A symmetric key."""

    key: KeyBytes


class TokenCredential(_Credential, frozen=True, tag="token"):
    """A bearer, a bot token, a URL with its password: any secret that is text."""

    token: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TOKEN_LENGTH, pattern=r"\S")]


Credential = P256Credential | Ed25519Credential | SecretKeyCredential | TokenCredential


NO_CREDENTIALS = (
    "Moved away, roles start with new keys, and no store that was made with the old ones opens any more: "
    "those would have to be moved away, too, with all that is in them."
)
"""What it costs to start without a credential file that was there."""


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    credentials: dict[str, Credential]


def check_credential_id(credential_id: str) -> None:
    """Refuse what is no id: 1 to 200 of letters, digits, `.`, `_`, `-`; a letter or digit first.

    Raises:
        WrongCredential: it is not one.
    """
    if _CREDENTIAL_ID.fullmatch(credential_id) is None:
        raise WrongCredential(
            f"{credential_id[:60]!r} is no credential id",
            next_step="Use up to 200 letters, digits, '.', '_' and '-', a letter or digit first.",
        )


def decode_credentials(data: bytes, where: str) -> dict[str, Credential]:
    """Read the file's bytes.

    Args:
        data: the whole file.
        where: the file's path, for the error.

    Raises:
        BrokerCorrupt: anything but a document we could have written, a repeated key included.
            Nothing of the file is quoted.
    """
    try:
        json.loads(data, object_pairs_hook=_refuse_repeated)
        document = msgspec.json.decode(data, type=_Document)
        for credential_id in document.credentials:
            check_credential_id(credential_id)
    except (ValueError, RecursionError, WrongCredential) as error:
        raise BrokerCorrupt(
            f"{where} is not a credential file ({_reason(error)}); it was left as it is",
            next_step=f"Put a backup in its place. {NO_CREDENTIALS}",
        ) from None  # the cause's text could quote what the file holds
    return document.credentials


def encode_credentials(credentials: dict[str, Credential]) -> bytes:
    """Write the file's bytes."""
    document = _Document(version=1, credentials=credentials)
    return msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=1) + b"\n"


def _refuse_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _reason(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return str(error)  # names types and paths, never values
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, msgspec.DecodeError)):
        return "not JSON"
    if isinstance(error, RecursionError):
        return "nested too deep"
    return str(error)
