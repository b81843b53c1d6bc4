"""Codes and tokens, without HTTP."""

import base64
import hashlib
import os

import pytest

from clankie.sim.rest.oauth2.grants import (
    ACCESS_SECONDS,
    CODE_SECONDS,
    Grant,
    GrantRefused,
    Grants,
)
from conftest import ManualClock

BACK = "http://127.0.0.1/back"
GRANT = Grant(application_id=1, user_id=2, scopes=frozenset({"identify"}))
VERIFIER = "a verifier of the application's own choosing, long enough"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


@pytest.fixture
def grants(clock: ManualClock) -> Grants:
    return Grants(clock, os.urandom)


def test_a_code_is_exchanged_once(grants: Grants) -> None:
    code = grants.allow(GRANT, BACK, None)
    tokens = grants.exchange(1, code, BACK, None)
    assert grants.by_access_token(tokens.access) == GRANT
    with pytest.raises(GrantRefused):
        grants.exchange(1, code, BACK, None)
    assert grants.by_access_token(code) is None


@pytest.mark.parametrize(
    ("application_id", "redirect_uri", "verifier"),
    [(9, BACK, VERIFIER), (1, BACK + "/", VERIFIER), (1, BACK, None), (1, BACK, "another"), (1, BACK, "é")],
)  # fmt: skip
def test_a_code_is_good_only_for_whom_and_what_it_was_made_and_a_wrong_try_uses_it_up(
    grants: Grants, application_id: int, redirect_uri: str, verifier: str | None
) -> None:
    code = grants.allow(GRANT, BACK, CHALLENGE)
    with pytest.raises(GrantRefused):
        grants.exchange(application_id, code, redirect_uri, verifier)
    with pytest.raises(GrantRefused):
        grants.exchange(1, code, BACK, VERIFIER)


def test_a_verifier_without_a_challenge_is_refused(grants: Grants) -> None:
    code = grants.allow(GRANT, BACK, None)
    with pytest.raises(GrantRefused):
        grants.exchange(1, code, BACK, VERIFIER)


def test_the_verifier_of_the_challenge_is_taken(grants: Grants) -> None:
    code = grants.allow(GRANT, BACK, CHALLENGE)
    assert grants.exchange(1, code, BACK, VERIFIER).grant == GRANT


def test_codes_and_access_tokens_expire(grants: Grants, clock: ManualClock) -> None:
    code = grants.allow(GRANT, BACK, None)
    clock.advance(CODE_SECONDS)
    with pytest.raises(GrantRefused):
        grants.exchange(1, code, BACK, None)
    tokens = grants.exchange(1, grants.allow(GRANT, BACK, None), BACK, None)
    clock.advance(ACCESS_SECONDS)
    assert grants.by_access_token(tokens.access) is None


def test_refreshing_ends_the_old_tokens(grants: Grants) -> None:
    old = grants.exchange(1, grants.allow(GRANT, BACK, None), BACK, None)
    with pytest.raises(GrantRefused):
        grants.refresh(9, old.refresh)
    new = grants.refresh(1, old.refresh)
    assert grants.by_access_token(old.access) is None
    assert grants.by_access_token(new.access) == GRANT
    with pytest.raises(GrantRefused):
        grants.refresh(1, old.refresh)


@pytest.mark.parametrize("by", ["access", "refresh"])
def test_either_token_revokes_both_but_only_for_its_own_application(
    grants: Grants, by: str
) -> None:
    tokens = grants.exchange(1, grants.allow(GRANT, BACK, None), BACK, None)
    grants.revoke(9, getattr(tokens, by))
    grants.revoke(1, "unknown")
    assert grants.by_access_token(tokens.access) == GRANT
    grants.revoke(1, getattr(tokens, by))
    assert grants.by_access_token(tokens.access) is None
    with pytest.raises(GrantRefused):
        grants.refresh(1, tokens.refresh)


def test_no_token_shows_in_a_repr(grants: Grants) -> None:
    tokens = grants.exchange(1, grants.allow(GRANT, BACK, None), BACK, None)
    assert tokens.access not in repr(tokens)
    assert tokens.refresh not in repr(tokens)
