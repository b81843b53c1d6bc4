"""The configuration as a whole: found, converted, checked, and shown with its origins.

Owns the rules between settings and those about secrets. Must not know where a value was spelled
beyond its origin's text.
"""

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from clankie.runtime.config_sources import (
    DEFAULT,
    FILE_NAME,
    HOME_VARIABLE,
    MAX_FILE_BYTES,
    Found,
    Sources,
    variable_for,
)
from clankie.runtime.errors import ConfigError
from clankie.runtime.redaction import HIDDEN, is_secret_name, redact
from clankie.runtime.secrets import BROKER_PREFIX, SecretText, TokenText
from clankie.runtime.settings import SETTINGS, TABLES, Config, Setting, defaults_under

__all__ = ["Config", "Entry", "LoadedConfig", "load_config"]

SHOWN_LENGTH: Final = 60  # characters of a refused value that an error repeats


class Entry(msgspec.Struct, frozen=True):
    """One setting as a person sees it: nothing secret is in it."""

    key: str
    value: Any
    origin: str


class LoadedConfig(msgspec.Struct, frozen=True):
    """A configuration, and where each of its values came from.

    Attributes:
        config: the validated tree.
        path: where config.toml lies, or would.
        origins: each setting's origin: `default`, `config.toml:<line>`, or a variable's name.
    """

    config: Config
    path: Path
    origins: dict[str, str]

    def entries(self) -> list[Entry]:
        """Every setting with its value and origin, secrets hidden."""
        tree: dict[str, Any] = msgspec.to_builtins(self.config, enc_hook=_shown)
        entries = []
        for key in SETTINGS:
            value: Any = tree
            for name in key.split("."):
                value = value[name]
            if key not in TABLES:
                entries.append(Entry(key, _safe(key, value), self.origins[key]))
            for name, option in sorted(value.items()) if key in TABLES else ():
                free = f"{key}.{name}"
                entries.append(Entry(free, _safe(free, option), self.origins[free]))
        return entries


def load_config(environ: Mapping[str, str], home: Path | None = None) -> LoadedConfig:
    """Read, convert and check the whole configuration.

    Args:
        environ: the environment.
        home: the home, in place of CLANKIE_HOME and the platform's data folder.

    Raises:
        ConfigError: with every problem found, a line each; no secret is in them.
    """
    folder, home_origin = _home(environ, home)
    path = folder / FILE_NAME
    sources = Sources()
    known = [key for key in SETTINGS if key not in TABLES]
    text = _file_text(path, sources)
    if text is not None:
        sources.read_file(text, known, TABLES)
    sources.read_environment(
        {name: value for name, value in environ.items() if name != HOME_VARIABLE}, known, TABLES
    )
    loading = _Loading(folder, sources)
    config = loading.build(home_origin)
    if config is None or sources.problems:
        lines = "".join(f"\n  {problem}" for problem in sources.problems)
        raise ConfigError(
            f"the configuration is refused:{lines}",
            next_step=f"Correct {path} or the variables named; `clankie config show` checks again.",
        )
    return LoadedConfig(config, path, loading.origins)


class _Loading:
    """Converts one value after another, noting problems instead of stopping at the first."""

    def __init__(self, home: Path, sources: Sources) -> None:
        self._home = home
        self._sources = sources
        self.origins: dict[str, str] = {}

    def build(self, home_origin: str) -> Config | None:
        """The tree; None when any value could not be converted."""
        before = len(self._sources.problems)
        values: dict[str, Any] = {"home": self._home}
        self.origins["home"] = home_origin
        defaults = defaults_under(self._home)
        for key, setting in SETTINGS.items():
            if key in TABLES:
                values[key] = self._table(key)
            elif key != "home":
                values[key] = self._value(setting, defaults.get(key, setting.default))
        for key in SETTINGS:
            if key.endswith(".host"):
                self._check_listener(key.removesuffix(".host"), values)
        if len(self._sources.problems) > before:
            return None
        return msgspec.convert(_nest(values), Config, dec_hook=_keep)

    def _value(self, setting: Setting, default: object) -> Any:
        found = self._sources.found.get(setting.key)
        self.origins[setting.key] = found.origin if found else DEFAULT
        if found is None:
            found = Found(default, DEFAULT, is_text=False)
        try:
            value = msgspec.convert(
                found.value, setting.type, strict=not found.is_text, dec_hook=self._from_text
            )
        except msgspec.ValidationError:
            shown = HIDDEN if setting.secret else redact(repr(found.value))[:SHOWN_LENGTH]
            self._problem(found, f"{setting.key} is {shown}; expected {setting.expected}")
            return None
        if isinstance(value, SecretText):
            self._check_secret(setting.key, value, found)
        return value

    def _table(self, table: str) -> dict[str, str]:
        options: dict[str, str] = {}
        for key, found in self._sources.found.items():
            if not key.startswith(table + "."):
                continue
            self.origins[key] = found.origin
            if not isinstance(found.value, str):
                self._problem(found, f"{key}: expected a text")
            elif is_secret_name(key) and not found.is_text:
                self._problem(found, _not_in_the_file(key))
            else:
                options[key.removeprefix(table + ".")] = found.value
        return options

    def _check_secret(self, key: str, value: SecretText, found: Found) -> None:
        text = value.reveal()
        if not text.strip():
            self._problem(found, f"{key} is blank: leave it out, or give it a value")
        elif value.is_placeholder():
            self._problem(found, f"{key} is a placeholder that nothing filled in")
        elif not isinstance(value, TokenText) and not (
            text.startswith(BROKER_PREFIX) or "://" in text
        ):
            self._problem(found, f"{key} is {HIDDEN}; expected {SETTINGS[key].expected}")
        elif value.has_password() and not found.is_text:
            self._problem(found, _not_in_the_file(key))

    def _check_listener(self, section: str, values: Mapping[str, Any]) -> None:
        key = f"{section}.host"
        host = values[key]
        origin = self._sources.found.get(key, Found(host, DEFAULT, is_text=False))
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            # a name would be looked up, and what it means could change under a running role
            self._problem(
                origin, f"{key} is {redact(repr(host))}; expected {SETTINGS[key].expected}"
            )
            return
        expose = f"{section}.expose"
        if not address.is_loopback and not values.get(expose, False):
            otherwise = f", or set {expose} = true if that is what you want"
            self._problem(
                origin,
                f"{key} {host} can be reached from other machines; "
                f"keep 127.0.0.1{otherwise if expose in values else ''}",
            )

    def _from_text(self, wanted: type, value: Any) -> Any:
        if not isinstance(value, str):
            raise TypeError("expected a text")
        if issubclass(wanted, SecretText):
            return wanted(value)
        if not value.strip() or "\0" in value:
            raise ValueError("expected a path")
        return self._home / Path(value).expanduser()

    def _problem(self, found: Found, text: str) -> None:
        self._sources.problems.append(f"{found.origin}: {text}")


def _home(environ: Mapping[str, str], home: Path | None) -> tuple[Path, str]:
    if home is not None:
        return home.absolute(), "argument"
    if HOME_VARIABLE in environ:
        if not environ[HOME_VARIABLE].strip():
            raise ConfigError(
                f"{HOME_VARIABLE} is blank",
                next_step="Unset it to use the default folder, or give it a path.",
            )
        # os.path, since pathlib raises RuntimeError for a `~user` who is not there
        folder = Path(os.path.expanduser(environ[HOME_VARIABLE]))  # noqa: PTH111
        if not folder.is_absolute():
            raise ConfigError(
                f"{HOME_VARIABLE} is {str(folder)!r}, which is another folder wherever it is used",
                next_step=f"Give the whole path, such as {folder.absolute()}.",
            )
        return folder, HOME_VARIABLE
    import platformdirs  # noqa: PLC0415 - only the default needs it

    return Path(platformdirs.user_data_dir("clankie", appauthor=False)), DEFAULT


def _file_text(path: Path, sources: Sources) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            sources.problems.append(f"{FILE_NAME}: larger than {MAX_FILE_BYTES} bytes")
            return None
        return data.decode()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise ConfigError(
            f"the home {path.parent} is no folder: a file is there, or in its way",
            next_step=f"Move that file away, or give {HOME_VARIABLE} another path.",
        ) from None
    except OSError as error:
        sources.problems.append(f"{FILE_NAME}: cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        sources.problems.append(f"{FILE_NAME}: not UTF-8")
    return None


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *tables, name = key.split(".")
        place = tree
        for table in tables:
            place = place.setdefault(table, {})
        place[name] = value
    return tree


def _not_in_the_file(key: str) -> str:
    text = (
        f"{key} holds a secret, and secrets do not belong in {FILE_NAME}: "
        f"use the variable {variable_for(key)}"
    )
    if key in SETTINGS:
        text += f', or `clankie secret set ID` and here "{BROKER_PREFIX}ID"'
    return text


def _keep(wanted: type, value: object) -> object:
    if not isinstance(value, wanted):
        raise TypeError(f"expected {wanted.__name__}")
    return value


def _shown(value: object) -> str:
    return value.shown() if isinstance(value, SecretText) else str(value)


def _safe(key: str, value: Any) -> Any:
    if is_secret_name(key):
        return HIDDEN
    return redact(value) if isinstance(value, str) else value
