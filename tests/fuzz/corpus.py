"""Where a fuzzer starts: the recorded vectors as inputs of each target, and the contract's own words."""

import json
from collections.abc import Iterator
from pathlib import Path

from clankie.protocol import base64url
from protocol.forge import Exchange
from protocol.vectors import VERIFY_KEYS, rows

MAX_INPUT = 6_000
"""Bytes. Longer ones teach no new path and cost speed."""


def seeds(target: str) -> Iterator[bytes]:
    """The first inputs of one target."""
    texts = {
        name: [row["input"].encode("utf-8", "surrogatepass") for row in rows(name)]
        for name in ("events", "results", "envelopes")
    }
    turns = [json.dumps(row["turn"]).encode() for row in rows("turns")]
    bodies = [row["body"].encode("utf-8", "surrogatepass") for row in rows("open")]
    exchange = Exchange()
    claims = json.dumps({**exchange.claims, "dig": "A" * 43}).encode()
    header = json.dumps(exchange.header).encode()
    if target == "read_json":
        yield from (text for group in texts.values() for text in group)
        yield from (row["text"].encode() for row in rows("numbers")[::20])
    elif target == "read_shape":
        shapes = [*texts.values(), turns, [], [header], [claims], [VERIFY_KEYS.json().encode()]]
        order = [0, 1, 2, 3, 4, 5, 6, 7]
        for number, group in zip(order, shapes, strict=True):
            yield from (bytes([number]) + text for text in group)
    else:
        yield from (b"\0" + body for body in bodies)
        yield from (b"\1" + text for text in texts["events"][::4])
        yield b"\2" + claims
        yield b"\3" + header
        yield b"\4" + exchange.permit().encode()
        yield b"\5" + b"A" * 40
        yield b"\6" + base64url.encode(b"\4" + bytes(64)).encode()
        yield b"\7" + b"A" * 22


def write_corpus(target: str, folder: Path) -> int:
    """Writes the seeds into a folder; how many."""
    folder.mkdir()
    kept = sorted({seed for seed in seeds(target) if len(seed) <= MAX_INPUT})
    for number, seed in enumerate(kept):
        (folder / f"{number:04}").write_bytes(seed)
    return len(kept)


def write_dictionary(path: Path) -> None:
    """libFuzzer's dictionary: every key and every short value of the accepted vectors, and what JSON is made of."""
    words = {"null", "true", "false", "-0", "1e3", "1.0", "1e999", "\\ud83d", "\\ude00", "\\u0000"}
    words |= {"__proto__", '"__proto__":{},', "[[[[", ']"', '{"', '":', ',"', "9007199254740993"}

    def collect(value: object) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                words.add(json.dumps(key) + ":")
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)
        elif isinstance(value, str) and len(value) < 24 and value.isascii():
            words.add(json.dumps(value))

    for name in ("events", "results"):
        for row in rows(name):
            if row["accept"]:
                collect(json.loads(row["canonical"]))
    lines = [
        '"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"' for word in sorted(words)
    ]
    path.write_text("\n".join(lines) + "\n", "ascii")
