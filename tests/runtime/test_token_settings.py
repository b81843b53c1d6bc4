"""Settings that are a token and nothing else: taken from a variable, refused in the file, never shown."""

from pathlib import Path

import pytest

from clankie.runtime.config import load_config
from clankie.runtime.errors import ConfigError

TOKEN = "MARKER.of.a-token"


def test_a_variable_supplies_it_and_no_listing_shows_it(tmp_path: Path) -> None:
    loaded = load_config({"CLANKIE_EDGE_BOT_TOKEN": TOKEN}, tmp_path)
    assert loaded.config.edge.bot_token.reveal() == TOKEN
    assert TOKEN not in repr(loaded.config) + repr(loaded.entries())


def test_the_file_may_name_one_of_the_broker_and_hold_none(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[edge]\nbot_token = "broker:mine"\n')
    assert load_config({}, tmp_path).config.edge.bot_token.reveal() == "broker:mine"
    file.write_text(f'[edge]\nbot_token = "{TOKEN}"\n')
    with pytest.raises(ConfigError, match="secrets do not belong in") as refused:
        load_config({}, tmp_path)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    "origin", ["https://discord.com", "http://192.0.2.1:80", "http://127.0.0.1:80/path"]
)
def test_a_simulated_discord_is_on_this_machine(tmp_path: Path, origin: str) -> None:
    with pytest.raises(ConfigError, match="an origin of this machine"):
        load_config({"CLANKIE_EDGE_DISCORD_ORIGIN": origin}, tmp_path)
