"""Text that must not be shown, and where it comes from when a setting only names it.

Owns the wrapper for secret settings, what counts as an unfilled placeholder, and `broker:<id>`
references. Must not know which settings exist.
"""

import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from clankie.runtime.broker import Broker, TokenCredential
from clankie.runtime.errors import UnresolvedSecret
from clankie.runtime.redaction import HIDDEN, redact

BROKER_PREFIX: Final = "broker:"
# What templates leave behind when nobody filled them in. A real secret that looks so can be
# percent-encoded.
_PLACEHOLDER: Final = re.compile(
    r"\$\{[^}]*\}|\$\([^)]*\)|\{\{[^}]*\}\}|<[^<>]+>"
    r"|^\$\w+$|^(?:change[-_ ]?me|replace[-_ ]?me|todo|x{3,})$",
    re.IGNORECASE,
)


class SecretText:
    """A string whose repr, str and comparison give nothing away."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The string itself, for the one call that needs it."""
        return self._value

    def shown(self) -> str:
        """What a person may see: the text with passwords and token shapes hidden."""
        return redact(self._value)

    def has_password(self) -> bool:
        """Whether the text is a URL that carries a password, in its authority or in its query."""
        try:
            parts = urlsplit(self._value)
            query = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError:
            return True  # cannot be told apart from one that has
        return bool(parts.password) or any("password" in name.lower() for name, _ in query)

    def is_placeholder(self) -> bool:
        """Whether this is a template's text that nobody replaced by a secret."""
        return _PLACEHOLDER.search(self._value) is not None

    def __repr__(self) -> str:
        return "SecretText(hidden)"

    __str__ = __repr__


class TokenText(SecretText):
    """A secret that is nothing but one: no part of it may be shown, and none stands in a file."""

    __slots__ = ()

    def shown(self) -> str:
        """The reference, or that there is something."""
        return self._value if self._value.startswith(BROKER_PREFIX) else HIDDEN

    def has_password(self) -> bool:
        """Whether it is the secret itself, and not a reference to it."""
        return not self._value.startswith(BROKER_PREFIX)


def resolve_secret(setting: str, value: SecretText, broker: Broker) -> str:
    """The secret behind a setting: its own text, or the broker's token under the id it names.

    Args:
        setting: the setting's key, for the error.
        value: `broker:<id>`, or the secret itself.

    Raises:
        UnresolvedSecret: the broker has nothing under that id.
        BrokerError: the broker cannot be read, or keeps something else than a token there.
    """
    text = value.reveal()
    if not text.startswith(BROKER_PREFIX):
        return text
    credential_id = text.removeprefix(BROKER_PREFIX)
    credential = broker.get(credential_id, TokenCredential)
    if credential is None:
        raise UnresolvedSecret(
            f"{setting} names the credential {credential_id!r}, and the broker has none of that id",
            next_step=f"Store it with `clankie secret set {credential_id}`, or change {setting}.",
        )
    return credential.token
