"""What people allowed applications to know: codes, access tokens, refresh tokens.

Owns their lifetimes and that a code and a refresh token are good once. Must not know HTTP or people. They are kept in
memory: after a restart, an application is refused and asks its person again.
"""

import base64
import hashlib
import hmac
from collections import OrderedDict
from typing import Final, NamedTuple, TypeVar

from clankie.protocol.primitives import RandomBytes
from clankie.runtime.clock import Clock

CODE_SECONDS: Final = 600
"""RFC 6749, 4.1.2: ten minutes at most."""
ACCESS_SECONDS: Final = 604_800
"""A week: what Discord's answer says in `expires_in`."""
MAX_KEPT: Final = 10_000
"""Codes, and grants; the oldest goes first."""
_TOKEN_BYTES: Final = 24
_Kept = TypeVar("_Kept")


class Grant(NamedTuple):
    """What one person allowed one application."""

    application_id: int
    user_id: int
    scopes: frozenset[str]


class Code(NamedTuple):
    """What a code stands for, until it is exchanged.

    Attributes:
        challenge: PKCE's, of S256; None when the application sent none.
    """

    grant: Grant
    redirect_uri: str
    challenge: str | None
    expires_at_ms: int


class Tokens(NamedTuple):
    """What a code or a refresh token is exchanged for. All secrets."""

    access: str
    refresh: str
    grant: Grant

    def __repr__(self) -> str:
        return f"Tokens(grant={self.grant})"


class GrantRefused(Exception):
    """`invalid_grant`: the code or the refresh token is unknown, used, expired, or somebody else's."""


class Grants:
    """All of them.

    Args:
        clock: whose time they expire by.
        random_bytes: codes and tokens come from it.
    """

    def __init__(self, clock: Clock, random_bytes: RandomBytes) -> None:
        self._clock = clock
        self._random_bytes = random_bytes
        self._codes: OrderedDict[str, Code] = OrderedDict()
        self._access: OrderedDict[str, tuple[Tokens, int]] = OrderedDict()
        self._refresh: OrderedDict[str, Tokens] = OrderedDict()

    def allow(self, grant: Grant, redirect_uri: str, challenge: str | None) -> str:
        """The person agreed. Returns the code that their browser carries back."""
        code = self._secret()
        expires_at_ms = self._clock.now_ms() + CODE_SECONDS * 1_000
        _keep(self._codes, code, Code(grant, redirect_uri, challenge, expires_at_ms))
        return code

    def exchange(
        self, application_id: int, code: str, redirect_uri: str, verifier: str | None
    ) -> Tokens:
        """Tokens for a code. Whatever comes of it, the code is used up.

        Args:
            redirect_uri: the one that the code was sent to.
            verifier: PKCE's; needed exactly when there was a challenge.

        Raises:
            GrantRefused: it is not good for this.
        """
        kept = self._codes.pop(code, None)
        if (
            kept is None
            or kept.expires_at_ms <= self._clock.now_ms()
            or kept.grant.application_id != application_id
            or kept.redirect_uri != redirect_uri
            or not _verified(kept.challenge, verifier)
        ):
            raise GrantRefused
        return self._issue(kept.grant)

    def refresh(self, application_id: int, token: str) -> Tokens:
        """New tokens for a refresh token; the old ones end.

        Raises:
            GrantRefused: it is not good for this.
        """
        kept = self._refresh.get(token)
        if kept is None or kept.grant.application_id != application_id:
            raise GrantRefused
        self._forget(kept)
        return self._issue(kept.grant)

    def revoke(self, application_id: int, token: str) -> None:
        """End a grant by either of its tokens. An unknown one is no error (RFC 7009, 2.2)."""
        kept = self._refresh.get(token) or self._access.get(token, (None,))[0]
        if kept is not None and kept.grant.application_id == application_id:
            self._forget(kept)

    def by_access_token(self, token: str) -> Grant | None:
        """What an access token allows; None when it is unknown or expired."""
        tokens, expires_at_ms = self._access.get(token, (None, 0))
        return tokens.grant if tokens and expires_at_ms > self._clock.now_ms() else None

    def _issue(self, grant: Grant) -> Tokens:
        tokens = Tokens(self._secret(), self._secret(), grant)
        expires_at_ms = self._clock.now_ms() + ACCESS_SECONDS * 1_000
        _keep(self._access, tokens.access, (tokens, expires_at_ms))
        _keep(self._refresh, tokens.refresh, tokens)
        return tokens

    def _forget(self, tokens: Tokens) -> None:
        self._access.pop(tokens.access, None)
        self._refresh.pop(tokens.refresh, None)

    def _secret(self) -> str:
        return base64.urlsafe_b64encode(self._random_bytes(_TOKEN_BYTES)).decode()


def _keep(kept: OrderedDict[str, _Kept], key: str, value: _Kept) -> None:
    kept[key] = value
    if len(kept) > MAX_KEPT:
        kept.popitem(last=False)


def _verified(challenge: str | None, verifier: str | None) -> bool:
    """RFC 7636, 4.6, for S256."""
    if challenge is None or verifier is None:
        return challenge is None and verifier is None
    try:
        digest = hashlib.sha256(verifier.encode("ascii")).digest()
    except UnicodeEncodeError:
        return False
    made = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(made, challenge)
