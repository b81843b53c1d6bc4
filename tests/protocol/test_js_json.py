"""JSON as JavaScript: each rule by example, and against Node itself where there is one.

The differential tests run only where `node` is installed; a machine without it, a build machine too, skips them and
says so. The recorded vectors pin the same rules everywhere.
"""

import json
import math
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie.protocol import js_json
from clankie.protocol.errors import InvalidValue, MalformedJson, ProtocolError
from protocol import strategies as given_

NODE = shutil.which("node")
ANSWER_EACH_LINE = """
const readline = require("readline").createInterface({ input: process.stdin });
readline.on("line", (line) => {
  let answer = null;
  try { answer = JSON.stringify(JSON.parse(JSON.parse(line))); } catch {}
  const ascii = JSON.stringify(answer).replace(/[^\\x00-\\x7e]/g,
    (unit) => "\\\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
  process.stdout.write(ascii + "\\n");
});
"""
AskNode = Callable[[str], str | None]


@pytest.fixture(scope="module")
def ask_node() -> Iterator[AskNode]:
    """What Node makes of a text: JSON.stringify(JSON.parse(text)), None where it throws."""
    if NODE is None:
        pytest.skip("node is not installed")
    with subprocess.Popen(
        [NODE, "-e", ANSWER_EACH_LINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(text: str) -> str | None:
            questions.write(json.dumps(text).encode("ascii") + b"\n")
            questions.flush()
            answer: str | None = json.loads(answers.readline())
            return answer

        yield ask
        questions.close()


def ours(text: str) -> str | None:
    try:
        return js_json.stringify(js_json.parse(text))
    except ProtocolError:
        return None


@settings(
    max_examples=1_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    text=given_.spellings(given_.json_values)
    | given_.near_misses(given_.json_values)
    | st.lists(st.sampled_from(given_.FRAGMENTS), max_size=8).map("".join)
)
def test_any_text_is_read_and_written_as_node_does(ask_node: AskNode, text: str) -> None:
    assert ours(text) == ask_node(text)


@settings(max_examples=1_000, deadline=None)
@given(
    bits=st.integers(0, 2**64 - 1) | st.floats().map(lambda x: int.from_bytes(struct.pack(">d", x)))
)
def test_any_double_is_written_as_node_does(ask_node: AskNode, bits: int) -> None:
    (number,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    if math.isfinite(number):
        # Seventeen digits name one double.
        assert js_json.number_text(number) == ask_node(f"{number:.17g}")
    else:
        assert js_json.number_text(number) == "null"


@settings(max_examples=300, deadline=None)
@given(literal=st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?\Z"))
def test_any_spelling_of_a_number_is_the_double_it_is_to_node(
    ask_node: AskNode, literal: str
) -> None:
    assert ours(literal) == ask_node(literal)


READS_AS = [
    ("1.0", 1),
    ("1e3", 1000),
    ("179000000000000e-2", 1790000000000),
    ("12345678901234567890", 12345678901234567890.0),
    ("1e999", math.inf),
    ("-1e999", -math.inf),
    ("-0", -0.0),
    ("9" * 5_000, math.inf),
    ("0." + "1" * 5_000, 0.1111111111111111),
    ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
    ('"\\ud83d"', "\ud83d"),
    ('"\\ud83d\\ude00"', "😀"),
    ('"\ud83d\\ude00"', "😀"),
    (' \t\r\n"\x7f\u2028" ', "\x7f\u2028"),
]


@pytest.mark.parametrize(("text", "value"), READS_AS, ids=[ascii(t)[:20] for t, _ in READS_AS])
def test_a_text_reads_as_javascript_reads_it(text: str, value: object) -> None:
    parsed = js_json.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


NOT_JSON = [
    "", " ", "\ufeff1", "1 2", "[1,]", '{"a":1,}', "{a:1}", "'a'", '"\n"', '"\x00"', '"\\x41"', '"\\u12"',
    "NaN", "Infinity", "-Infinity", "01", "+1", ".5", "5.", "1e", "-", "0x1", "1_0", "\u0661", "/**/1", "//\n1",
    "\u00a01", "\x0c1", "undefined", "nul", "[", "}", '"', '{"a"}', "[1 2]", "1\x00",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_JSON, ids=ascii)
def test_what_javascript_does_not_read_is_malformed(text: str) -> None:
    with pytest.raises(MalformedJson):
        js_json.parse(text)
    with pytest.raises(MalformedJson):
        js_json.parse(text.encode("utf-8"))


@pytest.mark.parametrize(
    "data", [b"\xff", b'"\xed\xa0\x80"', b'"\xc0\xaf"', b"\xef\xbb\xbf1", b'"\xe2\x82"']
)
def test_bytes_that_are_not_utf8_are_malformed(data: bytes) -> None:
    with pytest.raises(MalformedJson):
        js_json.parse(data)


WRITES_AS: list[tuple[object, str]] = [
    ({"b": 1, "2": 2, "1": 1}, '{"1":1,"2":2,"b":1}'),
    ({"4294967295": 1, "4294967294": 2, "01": 3, "-1": 4}, '{"4294967294":2,"4294967295":1,"01":3,"-1":4}'),
    ('\x00\b\t\n\x0b\f\r\x1f"\\/', '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\/"'),
    ("\x7f\u2028\ufeff😀", '"\x7f\u2028\ufeff😀"'),
    ("\ud800\udbff\udc00\udfff", '"\\ud800\U0010fc00\\udfff"'),
    ({"\ud800": None}, '{"\\ud800":null}'),
    ([True, False, None, (1,)], "[true,false,null,[1]]"),
    ([1e21, 1e-7, 1e-6, -0.0, math.inf, math.nan, 2**63, 10**400],
     "[1e+21,1e-7,0.000001,0,null,null,9223372036854776000,null]"),
    ([[], {}, ""], '[[],{},""]'),
]  # fmt: skip


@pytest.mark.seed("S11")
@pytest.mark.parametrize(("value", "text"), WRITES_AS, ids=[ascii(t)[:20] for _, t in WRITES_AS])
def test_a_value_is_written_as_javascript_writes_it(value: object, text: str) -> None:
    assert js_json.stringify(value) == text


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_512_levels_are_read_and_written_and_more_are_refused(brackets: str) -> None:
    opening = "[" if brackets == "[]" else '{"a":'
    for depth in (511, 512):
        text = opening * (depth - 1) + brackets + brackets[1] * (depth - 1)
        assert js_json.stringify(js_json.parse(text)) == text
    for depth in (513, 10_000, 100_000):
        text = opening * (depth - 1) + brackets + brackets[1] * (depth - 1)
        with pytest.raises(MalformedJson):
            js_json.parse(text)
        with pytest.raises(MalformedJson):
            js_json.parse(text[: len(text) // 2])


def test_many_brackets_that_nest_nowhere_are_no_depth() -> None:
    for text in ("[" + ",".join(["[]"] * 1_000) + "]", '["' + "[{" * 1_000 + '","\\"[[["]'):
        assert js_json.stringify(js_json.parse(text)) == text


def from_deep_in_the_stack(frames: int, call: Callable[[], Any]) -> Any:
    return call() if frames == 0 else from_deep_in_the_stack(frames - 1, call)


def test_called_from_deep_in_the_stack_a_deep_text_is_refused_and_a_flat_one_read() -> None:
    deep = "[" * 500 + "]" * 500
    with pytest.raises(MalformedJson):
        from_deep_in_the_stack(700, lambda: js_json.parse(deep))
    assert from_deep_in_the_stack(700, lambda: js_json.parse("[[1]]")) == [[1]]
    assert from_deep_in_the_stack(700, lambda: js_json.stringify([[1]])) == "[[1]]"


def endless() -> Iterator[object]:
    in_list: list[object] = []
    in_list.append(in_list)
    yield in_list
    in_dict: dict[str, object] = {}
    in_dict["a"] = [in_dict]
    yield in_dict
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    yield deep


@pytest.mark.parametrize("value", list(endless()), ids=["list in itself", "dict in itself", "deep"])
def test_a_value_without_end_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue):
        js_json.stringify(value)


@pytest.mark.parametrize(
    "value",
    [object(), b"bytes", {1, 2}, {1: 2}, {None: 1}, [1j], {"a": [lambda: 0]}, ...],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue):
        js_json.stringify(value)


class _Changing(dict[str, Any]):
    """Grows while it is read."""

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self[key + "x"] = None
            yield key


class _Lying(dict[str, Any]):
    """Names keys that it does not have."""

    def __iter__(self) -> Iterator[str]:
        return iter(["missing"])


class _Raising(dict[str, Any]):
    """Fails in its own way."""

    def __getitem__(self, key: str) -> Any:
        raise OSError(key)


class _Backwards(list[Any]):
    """Cannot be turned round."""

    def __reversed__(self) -> Iterator[Any]:
        raise RuntimeError("no way back")


class _Incomparable(int):
    """Is more than nothing, and fails to say so."""

    def __ge__(self, other: object) -> bool:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "hostile",
    [_Changing(a=1), _Lying(a=1), _Raising(a=1), _Backwards([1]), _Incomparable(1)],
    ids=lambda hostile: type(hostile).__name__,
)
def test_a_value_whose_own_code_fails_is_refused_with_an_error_of_the_contract(
    hostile: object,
) -> None:
    for value in (hostile, [hostile], {"a": hostile}):
        with pytest.raises(InvalidValue):
            js_json.stringify(value)


@pytest.mark.parametrize("wrong", [None, 5, 1.5, [], {}, object()], ids=lambda w: type(w).__name__)
def test_only_text_and_bytes_are_read(wrong: Any) -> None:
    with pytest.raises(MalformedJson):
        js_json.parse(wrong)


def test_every_kind_of_bytes_is_read() -> None:
    text = '{"a":"é😀"}'
    data = text.encode("utf-8")
    every_second = memoryview(bytes(byte for pair in zip(data, data, strict=True) for byte in pair))
    for source in (data, bytearray(data), memoryview(data), every_second[::2]):
        assert js_json.parse(source) == js_json.parse(text)  # type: ignore[arg-type]  # buffers are taken too
    released = memoryview(data)
    released.release()
    with pytest.raises(MalformedJson):
        js_json.parse(released)  # type: ignore[arg-type]  # buffers are taken too
