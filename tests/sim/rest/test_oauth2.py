"""Signing in: the person's page, the application's tokens, what they open."""

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from sim.rest.places import Place

BACK = "http://127.0.0.1:9/back"
VERIFIER = "a verifier of the application's own choosing, long enough"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


class SigningIn:
    """One application that asks who somebody is."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.application = place.world.edit_application(
            place.application.id, name="<b>helper</b>", redirect_uris=[BACK]
        )
        self.url = f"{place.address}/oauth2/authorize"

    def request(self, **changes: str) -> dict[str, str]:
        return {
            "client_id": str(self.application.id),
            "redirect_uri": BACK,
            "response_type": "code",
            "scope": "identify guilds",
            "state": "a state",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        } | changes

    async def decide(self, headers: Any = None, **fields: str) -> httpx2.Response:
        form = self.request() | {"user_id": str(self.place.guest.id), "decision": "yes"} | fields
        return await self.place.nobody.post(self.url, data=form, headers=headers)

    async def code(self, **fields: str) -> str:
        answer = await self.decide(**fields)
        assert answer.status_code == 303
        parameters = parse_qs(urlsplit(answer.headers["location"]).query)
        assert parameters["state"] == ["a state"]
        return parameters["code"][0]

    async def token(self, **changes: str) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
            "client_id": str(self.application.id),
            "client_secret": self.application.client_secret,
        } | changes
        return await self.place.nobody.post(f"{self.place.address}/api/oauth2/token", data=form)


@pytest.fixture
def signing_in(place: Place) -> SigningIn:
    return SigningIn(place)


async def test_the_page_shows_who_one_may_be_and_what_is_asked_and_loads_nothing(
    signing_in: SigningIn,
) -> None:
    place = signing_in.place
    place.world.create_person("<script>person</script>")
    page = await place.nobody.get(signing_in.url, params=signing_in.request(state='"><i>'))
    assert page.status_code == 200
    assert "&lt;b&gt;helper&lt;/b&gt; asks who you are" in page.text
    assert f'value="{place.guest.id}"' in page.text
    assert f'name="user_id" value="{place.bot_id}"' not in page.text
    assert "which servers you are in" in page.text
    assert "<script" not in page.text
    assert "<i>" not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "form-action 'self' http://127.0.0.1:9;" in policy


async def test_a_person_who_agrees_is_known_within_the_scopes_alone(signing_in: SigningIn) -> None:
    place = signing_in.place
    issued = await signing_in.token(code=await signing_in.code(scope="identify"))
    assert issued.status_code == 200
    assert issued.headers["cache-control"] == "no-store"
    tokens = issued.json()
    assert (tokens["token_type"], tokens["scope"], tokens["expires_in"]) == (
        "Bearer",
        "identify",
        604_800,
    )
    async with place.client(f"Bearer {tokens['access_token']}") as person:
        me = await person.get("/users/@me")
        assert me.json()["id"] == str(place.guest.id)
        for path in ("/users/@me/guilds", f"/channels/{place.general.id}", place.messages):
            assert (await person.get(path)).status_code == 403
        posted = await person.post(place.messages, json={"content": "x"})
        assert posted.status_code == 403
    assert place.count() == 0


async def test_servers_are_listed_with_the_persons_own_permissions(signing_in: SigningIn) -> None:
    place = signing_in.place
    code = await signing_in.code(user_id=str(place.owner.id))
    tokens = (await signing_in.token(code=code)).json()
    async with place.client(f"Bearer {tokens['access_token']}") as person:
        (guild,) = (await person.get("/users/@me/guilds")).json()
    assert (guild["id"], guild["owner"]) == (str(place.guild.id), True)
    assert int(guild["permissions"]) & 8


async def test_a_token_is_refreshed_and_revoked(signing_in: SigningIn) -> None:
    place = signing_in.place
    old = (await signing_in.token(code=await signing_in.code())).json()
    new = (
        await signing_in.token(grant_type="refresh_token", refresh_token=old["refresh_token"])
    ).json()
    async with place.client(f"Bearer {old['access_token']}") as person:
        assert (await person.get("/users/@me")).status_code == 401
    async with place.client(f"Bearer {new['access_token']}") as person:
        assert (await person.get("/users/@me")).status_code == 200
        revoked = await place.nobody.post(
            "/oauth2/token/revoke",
            data={"token": new["refresh_token"]},
            auth=(str(signing_in.application.id), signing_in.application.client_secret),
        )
        assert revoked.status_code == 200
        assert (await person.get("/users/@me")).status_code == 401


async def test_who_refuses_is_sent_back_without_a_code(signing_in: SigningIn) -> None:
    answer = await signing_in.decide(decision="no")
    assert answer.status_code == 303
    parameters = parse_qs(urlsplit(answer.headers["location"]).query)
    assert parameters == {"error": ["access_denied"], "state": ["a state"]}


async def test_a_bad_request_is_told_to_the_person_when_the_way_back_is_not_known(
    signing_in: SigningIn,
) -> None:
    for change in ({"redirect_uri": BACK + "/x"}, {"client_id": "1"}, {"client_id": "x"}):
        page = await signing_in.place.nobody.get(
            signing_in.url, params=signing_in.request(**change)
        )
        assert page.status_code == 400
        assert "Next: " in page.text
        assert (await signing_in.decide(**change)).status_code == 400
    assert (await signing_in.decide(user_id=str(signing_in.place.bot_id))).status_code == 400
    assert (await signing_in.decide({"origin": "http://elsewhere"})).status_code == 400
    own = {"origin": signing_in.place.address}
    assert (await signing_in.decide(own)).status_code == 303


async def test_another_bad_request_is_told_to_the_application(signing_in: SigningIn) -> None:
    for change, error in (
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "identify everything"}, "invalid_scope"),
        ({"scope": ""}, "invalid_scope"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
    ):
        sent = await signing_in.place.nobody.get(
            signing_in.url, params=signing_in.request(**change)
        )
        assert sent.status_code == 303
        assert parse_qs(urlsplit(sent.headers["location"]).query)["error"] == [error]


async def test_tokens_are_for_the_application_that_proves_itself(signing_in: SigningIn) -> None:
    code = await signing_in.code()
    for change, error in (
        ({"client_secret": "wrong"}, (401, "invalid_client")),
        ({"client_id": "1"}, (401, "invalid_client")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"code": "wrong"}, (400, "invalid_grant")),
        ({"code_verifier": "wrong"}, (400, "invalid_grant")),
        ({}, (400, "invalid_grant")),  # the wrong verifier used the code up
    ):
        refused = await signing_in.token(**({"code": code} | change))
        assert (refused.status_code, refused.json()["error"]) == error
