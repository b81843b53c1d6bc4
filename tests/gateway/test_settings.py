"""What the gateway is told by configuration and command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clankie.runtime.config import load_config
from clankie.runtime.errors import ConfigError
from clankie.runtime.origins import is_dialable_origin


def test_without_a_word_it_listens_on_this_machine_and_is_alone(home: Path) -> None:
    gateway = load_config({}, home).config.gateway
    assert (gateway.host, gateway.port, gateway.local_port) == ("127.0.0.1", 8788, 8789)
    assert (gateway.fleet_origin, gateway.nats_url, gateway.forwarder) == (None, None, None)
    assert gateway.verify_keys == home / "gateway" / "verify-keys.json"
    assert gateway.grace_seconds == 30


def test_an_address_that_others_reach_needs_the_owners_word(home: Path) -> None:
    settings = {"CLANKIE_GATEWAY_HOST": "192.0.2.1"}
    with pytest.raises(ConfigError, match=r"set gateway\.expose = true"):
        load_config(settings, home)
    settings["CLANKIE_GATEWAY_EXPOSE"] = "true"
    assert load_config(settings, home).config.gateway.host == "192.0.2.1"


@pytest.mark.parametrize("url", ["nats://u:hunter2@n:4222", "nats://n:4222?password=hunter2"])
def test_a_nats_url_with_a_password_does_not_belong_in_the_file_and_is_never_shown(
    home: Path, url: str
) -> None:
    (home / "config.toml").write_text(f'[gateway]\nnats_url = "{url}"\n')
    with pytest.raises(ConfigError, match="CLANKIE_GATEWAY_NATS_URL") as refused:
        load_config({}, home)
    assert "hunter2" not in str(refused.value)
    (home / "config.toml").unlink()
    loaded = load_config({"CLANKIE_GATEWAY_NATS_URL": url}, home)
    assert "hunter2" not in repr(loaded)
    assert "hunter2" not in repr(loaded.entries())


@pytest.mark.parametrize("url", ["", "  ", "${NATS_URL}", "n:4222"])
def test_a_nats_url_that_is_none_is_refused(home: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"gateway\.nats_url|CLANKIE_GATEWAY_NATS_URL"):
        load_config({"CLANKIE_GATEWAY_NATS_URL": url}, home)


@pytest.mark.parametrize(
    ("origin", "dialable"),
    [
        ("https://fleet.example", True),
        ("https://fleet.example:8443", True),
        ("http://127.0.0.1:1", True),
        ("http://[::1]:1", True),
        ("http://localhost:1", True),
        ("http://fleet.example", False),
        ("http://127.0.0.1.fleet.example", False),
        ("https://fleet.example/", False),
        ("https://fleet.example/x", False),
        ("https://FLEET.example", False),
        ("https://u@fleet.example", False),
        ("https://fleet.example:443", False),
        ("wss://fleet.example", False),
        ("fleet.example", False),
        ("", False),
    ],
)
def test_an_origin_is_exact_and_unencrypted_on_this_machine_only(
    origin: str, dialable: bool
) -> None:
    assert is_dialable_origin(origin) is dialable


def test_cluster_without_a_cluster_does_not_start_and_says_what_to_set(tmp_path: Path) -> None:
    done = serve(tmp_path, "--cluster")
    assert done.returncode == 1
    assert "gateway.nats_url is not set" in done.stderr
    assert "Next: Set CLANKIE_GATEWAY_NATS_URL" in done.stderr


def test_without_keys_and_without_a_fleet_it_does_not_start_and_says_what_to_do(
    tmp_path: Path,
) -> None:
    done = serve(tmp_path)
    assert done.returncode == 1
    assert "verify-keys.json cannot be read" in done.stderr
    assert "gateway.fleet_origin" in done.stderr


def serve(home: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(Path(sys.executable).with_name("clankie")), "gateway", "serve", *flags],
        env={**os.environ, "CLANKIE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
