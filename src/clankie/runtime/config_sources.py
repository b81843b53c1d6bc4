"""Where settings come from: config.toml and the CLANKIE_* variables, each value with its origin.

Owns how both spell a setting, and finding what nobody knows. Must not know what any setting means or
may be: it is handed the names. A file's text and an environment in, findings and problems out.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

VARIABLE_PREFIX: Final = "CLANKIE_"
HOME_VARIABLE: Final = "CLANKIE_HOME"
FILE_NAME: Final = "config.toml"
DEFAULT: Final = "default"
MAX_FILE_BYTES: Final = 1_048_576  # a configuration has a hundred lines

_TABLE_LINE: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY_LINE: Final = re.compile(r"\s*([A-Za-z0-9_\-.\"' ]+?)\s*=")


@dataclass(frozen=True, slots=True)
class Found:
    """One setting's value as a source spells it.

    Attributes:
        value: a TOML value, or the variable's text.
        origin: `config.toml:<line>`, or the variable's name.
        is_text: whether numbers and booleans are still text, as variables have them.
    """

    value: object = field(repr=False)
    origin: str
    is_text: bool


@dataclass(slots=True)
class Sources:
    """What was found, and what is wrong with it: one line each, free of values."""

    found: dict[str, Found] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def read_file(self, text: str, keys: Iterable[str], tables: Iterable[str]) -> None:
        """Take in config.toml.

        Args:
            text: the file's text.
            keys: the settings there are, dotted.
            tables: settings that are tables of free names, dotted.
        """
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self.problems.append(f"{FILE_NAME}: not TOML: {_without_values(str(error))}")
            return
        lines = _line_numbers(text)
        for key, value in _flatten(document, frozenset(keys), frozenset(tables)):
            line = lines.get(key)
            origin = f"{FILE_NAME}:{line}" if line else FILE_NAME
            if key == "home":
                self.problems.append(f"{origin}: home is where this file lies; set {HOME_VARIABLE}")
            elif key in keys or _table_of(key, tables):
                self._add(key, Found(value, origin, is_text=False))
            else:
                self.problems.append(f"{origin}: no setting {key}{_hint(key, keys)}")

    def read_environment(
        self, environ: Mapping[str, str], keys: Iterable[str], tables: Iterable[str]
    ) -> None:
        """Take in the variables that start with `CLANKIE_`; a blank one is a problem, not a value."""
        by_variable = {variable_for(key): key for key in keys}
        prefixes = {variable_for(table) + "_": table for table in tables}
        for name in sorted(environ):
            if not name.startswith(VARIABLE_PREFIX):
                continue
            key = by_variable.get(name) or _free_key(name, prefixes)
            if key is None:
                self.problems.append(f"no variable {name}{_hint(name, by_variable)}")
            elif not environ[name].strip():
                self.problems.append(f"{name} is blank: unset it, or give it a value")
            else:
                self._add(key, Found(environ[name], name, is_text=True))

    def _add(self, key: str, found: Found) -> None:
        other = self.found.setdefault(key, found)
        if other is not found:
            # A forgotten variable that quietly wins over the file costs hours; so neither wins.
            self.problems.append(
                f"{key} is set twice, by {other.origin} and by {found.origin}: remove one of them"
            )


def variable_for(key: str) -> str:
    """The variable of a setting: `body.port` is `CLANKIE_BODY_PORT`."""
    return VARIABLE_PREFIX + key.replace(".", "_").upper()


def _free_key(name: str, prefixes: Mapping[str, str]) -> str | None:
    for prefix, table in prefixes.items():
        if name.startswith(prefix) and len(name) > len(prefix):
            return f"{table}.{name.removeprefix(prefix).lower()}"
    return None


def _table_of(key: str, tables: Iterable[str]) -> str | None:
    return next((table for table in tables if key.startswith(table + ".")), None)


def _flatten(
    document: Mapping[str, object], keys: frozenset[str], tables: frozenset[str], prefix: str = ""
) -> Iterable[tuple[str, object]]:
    for name, value in document.items():
        key = prefix + name
        inside = any(known.startswith(key + ".") for known in keys | tables) or key in tables
        if isinstance(value, dict) and inside:
            yield from _flatten(value, keys, tables, key + ".")
        else:
            yield key, value


def _line_numbers(text: str) -> dict[str, int]:
    """Where each plainly written key stands; one written otherwise is simply not found."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE_LINE.match(line):
            table = _unquoted(header[1]) + "."
            lines.setdefault(table[:-1], number)
        elif key := _KEY_LINE.match(line):
            lines.setdefault(table + _unquoted(key[1]), number)
    return lines


def _unquoted(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


def _hint(name: str, known: Iterable[str]) -> str:
    import difflib  # noqa: PLC0415 - only a mistake needs it, and it costs every start otherwise

    # without the prefix that all variables share, or each would be near to any
    short = {candidate.removeprefix(VARIABLE_PREFIX): candidate for candidate in known}
    close = difflib.get_close_matches(name.removeprefix(VARIABLE_PREFIX), list(short), n=1)
    return f"; did you mean {short[close[0]]}?" if close else ""


def _without_values(message: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "…", message)
