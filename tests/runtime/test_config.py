"""Configuration: one source a setting, everything checked, every value with its origin."""

from pathlib import Path
from typing import Any

import pytest

from clankie.runtime.config import load_config
from clankie.runtime.config_sources import MAX_FILE_BYTES, variable_for
from clankie.runtime.errors import ConfigError
from clankie.runtime.settings import SETTINGS, TABLES


def write(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)


def refusal(home: Path, text: str = "", **variables: str) -> str:
    """The error of this configuration, which must end with a next step."""
    if text:
        write(home, text)
    with pytest.raises(ConfigError) as refused:
        load_config(variables, home)
    assert refused.value.next_step.endswith(".")
    return str(refused.value)


def test_nothing_configured_gives_defaults_under_the_home(home: Path) -> None:
    loaded = load_config({}, home)
    body = loaded.config.body
    assert (body.host, body.port, body.concurrency, body.grace_seconds) == (
        "127.0.0.1",
        8787,
        8,
        20.0,
    )
    assert body.max_admissions is None
    assert body.bootstrap == home / "bootstrap.json"
    assert body.store.reveal() == f"sqlite:///{home}/body/admissions.db"
    assert loaded.config.captain.kind == "echo"
    assert loaded.config.captain.options == {}
    assert loaded.config.broker_path == home / "broker" / "credentials.json"
    assert set(loaded.origins.values()) == {"default", "argument"}
    assert list(home.iterdir()) == []


def test_the_file_is_read_with_lines_as_origins(home: Path) -> None:
    write(
        home,
        '# mine\n\n[body]\nport = 9000 # why\nbootstrap = "b.json"\n\n'
        '[captain.options]\nscript = "slow 3"\n[ log ]\n"level" = "debug"\n',
    )
    loaded = load_config({}, home)
    assert loaded.config.body.port == 9000
    assert loaded.config.body.bootstrap == home / "b.json"
    assert loaded.config.captain.options == {"script": "slow 3"}
    assert loaded.origins["body.port"] == "config.toml:4"
    assert loaded.origins["captain.options.script"] == "config.toml:8"
    assert loaded.origins["log.level"] == "config.toml:10"
    assert loaded.origins["body.host"] == "default"


def test_dotted_keys_and_inline_tables_are_settings_too(home: Path) -> None:
    write(home, 'body.port = 9000\ncaptain = { kind = "http", options = { a = "b" } }\n')
    loaded = load_config({}, home)
    assert loaded.config.body.port == 9000
    assert loaded.origins["body.port"] == "config.toml:1"
    assert loaded.config.captain.kind == "http"
    assert loaded.config.captain.options == {"a": "b"}
    assert loaded.origins["captain.kind"].startswith("config.toml")


def test_variables_are_read_with_their_names_as_origins(home: Path) -> None:
    loaded = load_config(
        {
            "CLANKIE_BODY_PORT": "0",
            "CLANKIE_BODY_MAX_ADMISSIONS": "5",
            "CLANKIE_BODY_GRACE_SECONDS": "2.5",
            "CLANKIE_METRICS_ENABLED": "false",
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "silence",
            "PATH": "/bin",
        },
        home,
    )
    assert loaded.config.body.port == 0
    assert loaded.config.body.max_admissions == 5
    assert loaded.config.body.grace_seconds == 2.5
    assert loaded.config.metrics.enabled is False
    assert loaded.config.captain.options == {"script": "silence"}
    assert loaded.origins["body.port"] == "CLANKIE_BODY_PORT"


def test_the_home_comes_from_its_variable_or_the_platform(tmp_path: Path) -> None:
    loaded = load_config({"CLANKIE_HOME": str(tmp_path / "x")})
    assert loaded.config.home == tmp_path / "x"
    assert loaded.path == tmp_path / "x" / "config.toml"
    assert loaded.origins["home"] == "CLANKIE_HOME"
    assert load_config({}).config.home.name == "clankie"
    with pytest.raises(ConfigError, match="CLANKIE_HOME is blank"):
        load_config({"CLANKIE_HOME": "  "})


@pytest.mark.parametrize("home", ["x", "./x", "../x", "~no-such-user/x"])
def test_a_home_that_depends_on_where_it_is_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="another folder wherever it is used") as error:
        load_config({"CLANKIE_HOME": home})
    assert str(tmp_path) in error.value.next_step
    assert list(tmp_path.iterdir()) == []


def test_the_users_own_folder_has_a_short_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_config({"CLANKIE_HOME": "~/x"}).config.home == tmp_path / "x"


@pytest.mark.parametrize("below", ["", "a/b"])
def test_a_file_where_the_home_should_be_is_told_as_one(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is no folder") as error:
        load_config({"CLANKIE_HOME": str(tmp_path / "file" / below)})
    assert "CLANKIE_HOME" in error.value.next_step


def test_the_home_cannot_be_set_in_the_file_that_lies_in_it(home: Path) -> None:
    assert "config.toml:1: home is where this file lies" in refusal(home, 'home = "/x"')


def test_a_setting_from_two_sources_is_refused_and_neither_wins(home: Path) -> None:
    text = refusal(home, "[body]\nport = 1", CLANKIE_BODY_PORT="1")
    assert "body.port is set twice, by config.toml:2 and by CLANKIE_BODY_PORT" in text


@pytest.mark.parametrize(
    ("text", "variables", "complaint"),
    [
        ("[body]\nprot = 1", {}, "config.toml:2: no setting body.prot; did you mean body.port?"),
        ("[boddy]\nport = 1", {}, "config.toml:1: no setting boddy"),
        ("body = 3", {}, "config.toml:1: no setting body"),
        ("x = 1", {}, "config.toml:1: no setting x"),
        (
            "",
            {"CLANKIE_BODY_PROT": "1"},
            "no variable CLANKIE_BODY_PROT; did you mean CLANKIE_BODY_PORT?",
        ),
        ("", {"CLANKIE_CAPTAIN_OPTIONS_": "1"}, "no variable CLANKIE_CAPTAIN_OPTIONS_"),
        ("", {"CLANKIE_NO": "1"}, "no variable CLANKIE_NO"),
    ],
)
def test_what_nobody_knows_is_refused_by_name(
    home: Path, text: str, variables: dict[str, str], complaint: str
) -> None:
    assert complaint in refusal(home, text, **variables)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('body.port = "8787"', "body.port is '8787'; expected a port, 0 to 65535"),
        ("body.port = 65536", "body.port is 65536; expected a port"),
        ("body.port = 1.5", "body.port is 1.5; expected a port"),
        ("body.port = true", "body.port is True; expected a port"),
        ("body.port = [1]", "body.port is [1]; expected a port"),
        ("body.concurrency = 0", "body.concurrency is 0; expected a whole number from 1 to 1024"),
        ("body.grace_seconds = -1", "body.grace_seconds is -1; expected a number of seconds"),
        ("body.grace_seconds = nan", "body.grace_seconds is nan; expected a number of seconds"),
        ("body.grace_seconds = inf", "body.grace_seconds is inf; expected a number of seconds"),
        ("body.max_admissions = 0", "expected a whole number of at least 1"),
        ("body.bootstrap = 3", "body.bootstrap is 3; expected a path"),
        ('body.bootstrap = " "', "expected a path"),
        ('body.host = "localhost"', "body.host is 'localhost'; expected an IP address"),
        ('body.host = ""', "expected an IP address"),
        ('body.expose = "yes"', "body.expose is 'yes'; expected true or false"),
        ("body.store = 3", "body.store is [hidden]; expected a URL"),
        ('body.store = "hunter2"', "body.store is [hidden]; expected a URL"),
        ('body.store = "  "', "body.store is blank"),
        ('captain.kind = "E cho"', "expected a short lower-case word"),
        ("captain.options.n = 3", "captain.options.n: expected a text"),
        ('captain.options = "x"', "no setting captain.options"),
        ('log.level = "loud"', "log.level is 'loud'; expected debug, info, warning or error"),
        ('log.format = "xml"', "log.format is 'xml'; expected auto"),
    ],
)
def test_a_wrong_value_says_where_it_is_and_what_is_expected(
    home: Path, text: str, complaint: str
) -> None:
    message = refusal(home, text)
    assert complaint in message
    assert "config.toml:1: " in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLANKIE_BODY_PORT", "http"),
        ("CLANKIE_BODY_PORT", "\uff11\uff12"),
        ("CLANKIE_BODY_GRACE_SECONDS", "nan"),
        ("CLANKIE_METRICS_ENABLED", "maybe"),
        ("CLANKIE_BODY_HOST", "x"),
        ("CLANKIE_BODY_STORE", "x"),
        ("CLANKIE_BODY_STORE", "${DATABASE_URL}"),
        ("CLANKIE_BODY_BOOTSTRAP", "a\0b"),
    ],
)
def test_a_variable_is_checked_as_the_file_is(home: Path, name: str, value: str) -> None:
    assert f"{name}: " in refusal(home, **{name: value})


@pytest.mark.parametrize("name", sorted(variable_for(key) for key in SETTINGS if key not in TABLES))
def test_a_blank_variable_is_refused(home: Path, name: str) -> None:
    if name == "CLANKIE_HOME":
        with pytest.raises(ConfigError, match="blank"):
            load_config({name: " \t"})
    else:
        assert f"{name} is blank" in refusal(home, **{name: " \t"})


def test_all_problems_are_told_at_once(home: Path) -> None:
    text = refusal(home, 'body.port = "a"\nbody.x = 1\n', CLANKIE_Y="1", CLANKIE_LOG_LEVEL="loud")
    assert len(text.splitlines()) == 5


SECRETS_IN_THE_FILE = [
    'body.store = "postgresql://u:hunter2@db/x"',
    'body.store = "postgresql://db/x?user=u&password=hunter2"',
    'body.store = "postgresql://u:hunter2@[db/x"',
    'captain.options.api_key = "hunter2"',
    'captain.options.botToken = "hunter2"',
]


@pytest.mark.parametrize("text", SECRETS_IN_THE_FILE)
def test_a_secret_in_the_file_is_refused_unshown_and_told_where_it_belongs(
    home: Path, text: str
) -> None:
    message = refusal(home, text)
    assert "secrets do not belong in config.toml" in message
    assert "use the variable CLANKIE_" in message
    assert "hunter2" not in message


def test_a_store_without_a_password_or_from_the_broker_may_stand_in_the_file(home: Path) -> None:
    for url in ("postgresql://clankie@db/x", "broker:body-store"):
        write(home, f'body.store = "{url}"')
        assert load_config({}, home).config.body.store.reveal() == url


@pytest.mark.parametrize(
    "placeholder",
    ["postgresql://u:${PASSWORD}@db/x", "postgresql://u:<password>@db/x", "{{ url }}", "$URL"],
)
def test_a_secret_that_nothing_filled_in_is_a_named_error(home: Path, placeholder: str) -> None:
    message = refusal(home, CLANKIE_BODY_STORE=placeholder)
    assert "CLANKIE_BODY_STORE: body.store is a placeholder that nothing filled in" in message


def test_a_secret_from_a_variable_is_taken_and_never_shown(home: Path) -> None:
    loaded = load_config(
        {
            "CLANKIE_BODY_STORE": "postgresql://u:hunter2@db/x",
            "CLANKIE_CAPTAIN_OPTIONS_API_KEY": "hunter2",
        },
        home,
    )
    assert loaded.config.body.store.reveal() == "postgresql://u:hunter2@db/x"
    assert loaded.config.captain.options["api_key"] == "hunter2"
    shown: dict[str, Any] = {entry.key: entry.value for entry in loaded.entries()}
    assert shown["body.store"] == "postgresql://u:[hidden]@db/x"
    assert shown["captain.options.api_key"] == "[hidden]"
    assert "hunter2" not in repr(loaded.entries())
    assert "hunter2" not in repr(loaded.config.body)


def test_every_setting_is_shown_once_with_its_origin(home: Path) -> None:
    entries = load_config({"CLANKIE_BODY_PORT": "1"}, home).entries()
    assert [entry.key for entry in entries] == [key for key in SETTINGS if key not in TABLES]
    assert (
        next(entry.origin for entry in entries if entry.key == "body.port") == "CLANKIE_BODY_PORT"
    )


def test_a_host_that_others_reach_needs_the_owners_word(home: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):  # noqa: S104 - the address under test
        assert "can be reached from other machines" in refusal(home, f'body.host = "{host}"')
        write(home, f'body.host = "{host}"\nbody.expose = true')
        assert load_config({}, home).config.body.host == host
    for host in ("127.0.0.1", "127.3.2.1", "::1"):
        write(home, f'body.host = "{host}"')
        assert load_config({}, home).config.body.host == host


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"[body\nport = 1", "not TOML"),
        (b"a = 1\na = 2", "not TOML"),
        (b"a = hunter2", "not TOML"),
        (b"\xff", "not UTF-8"),
        (b"#" * (MAX_FILE_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(home: Path, data: bytes, complaint: str) -> None:
    (home / "config.toml").write_bytes(data)
    message = refusal(home)
    assert complaint in message
    assert "hunter2" not in message


def test_a_folder_in_the_files_place_is_refused(home: Path) -> None:
    (home / "config.toml").mkdir()
    assert "config.toml: cannot be read" in refusal(home)


def test_no_two_settings_share_a_variable() -> None:
    assert len({variable_for(key) for key in SETTINGS}) == len(SETTINGS)


def test_every_setting_says_what_is_expected() -> None:
    assert all(setting.expected for setting in SETTINGS.values())
