"""What another program imports is there under the names that stay (docs/protocol.md lists them)."""

import inspect
import re
from pathlib import Path

import pytest

import clankie.protocol
from clankie.protocol import errors

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")


@pytest.mark.seed("S7")
def test_every_exported_name_exists_and_is_documented() -> None:
    for name in clankie.protocol.__all__:
        assert hasattr(clankie.protocol, name)
        assert re.search(rf"\b{name}\b", DOCUMENTED), name


@pytest.mark.seed("S7")
def test_the_domain_and_the_path_are_the_contracts() -> None:
    assert clankie.protocol.DISCORD_INGRESS_DOMAIN == "clankie-discord-ingress-v1"
    assert clankie.protocol.DISCORD_INGRESS_PATH == "/v1/discord/ingress"


@pytest.mark.seed("S28")
def test_every_error_is_a_protocol_error_and_stands_in_the_tree_of_its_module() -> None:
    classes = [
        item
        for _, item in inspect.getmembers(errors, inspect.isclass)
        if item.__module__ == errors.__name__ and issubclass(item, Exception)
    ]
    assert len(classes) == 11
    assert [item for item in classes if not issubclass(item, errors.ProtocolError)] == []
    assert [item for item in classes if item.__name__ not in (errors.__doc__ or "")] == []
