"""Captains are found by kind: the shipped ones always, others through their entry point."""

import sys
from pathlib import Path

import pytest

from clankie.captain.echo import EchoCaptain
from clankie.captain.errors import CaptainNotLoadable, CaptainOptionInvalid, UnknownCaptain
from clankie.captain.registry import create_captain, known_kinds

PLUGIN = """
from clankie.captain.errors import CaptainOptionInvalid

class Captain:
    def __init__(self, options):
        self.options = options

def create(options):
    if "bad" in options:
        raise CaptainOptionInvalid("bad is bad", next_step="Leave it out.")
    if "broken" in options:
        raise KeyError("broken")
    return Captain(options)
"""


def install(folder: Path, package: str, entry_points: str) -> None:
    """What an installer leaves behind: a module and its metadata."""
    (folder / f"{package}.py").write_text(PLUGIN)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[clankie.captains]\n{entry_points}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_echo_captain_needs_no_installed_metadata() -> None:
    assert isinstance(create_captain("echo", {"script": "silence"}), EchoCaptain)


def test_an_unknown_kind_is_refused_with_the_known_ones(site: Path) -> None:
    install(site, "parrot_captain", "parrot = parrot_captain:create")
    with pytest.raises(UnknownCaptain, match="'ech' here; known: echo, parrot") as caught:
        create_captain("ech", {})
    assert "captain.kind" in caught.value.next_step


def test_an_installed_captain_is_made_with_its_options(site: Path) -> None:
    install(site, "magpie_captain", "magpie = magpie_captain:create")
    assert known_kinds() == ["echo", "magpie"]
    captain = create_captain("magpie", {"colour": "black"})
    assert vars(captain) == {"options": {"colour": "black"}}


def test_no_installed_package_takes_the_place_of_a_shipped_captain(site: Path) -> None:
    install(site, "cuckoo_captain", "echo = cuckoo_captain:create")
    assert isinstance(create_captain("echo", {}), EchoCaptain)
    assert "cuckoo_captain" not in sys.modules


@pytest.mark.parametrize(
    ("entry_point", "cause"),
    [
        ("lost = no_such_module:create", "ModuleNotFoundError"),
        ("lost = lost_captain:no_such_name", "AttributeError"),
    ],
)
def test_a_captain_that_does_not_load_is_named(site: Path, entry_point: str, cause: str) -> None:
    install(site, "lost_captain", entry_point)
    with pytest.raises(CaptainNotLoadable, match=cause) as caught:
        create_captain("lost", {})
    assert "'lost'" in str(caught.value)
    assert "lost_captain" in caught.value.next_step


def test_a_captain_that_breaks_while_it_is_made_is_named(site: Path) -> None:
    install(site, "frail_captain", "frail = frail_captain:create")
    with pytest.raises(CaptainNotLoadable, match=r"'frail'.*KeyError"):
        create_captain("frail", {"broken": "yes"})
    with pytest.raises(CaptainOptionInvalid, match="bad is bad"):
        create_captain("frail", {"bad": "yes"})


def test_a_kind_that_two_packages_claim_is_refused(site: Path) -> None:
    install(site, "one_captain", "twin = one_captain:create")
    install(site, "two_captain", "twin = two_captain:create")
    with pytest.raises(CaptainNotLoadable, match="one_captain, two_captain"):
        create_captain("twin", {})
