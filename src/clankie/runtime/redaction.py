r"""Secrets taken out of anything on its way to a log, a screen or a person.

Owns the shapes of secrets and the names of fields that hold them. Pure: a value in, a value
without secrets out. It is the second line: nothing should hand it a secret in the first place.
What it hides too much of costs a readable line; what it lets through costs the secret. In doubt it
hides.

Every pattern runs in time linear in the text, and a text longer than `MAX_TEXT` is replaced by its
length.
"""

import re
from collections.abc import Mapping
from typing import Final

HIDDEN: Final = "[hidden]"
MAX_TEXT: Final = 65_536  # characters: more than a log line is worth, and a bound on the time spent
MAX_DEPTH: Final = 8  # levels of nesting in a log line's value; what lies deeper is hidden whole
MAX_PLAIN_INT: Final = 2**53  # a count or a time stays below; a private scalar does not

# The words a name ends in when its value is a secret: `bot_token`, `X-Api-Key`, `storePassword`.
_WORDS: Final = (
    *("password", "passwd", "passphrase", "pwd", "secret", "token", "permit", "bearer"),
    *("authorization", "cookie", "credential", "scalar", "seed"),
)
_KEYS: Final = ("api", "private", "secret", "store", "signing", "encryption", "ingress")
_NAME: Final = (
    r"(?:(?<![A-Za-z])|(?<=[a-z0-9])(?=[A-Z]))"
    rf"(?i:{'|'.join(_WORDS)}|(?:{'|'.join(_KEYS)})[_-]?key)(?i:s|_?text|_?value)?"
)
_SECRET_NAME: Final = re.compile(rf"{_NAME}\Z")
# What is merely called a key (or, in a JWK, `d` or `k`) is secret when its value has the length of
# one of our keys in base64 (32, 64 or 65 bytes) or in hex. A session key has not.
_KEY_VALUE: Final = r"(?:[A-Za-z0-9_+/-]{43}=?|[A-Za-z0-9_+/-]{86,87}={0,2}|[0-9a-fA-F]{64})"
_KEY_NAME: Final = re.compile(
    r"(?:(?:.*(?:[^A-Za-z]|(?<=[a-z])(?=K)))?(?i:keys?)|[dk])\Z", re.DOTALL
)
_WHOLE_KEY: Final = re.compile(rf"{_KEY_VALUE}\Z")

# Between a name and its value: `=`, `:`, `=>`, or the comma of a header pair's repr.
_BETWEEN: Final = (
    r"(?:\\{0,8}+[\"'])?"
    r"(?:\s{0,8}+(?>=>|[:=])\s{0,8}+|(?<=[\"']),\s{0,8}+(?=[bru]{0,2}[\"']))"
)
_QUOTED: Final = (
    r"[bru]{0,2}(?:\"(?:[^\"\\]|\\.)*+\"?"
    r"|'(?:[^'\\]|\\.)*+'?"
    r"|\\{1,8}(?P<quote>[\"'])(?:(?!\\{1,8}(?P=quote)).)*+(?:\\{1,8}[\"'])?)"
)
_VALUE: Final = rf"(?:{_QUOTED}|[\[{{(][^\r\n]*+|[^\s,;&\"'}}\])]++)"
_HEADER: Final = r"(?:[bru]{0,2}\"[^\"\r\n]*+\"?|[bru]{0,2}'[^'\r\n]*+'?|[^\r\n\"']++)"
_PART: Final = "[A-Za-z0-9_-]"

# Each rule: what must occur in the lower-cased text for it to be tried, the pattern, and what then
# stands there. What names its own extent comes first, so that no broader rule halves it.
_RULES: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]] = tuple(
    (triggers, re.compile(pattern, re.DOTALL), replacement)
    for triggers, pattern, replacement in (
        # PEM, also without its end
        (
            ("-----begin",),
            r"-----BEGIN [A-Z0-9 ]{1,40}-----.*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)",
            HIDDEN,
        ),
        # a statement's parameters, as SQLAlchemy appends them to its errors
        (("[parameters: ",), r"\[parameters: (?!\[hidden\])[^\n]*", f"[parameters: {HIDDEN}]"),
        # the password of a URL; up to the last @, since people do not always encode theirs
        (("://",), r"(://[^\s/:@\"']*+):(?:(?!://)[^\s\"'])*@", rf"\1:{HIDDEN}@"),
        # webhook and interaction tokens in Discord's paths
        (
            ("/webhooks/", "/interactions/"),
            rf"(/(?:webhooks|interactions)/[0-9]{{1,20}}/){_PART}{{16,}}",
            rf"\1{HIDDEN}",
        ),
        # permits, host credentials, any JWT, a Discord bot token: three dotted base64url parts
        ((".",), rf"(?<!{_PART}){_PART}{{16,}}+\.{_PART}{{6,}}+\.{_PART}{{20,}}", HIDDEN),
        (("eyj",), rf"(?<!{_PART})eyJ{_PART}{{8,}}(?:\.{_PART}*){{0,2}}", HIDDEN),
        # tokens that say whose they are
        (
            ("sk-", "gh", "xox", "mfa."),
            rf"(?:sk-|gh[a-z]_|github_pat_|xox[a-z]-|mfa\.){_PART}{{20,}}",
            HIDDEN,
        ),
        # authentication schemes, then whole header values
        (
            ("bearer",),
            r"(?i:\bbearer)\s{1,8}+(?!\[hidden\])[^\s\"',;]{8,}",
            f"Bearer {HIDDEN}",
        ),
        (("basic", "bot"), r"\b(Basic|Bot)\s{1,8}+[A-Za-z0-9+/=._~-]{16,}", rf"\1 {HIDDEN}"),
        (
            ("authorization", "cookie"),
            rf"((?i:authorization|cookie){_BETWEEN})(?!\[hidden\]){_HEADER}",
            rf"\1{HIDDEN}",
        ),
        # name and value, in any spelling of a mapping
        ((*_WORDS, "key"), rf"({_NAME}{_BETWEEN})(?!\[hidden\]){_VALUE}", rf"\1{HIDDEN}"),
        (
            ("key",),
            rf"((?<![A-Za-z])(?i:keys?){_BETWEEN}[bru]{{0,2}}[\"']?){_KEY_VALUE}(?!{_PART})",
            rf"\1{HIDDEN}",
        ),
        (
            ('d"', "d'", 'k"', "k'"),
            rf"([\"'][dk][\"']\s{{0,8}}:\s{{0,8}}[\"']){_KEY_VALUE}",
            rf"\1{HIDDEN}",
        ),
        # bytes, whatever they are
        (
            ("b'", 'b"'),
            r"\bb(?:'(?:[^'\\]|\\.){16,}+'?|\"(?:[^\"\\]|\\.){16,}+\"?)",
            HIDDEN,
        ),
    )
)
# Words and ids, by far most of what is logged: too short for a secret, no room for name and value.
_HARMLESS: Final = re.compile(r"[A-Za-z0-9_-]{0,22}\Z")


def redact(text: str) -> str:
    """The text with everything that has a secret's shape replaced by `HIDDEN`."""
    if _HARMLESS.match(text):
        return text
    if len(text) > MAX_TEXT:
        return f"[{len(text)} characters]"
    lowered = text.lower()
    for triggers, pattern, replacement in _RULES:
        if any(trigger in lowered for trigger in triggers):
            text = pattern.sub(replacement, text)
    return text


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret, by its last word."""
    return _SECRET_NAME.search(name) is not None


def redact_value(value: object, name: str = "", depth: int = 0) -> object:
    """The value as JSON types, without secrets.

    Mappings, sequences and (name, value) pairs are followed; bytes become their length; anything
    else becomes its redacted repr.

    Args:
        value: anything at all.
        name: the field it stands in; a secret's name hides it whole.
        depth: how deep it lies already.
    """
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        secret = is_secret_name(name) and not name.lower().endswith("tokens")  # those are counts
        return HIDDEN if secret or abs(value) >= MAX_PLAIN_INT else int(value)
    if is_secret_name(name) or depth > MAX_DEPTH:
        return HIDDEN
    if isinstance(value, str):
        is_key = _KEY_NAME.match(name) is not None and _WHOLE_KEY.match(value) is not None
        return HIDDEN if is_key else redact(str(value))
    return _redact_container(value, name, depth)


def _redact_container(value: object, name: str, depth: int) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    if isinstance(value, Mapping):
        return {
            redact(_text(key)): redact_value(item, _text(key), depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple) and len(value) == 2:  # perhaps a header's name and value
        first, second = value
        return [
            redact_value(first, name, depth + 1),
            redact_value(second, _text(first), depth + 1),
        ]
    if isinstance(value, list | tuple | set | frozenset):
        return [redact_value(item, name, depth + 1) for item in value]
    return redact(_text(value))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - a repr that fails must not cost the log line
        return f"[{type(value).__name__}]"
