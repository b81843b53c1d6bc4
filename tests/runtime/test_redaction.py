"""No secret gets through redaction, in any dress; what is no secret stays readable."""

import base64
import json
import string
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clankie.runtime.redaction import (
    HIDDEN,
    MAX_DEPTH,
    MAX_TEXT,
    is_secret_name,
    redact,
    redact_value,
)

BOT_TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"
PERMIT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (
        b'{"alg":"EdDSA","typ":"clankie-discord"}',
        b'{"aud":"clankie-body"}' * 8,
        b"s" * 64,
    )
)
KEY_32 = base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip("=")
KEY_64 = base64.urlsafe_b64encode(bytes(range(64))).decode().rstrip("=")
PEM = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIHJ1\nc2VjcmV0\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"login with {BOT_TOKEN} failed", BOT_TOKEN),
        (f"Authorization: Bot {BOT_TOKEN}", BOT_TOKEN),
        (f"permit {PERMIT} was refused", PERMIT),
        (f"permit {PERMIT[:60]}", PERMIT[:60]),
        ("Bearer abcdefgh12345", "abcdefgh12345"),
        ("bearer   abcdefgh12345", "abcdefgh12345"),
        ("Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
        ("Authorization: Custom very secret words", "very secret words"),
        ("(b'authorization', b'Custom abc')", "abc"),
        ("Cookie: session=abc; other=def", "def"),
        (PEM, "MC4CAQAwBQYDK2VwBCIEIHJ1"),
        (PEM[:60], "MC4CAQ"),
        (json.dumps({"pem": PEM}), "MC4CAQAwBQYDK2VwBCIEIHJ1"),
        ("postgresql://clankie:hunter2@db/clankie", "hunter2"),
        ("postgresql+psycopg://u:p@ss/wo:rd@db/x", "ss/wo:rd"),
        ("redis://:hunter2@db", "hunter2"),
        ("https://discord.com/api/webhooks/123/abcDEF_ghijklmnop-qrs", "abcDEF_ghijklmnop-qrs"),
        ("https://x/?token=abc&y=1", "abc"),
        ("password=hunter2", "hunter2"),
        ("password = hunter2", "hunter2"),
        ("password: 'two words'", "two words"),
        ("{'token': 'abc'}", "abc"),
        ('{"bot_token":"abc"}', "abc"),
        ('{\\"password\\": \\"abc\\"}', "abc"),
        ("{'secret': {'inner': 'abc'}}", "abc"),
        ("token=['abc', 'def']", "def"),
        ("Credential(token='abc')", "abc"),
        ('token="it\'s \\" abc"', "abc"),
        ("storePassword=abc", "abc"),
        ("X-Api-Key: abc", "abc"),
        (f"key={KEY_32}", KEY_32),
        (f'{{"kty":"OKP","d":"{KEY_32}"}}', KEY_32),
        (f"ingress_key => '{KEY_64}'", KEY_64),
        (f"seed={'a' * 64}", "a" * 64),
        (r"b'\x01\x02\x03\x04\x05\x06\x07\x08\x09'", "x05"),
        ("[SQL: INSERT]\n[parameters: ('discord:1', 'abc')]", "abc"),
        ("key sk-" + "ant-" + "Zz1" * 12, "Zz1Zz1"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklm"),
    ],
)
def test_every_known_shape_of_a_secret_is_hidden(text: str, secret: str) -> None:
    assert secret in text
    redacted = redact(text)
    assert secret not in redacted
    assert HIDDEN in redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "turn_settled",
        "delivery discord:1234567890123456789 settled in 12 ms",
        "session_key=tn_abc:42:owner",
        "proceed: next",
        "permit_id=abc",
        "sqlite:////home/me/clankie/body/admissions.db",
        "postgresql://clankie@db/clankie",
        "http://127.0.0.1:8787/v1/discord/ingress",
        "[Errno 2] No such file or directory: '/x/y.toml'",
        'File "src/clankie/runtime/broker.py", line 12, in get',
        f"event_digest={KEY_32}",
        "Bot restarted",
        "2026-01-02T03:04:05.678Z",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


SECRET_NAMES = [
    "token",
    "botToken",
    "BOT_TOKEN",
    "x-api-key",
    "store_key",
    "password",
    "permit",
    "seeds",
]


@pytest.mark.parametrize(
    "name", [*SECRET_NAMES, "fleet.permit", "storeUrlPassword", "secret_value"]
)
def test_names_of_secrets_are_known_by_their_last_word(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["permit_id", "session_key", "delivery_id", "exceed", "keys", ""])
def test_names_of_other_things_are_not_secret(name: str) -> None:
    assert not is_secret_name(name)


def test_counts_of_tokens_are_shown_and_other_numbers_under_secret_names_are_not() -> None:
    assert redact_value(4096, "max_tokens") == 4096
    assert redact_value(1234, "password") == HIDDEN
    assert redact_value(2**200, "x") == HIDDEN
    assert redact_value({"ms": 12, "ok": True, "none": None, "s": 1.5}) == {
        "ms": 12,
        "ok": True,
        "none": None,
        "s": 1.5,
    }


def test_bytes_become_their_length() -> None:
    assert redact_value([b"abc", bytearray(4), memoryview(b"12345")]) == [
        "[3 bytes]",
        "[4 bytes]",
        "[5 bytes]",
    ]


@pytest.mark.parametrize("name", ["key", "verify_keys", "encKey", "d", "k"])
def test_a_field_called_a_key_hides_what_is_as_long_as_our_keys(name: str) -> None:
    assert redact_value(KEY_32, name) == HIDDEN
    assert redact_value(KEY_64, name) == HIDDEN
    assert redact_value("room:owner", name) == "room:owner"


def test_header_pairs_are_read_as_name_and_value() -> None:
    shown = redact_value(
        [(b"authorization", b"Custom abc"), ("x-token", "abc"), ("accept", "json")]
    )
    assert shown == [["[13 bytes]", HIDDEN], ["x-token", HIDDEN], ["accept", "json"]]


def test_a_repr_that_fails_costs_nothing_but_itself() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("secret")

    assert redact_value(Broken()) == "[Broken]"


def test_what_lies_too_deep_is_hidden_whole() -> None:
    value: Any = "abc"
    for _ in range(MAX_DEPTH + 3):
        value = [value]
    assert "abc" not in json.dumps(redact_value(value))


def test_a_text_too_long_is_replaced_by_its_length() -> None:
    assert redact("a b" * MAX_TEXT) == f"[{3 * MAX_TEXT} characters]"


secrets = st.text(string.ascii_letters + string.digits + "_-", min_size=24, max_size=60).map(
    lambda text: "s3cr3t" + text
)
plain = st.text(max_size=20) | st.integers() | st.none() | st.booleans() | st.floats()


def around(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text(max_size=8), children, max_size=3)
        | st.tuples(children, children, children)
    )


@given(secret=secrets, name=st.sampled_from(SECRET_NAMES), shell=st.data())
def test_a_named_secret_is_hidden_wherever_it_lies(
    secret: str, name: str, shell: st.DataObject
) -> None:
    held: Any = {name: secret}
    for wrap in shell.draw(
        st.lists(st.sampled_from(["list", "dict", "repr", "json", "text"]), max_size=4)
    ):
        match wrap:
            case "list":
                held = [shell.draw(plain), held, shell.draw(plain)]
            case "dict":
                held = {"x": shell.draw(plain), "y": held}
            case "repr":
                held = repr(held)
            case "json":
                held = json.dumps(held, default=repr)
            case _:
                held = f"it failed with {held} here"
    assert secret not in json.dumps(redact_value(held))


@given(
    secret=secrets,
    template=st.sampled_from(
        [
            "Bearer {}",
            "Authorization: {}",
            "password={}",
            "https://user:{}@host/path",
            "'token': '{}'",
            "https://h/p?api_key={}&x",
            "eyJhbGciOiJFZERTQSJ9.{0}.{0}",
            "-----BEGIN EC PRIVATE KEY-----\n{}",
        ]
    ),
    before=st.text(max_size=30),
    after=st.sampled_from(["", " ", "\n", "'", '"', ", more", "\u2028x"]),
)
@example(secret="s3cr3t" + "-" * 24, template="Bearer {}", before="\u017f", after="")
def test_a_secret_of_a_known_shape_is_hidden_in_any_text(
    secret: str, template: str, before: str, after: str
) -> None:
    assert secret not in redact(f"{before} {template.format(secret)}{after}")


@given(st.recursive(plain | st.binary(max_size=9), around, max_leaves=12))
def test_redaction_takes_anything_and_gives_json(value: Any) -> None:
    json.dumps(redact_value(value))


@given(st.text(alphabet=string.printable, max_size=200))
def test_what_was_redacted_stays_as_it_is(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


RUNS = r"""://a:|://|:@|a|token=|token=\|b'|-----BEGIN A-----|eyJ|a.a.|Aa|aaaaaaaaaaaaaaaaaaaaa.|bearer |
key="'|\|authorization|token\'=|d"|token=\'| """.replace("\n", "").split("|")


@pytest.mark.parametrize("unit", RUNS)
def test_no_text_makes_redaction_slow(unit: str) -> None:
    text = ("token " + unit * MAX_TEXT)[:MAX_TEXT]
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 1  # quadratic behaviour would take minutes
