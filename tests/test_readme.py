"""What the README shows is what happens: its programs are run, and the demo's output is the demo's."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BIN = Path(sys.executable).parent
# What differs each time: the ends of ciphertexts and digests.
RANDOM = re.compile(r"[\w-]{10}…[\w-]{5}")
PORT = "8787"


def blocks(language: str) -> list[str]:
    """The README's code blocks in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def program(name: str) -> str:
    """The Python block that begins with `# name`."""
    return next(block for block in blocks("python") if block.startswith(f"# {name}\n"))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "CLANKIE_HOME": str(tmp_path / "clankie-home"),
        "COLUMNS": "80",
        "LANG": "C.UTF-8",
    }


def run(arguments: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(
        arguments, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_demos_output_is_what_the_demo_prints(environ: dict[str, str]) -> None:
    shown = RANDOM.sub("random", blocks("text")[0]).splitlines()
    printed = iter(RANDOM.sub("random", run([str(BIN / "clankie"), "demo"], environ)).splitlines())
    assert shown[0] == "$ make demo"
    for line in shown[1:]:
        if line.strip() != "…":
            assert line in printed, f"not printed, or not in this order: {line}"


def test_its_programs_make_a_body_and_deliver_to_it(
    environ: dict[str, str], tmp_path: Path
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    for name in ("private.py", "deliver.py"):
        text = program(name)
        assert (PORT in text) == (name == "deliver.py")
        (tmp_path / name).write_text(text.replace(PORT, port))
    commands = "".join(blocks("sh"))
    for line in ("python private.py", "clankie body serve &", "clankie body key", "deliver.py"):
        assert line in commands
    environ["CLANKIE_BODY_PORT"] = port
    run([sys.executable, str(tmp_path / "private.py")], environ)
    with subprocess.Popen(
        [str(BIN / "clankie"), "body", "serve"], env=environ, stderr=subprocess.PIPE, text=True
    ) as body:
        try:
            assert body.stderr is not None
            ready = next((line for line in body.stderr if "body_ready" in line), None)
            assert ready is not None
            key = run([str(BIN / "clankie"), "body", "key"], environ).strip()
            question = "Where is the spare key?"
            answer = run([sys.executable, str(tmp_path / "deliver.py"), key, question], environ)
            assert answer == f"{question}\n"
            body.send_signal(signal.SIGTERM)
            assert question not in ready + body.stderr.read()
            assert body.wait(30) == 0
        finally:
            body.kill()
    private = [path for path in (tmp_path / "clankie-home").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in private} == {0o600}


def test_its_configuration_is_taken(environ: dict[str, str]) -> None:
    home = Path(environ["CLANKIE_HOME"])
    home.mkdir()
    (home / "config.toml").write_text(blocks("toml")[0])
    shown = run([str(BIN / "clankie"), "config", "show"], environ)
    assert re.search(
        r"^captain.options.script +slow 2 reply Done\. +config.toml:\d+$", shown, re.MULTILINE
    )
