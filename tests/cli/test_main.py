"""The command line: it teaches, stays light, and every error ends with what to do."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from clankie.cli import commands
from clankie.cli.commands import COMMANDS, help_screen
from clankie.cli.main import run
from clankie.runtime.broker import FileBroker, TokenCredential
from clankie.runtime.errors import ClankieError

HEAVY = [
    "litestar",
    "uvicorn",
    "sqlalchemy",
    "structlog",
    "cryptography",
    "prometheus_client",
    "rich",
    "httpx2",
]


def clankie(*arguments: str, home: Path, stdin: str = "", **variables: str) -> Any:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from clankie.cli.main import run; run()", *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
        env={"PATH": os.environ["PATH"], "CLANKIE_HOME": str(home), **variables},
    )


def test_help_is_one_screen_that_says_what_this_is_and_what_to_type(home: Path) -> None:
    done = clankie("--help", home=home)
    assert done.returncode == 0
    assert done.stdout.rstrip() == help_screen().rstrip()
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for word in ("owner's own machine", "clankie config show"):
        assert word in done.stdout
    about = done.stdout.partition("Type first:")[0]
    for role in ("edge", "fleet", "gateway", "body"):
        assert len(re.findall(rf"\b{role}\b", about)) >= 2, role  # in the picture, and what it does


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom clankie.cli.main import run\n"
        "try: run(['--help'])\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_every_command_in_the_table_can_be_loaded_and_says_what_it_does(
    row: commands.Row, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run([row.name, "--help"])
    assert ended.value.code == 0
    assert f"Usage: clankie {row.name}" in capsys.readouterr().out
    assert not row.first or row.first.startswith(f"clankie {row.name}")


def test_no_command_shows_the_help_as_wrong_usage(home: Path) -> None:
    done = clankie(home=home)
    assert done.returncode == 2
    assert "Type first:" in done.stdout + done.stderr


def test_the_version_is_printed(home: Path) -> None:
    done = clankie("--version", home=home)
    assert done.returncode == 0
    assert done.stdout.startswith("clankie 0.")


def test_a_mistyped_command_is_wrong_usage_and_the_near_one_is_named(home: Path) -> None:
    done = clankie("confg", home=home)
    assert done.returncode == 2
    assert "Did you mean 'config'?" in done.stderr
    assert "Did you mean" not in clankie("zzz", home=home).stderr


def test_an_error_is_one_line_and_the_next_step_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_args: object) -> None:
        raise ClankieError("no route to postgresql://u:hunter2@db", next_step="Start it.")

    monkeypatch.setattr(typer.main, "get_command", fail)
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert shown == "Error: no route to postgresql://u:[hidden]@db\nNext: Start it.\n"


def test_a_bug_is_told_as_one_without_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = "marker-content"

    def fail(*_args: object) -> None:
        raise ValueError(content)

    monkeypatch.setattr(typer.main, "get_command", fail)
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert "ValueError" in shown
    assert "test_main.py" in shown
    assert "this is a bug" in shown
    assert "Next: " in shown
    assert content not in shown


def test_config_show_prints_each_value_with_its_origin(home: Path) -> None:
    (home / "config.toml").write_text("[body]\nport = 9000\n")
    done = clankie("config", "show", home=home, CLANKIE_BODY_STORE="postgresql://u:hunter2@db/x")
    assert done.returncode == 0
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert rows["body.port"] == ["9000", "config.toml:2"]
    assert rows["body.host"] == ["127.0.0.1", "default"]
    assert rows["body.store"] == ["postgresql://u:[hidden]@db/x", "CLANKIE_BODY_STORE"]
    assert rows["home"] == [str(home), "CLANKIE_HOME"]
    assert rows["body.max_admissions"] == ["-", "default"]


def test_config_show_as_json_is_for_programs(home: Path) -> None:
    done = clankie(
        "config", "show", "--json", home=home, CLANKIE_BODY_STORE="postgresql://u:hunter2@db/x"
    )
    entries = json.loads(done.stdout)
    assert {"key": "body.port", "value": 8787, "origin": "default"} in entries
    assert "hunter2" not in done.stdout


def test_config_path_is_printed_alone(home: Path) -> None:
    assert clankie("config", "path", home=home).stdout == f"{home}/config.toml\n"


def test_a_refused_configuration_is_told_whole(home: Path) -> None:
    done = clankie("config", "show", home=home, CLANKIE_BODY_PROT="1", CLANKIE_LOG_LEVEL="loud")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Error: the configuration is refused:" in done.stderr
    assert "did you mean CLANKIE_BODY_PORT?" in done.stderr
    assert "CLANKIE_LOG_LEVEL: log.level is 'loud'" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Next: Correct ")
    assert "Traceback" not in done.stderr


def test_a_secret_is_piped_in_kept_listed_and_deleted_and_never_shown(home: Path) -> None:
    kept = clankie("secret", "set", "body-store", home=home, stdin="hunter2\n")
    assert kept.returncode == 0
    path = home / "broker" / "credentials.json"
    assert FileBroker(path).get("body-store", TokenCredential) == TokenCredential("hunter2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    listed = clankie("secret", "list", home=home)
    assert listed.stdout == "body-store  token\n"
    deleted = clankie("secret", "delete", "body-store", home=home)
    assert deleted.returncode == 0
    assert FileBroker(path).kinds() == {}
    assert clankie("secret", "list", home=home).stdout == "none\n"
    again = clankie("secret", "delete", "body-store", home=home)
    assert again.returncode == 1
    assert "Next: `clankie secret list`" in again.stderr
    for done in (kept, listed, deleted, again):
        assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize("stdin", ["", "\n", "  \n"])
def test_a_blank_secret_is_refused_and_nothing_is_kept(home: Path, stdin: str) -> None:
    done = clankie("secret", "set", "x", home=home, stdin=stdin)
    assert done.returncode == 1
    assert "Next: " in done.stderr
    assert list(home.iterdir()) == []


def test_a_secret_is_not_taken_as_an_argument(home: Path) -> None:
    assert clankie("secret", "set", "x", "hunter2", home=home).returncode == 2
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "typed",
    [
        "secret list",
        "secret delete x",
        "body key",
        "config show",
        "doctor",
        "trace discord:1",
        "say hello",
        "fleet account list",
    ],
)
def test_in_a_home_that_is_not_there_nothing_is_made_by_looking(tmp_path: Path, typed: str) -> None:
    home = tmp_path / "mistyped"
    done = clankie(*typed.split(), home=home, CLANKIE_BODY_PORT="0")
    assert done.returncode in {0, 1}
    last = (done.stdout + done.stderr).splitlines()[-1]
    assert done.returncode == 0 or last.startswith("Next: ")
    assert not home.exists()


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("fleet acount list", "Did you mean 'account'?"),
        ("fleet account lst", "Did you mean 'list'?"),
        ("fleet account add", "Missing argument 'LABEL'"),
        ("say hello again", "unexpected extra argument"),
        ("trace --jsn", "No such option"),
        ("fleet limit set account_sends_per_day x many", "integer"),
        ("fleet audit list --count 0", "--count"),
    ],
)
def test_wrong_usage_is_told_with_what_to_do_in_the_last_line(
    home: Path, typed: str, error: str
) -> None:
    done = clankie(*typed.split(), home=home)
    assert (done.returncode, done.stdout) == (2, "")
    usage, *_, said, next_step = done.stderr.splitlines()
    assert usage.startswith("Usage: clankie ")
    assert said.startswith("Error: ")
    assert error in said
    assert re.fullmatch(r"Next: see `clankie .*--help`\.", next_step)
    assert list(home.iterdir()) == []


def test_only_the_whole_offers_to_complete_commands(home: Path) -> None:
    assert "--install-completion" in clankie("--help", home=home).stdout
    for row in COMMANDS:
        assert "--install-completion" not in clankie(row.name, "--help", home=home).stdout, row
