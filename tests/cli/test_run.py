"""``dcc-bridge run``: one skill where nobody sits; what answered is printed and on record."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from dcc_bridge import checkpoints
from dcc_bridge.audit import reader
from dcc_bridge.batch_job import import_scenes, opened
from dcc_bridge.errors import MissingExtra
from tests.cli import commands
from tests.cli.commands import SHOT, Done
from tests.hosts import freecad
from tests.tiers import sampled

SKILLS = Path(__file__).parent / "skills"
EXAMPLE = Path(__file__).parents[2] / "resources/skills/delete_prims.py"
ALL = '{"pattern": "*", "type": "Camera"}'
PROPS = ("rename", "--scene", SHOT, "--args", '{"names": {"/World/Props": "Things"}}')

_NAMES = """
from dcc_bridge import elicit_form_sync, skill

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@skill(risk="edit")
def name_it():
    'Ask for a name.'
    said = elicit_form_sync("Its name?", SCHEMA, fallback_values={"name": "crane"})
    return said.data["name"] if said.accepted else None
"""

_SIGNS = """
from dcc_bridge import skill
from dcc_bridge.elicitation.ask_secret import ask_secret_sync


@skill(risk="read")
def sign():
    'Ask for a key.'
    ask_secret_sync("For signatures.", label="Key")
"""

_VANISHES = """
from pathlib import Path

from dcc_bridge import skill


@skill(risk="edit")
def vanish():
    'Rename a folder.'
    Path({folder!r}).rename({folder!r} + " as it was")
"""


def run(folder: Path, *words: str | Path) -> Done:
    return commands.run(folder, "run", *words, DCC_BRIDGE_AUDIT=str(folder / "audit"))


def delete(folder: Path, *words: str | Path) -> Done:
    return run(folder, "delete", "--scene", SHOT, "--args", ALL, *words)


def kept(folder: Path) -> list[str]:
    """List what the record says of the call."""
    (book,) = [reader.read(file) for file in reader.logs(folder / "audit")]
    assert book.trouble is None
    return [str(one.fields.get("event")) for one in book.lines()]


def test_what_stood_where_the_scene_is_saved_is_kept(tmp_path: Path) -> None:
    """As of every file that is written over."""
    out = tmp_path / "out.usda"
    out.write_text("as it was")

    done = run(tmp_path, *PROPS, "--save-as", out)

    (copy,) = checkpoints.taken(tmp_path / "out.usda.checkpoints")
    assert (done.code, "Things" in out.read_text()) == (0, True)
    assert (copy / "out.usda").read_text() == "as it was"
    assert f"The scene was written to {out}; the previous version is in {copy}." in done.err
    assert f"saved, cannot be undone: write {out}; the previous version is in {copy}" in done.err
    listed = commands.run(
        tmp_path, "checkpoint", "list", out, DCC_BRIDGE_AUDIT=str(tmp_path / "audit")
    )
    assert "rename for run, call " in listed.out


def test_a_scene_that_could_not_be_saved_is_not_on_record_as_saved(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    (tmp_path / "vanish.py").write_text(_VANISHES.format(folder=str(folder)))
    (tmp_path / "list").write_text("vanish")

    done = run(
        *(tmp_path, "vanish", "--skills", tmp_path, "--save-as", folder / "out.usda"),
        *("--unattended", f"allow:{tmp_path / 'list'}"),
    )

    assert done.code == 1
    assert "began to write" in done.err
    assert "failed: " in done.err
    assert "saved, " not in done.err
    assert kept(tmp_path)[-4:] == ["end", "begin", "failed", "closed"]


def test_a_change_that_is_saved_nowhere_is_told_with_the_option_that_saves_it(
    tmp_path: Path,
) -> None:
    """It goes with the process, and so does its undo step; a look loses nothing, and is printed."""
    changed = run(tmp_path, *PROPS)
    looked = run(tmp_path, "list_items", "--scene", SHOT, "--args", '{"type": "Camera"}')

    assert changed.code == looked.code == 0
    assert json.loads(looked.out)["found"] == 127
    assert "done, changed\n" in changed.err
    assert "saved nothing" in changed.err
    assert "--save-as FILE" in changed.err
    assert "--save-as" not in looked.err


@pytest.mark.core
@pytest.mark.parametrize(
    "rule", sampled([()], [(), ("--unattended", "deny"), ("--unattended", "fallback")])
)
def test_where_nobody_sits_nothing_is_deleted(tmp_path: Path, rule: tuple[str, ...]) -> None:
    """Who answered is printed, and the scene is not written."""
    done = delete(tmp_path, "--save-as", tmp_path / "out.usda", *rule)

    assert (done.code, "nobody could be asked" in done.err) == (3, True)
    assert ("a setting declined it" in done.err) == ("deny" in rule)
    assert not (tmp_path / "out.usda").exists()


@pytest.mark.parametrize(("rule", "code", "out"), [("fallback", 0, '"crane"'), ("deny", 3, "")])
def test_a_declared_fallback_answers_unless_it_is_denied(
    tmp_path: Path, rule: str, code: int, out: str
) -> None:
    """What a skill declared for a question that is no consent."""
    (tmp_path / "names.py").write_text(_NAMES)

    done = run(tmp_path, "name_it", "--skills", tmp_path, "--unattended", rule)

    assert (done.code, done.out.strip()) == (code, out), done.err


@pytest.mark.parametrize("digest", sampled(["{digest}"], ["", "{digest}", "sha256:{digest} # x"]))
def test_what_a_studio_lists_goes_on_unasked(tmp_path: Path, digest: str) -> None:
    """By its name, or by its name and the digest of its very file; the record says so."""
    allowed = digest.format(digest=sha256(EXAMPLE.read_bytes()).hexdigest())
    (tmp_path / "list").write_text(f"# for the farm\n\ndelete_prims {allowed}\n")

    done = run(
        *(tmp_path, "delete_prims", "--skills", EXAMPLE.parent, "--scene", SHOT),
        *("--args", '{"pattern": "*", "type_name": "Camera"}', "--save-as", tmp_path / "o.usda"),
        *("--unattended", f"allow:{tmp_path / 'list'}"),
    )

    assert (done.code, json.loads(done.out)["deleted"]) == (0, 127), done.err
    assert f"because a setting allows it ({tmp_path / 'list'})" in done.err
    assert "fallback" not in done.err
    assert "def Camera" not in (tmp_path / "o.usda").read_text()
    assert "granted" in kept(tmp_path)


def test_where_a_secret_is_missing_no_list_of_skills_is_advised(tmp_path: Path) -> None:
    """No setting answers what only a person knows."""
    (tmp_path / "sign.py").write_text(_SIGNS)

    done = run(tmp_path, "sign", "--skills", tmp_path)

    assert (done.code, "Nobody could be asked" in done.err) == (3, True)
    assert "allow:FILE" not in done.err


@pytest.mark.parametrize("line", ["rename", f"delete {'0' * 64}"])
def test_what_is_not_on_the_list_is_refused(tmp_path: Path, line: str) -> None:
    """Another skill, and another file of the same name."""
    (tmp_path / "list").write_text(line)

    done = delete(tmp_path, "--unattended", f"allow:{tmp_path / 'list'}")

    assert "nobody could be asked" in done.err
    assert "granted" not in kept(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no_such_skill",), "There are: assign_material, "),
        (("list_item",), "Did you mean list_items"),
        (("list_items", "--args", "{"), "this is not JSON"),
        (("list_items", "--args", "[]"), "an object such as"),
        (("list_items", "--args", '{"limit": "many"}'), "limit"),
        (("list_items", "--scene", "nowhere.usda"), "no file"),
        (("list_items", "--save-as", "nowhere/out.usda"), "no folder nowhere"),
        (("list_items", "--save-as", "."), "is a folder"),
        (("list_items", "--save-as", "out.txt"), "ends in .usd or .usda or .usdc"),
        (("list_items", "--save-as", "out"), "out is no scene of our own application"),
        (("list_items", "--host", "blender", "--save-as", "out.usda"), "ends in .blend."),
        (("list_items", "--unattended", "yes"), "--unattended"),
        (("list_items", "--unattended", "allow:nowhere"), "nowhere"),
        (("list_items", "--host", "maya", "--interpreter", "/no/mayapy"), "/no/mayapy"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_sentence(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """With the exit code for wrong usage, and no traceback."""
    done = run(tmp_path, *words)

    assert (done.code, said in done.err, "Traceback" in done.err) == (2, True, False), done.err


def test_a_host_that_is_not_installed_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody with another host named none."""
    monkeypatch.setitem(sys.modules, "dcc_bridge_usd.host", None)

    with (
        pytest.raises(MissingExtra, match=r"--host.*dcc-bridge-mcp\[demo\]"),
        opened("usd", import_scenes("dcc_bridge_usd.scenes"), None),
    ):
        pass


def test_a_skill_that_fails_has_its_own_code(tmp_path: Path) -> None:
    """And nothing is written."""
    done = run(
        *(tmp_path, "rename", "--scene", SHOT, "--save-as", tmp_path / "out.usda"),
        *("--args", '{"names": {"/nowhere": "x"}}'),
    )

    assert (done.code, "/nowhere" in done.err) == (1, True)
    assert not (tmp_path / "out.usda").exists()


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """Whatever it is in the middle of."""
    done = run(tmp_path, "list_items", "--timeout", "0.01")

    assert (done.code, done.out) == (1, "")
    assert "It took more than 0.01 s and was stopped." in done.err


def test_a_script_of_ones_own_runs_as_agreed_code_and_what_it_reaches_is_told(
    tmp_path: Path,
) -> None:
    script, out = tmp_path / "tidy.py", tmp_path / "out.usda"
    script.write_text('import os\nstage.RemovePrim("/World/Props")\nmemory["n"] = 1\n"tidied"\n')

    done = run(tmp_path, "--python", script, "--scene", SHOT, "--save-as", out)

    assert done.code == 0, done.err
    assert json.loads(done.out)["result"] == "tidied"
    assert f"{script}, line 1: imports os" in done.err
    assert "approved by the user who ran this command" in done.err
    assert ("a setting allows it" in done.err, "allowed)" in done.err) == (False, False)
    assert '"Props"' not in out.read_text()
    assert f"code {sha256(script.read_bytes()).hexdigest()[:12]}" in done.err


def test_a_script_that_fails_saves_nothing(tmp_path: Path) -> None:
    script, out = tmp_path / "bad.py", tmp_path / "out.usda"
    script.write_text('stage.DefinePrim("/World/New")\nstage.nothing()\n')

    done = run(tmp_path, "--python", script, "--scene", SHOT, "--save-as", out)
    broken = run(tmp_path, "--python", SHOT, "--scene", SHOT)
    neither = run(tmp_path, "--scene", SHOT)
    both = run(tmp_path, "rename", "--python", script, "--scene", SHOT)
    gone = run(tmp_path, "--python", tmp_path / "gone.py", "--scene", SHOT)

    assert (done.code, broken.code, neither.code, out.exists()) == (1, 2, 2, False)
    assert (both.code, "not both" in both.err) == (2, True)
    assert f"{tmp_path / 'gone.py'} cannot be run: No such file or directory" in gone.err
    *_, line, why = done.err.splitlines()
    assert line == f"dcc-bridge: {script}: run_python: line 2: stage.nothing()"
    assert why.startswith("  AttributeError: ")
    assert "U+000A" not in done.err
    assert "Nothing was changed." in done.err


@pytest.mark.real
@pytest.mark.timeout(120)
@pytest.mark.skipif(freecad.CONSOLE is None, reason="FreeCAD is not installed")
def test_a_skill_is_run_in_freecadcmd(tmp_path: Path) -> None:
    """FreeCAD's own interpreter makes a document; a second run loses it to a listed skill."""
    made = "import FreeCAD; d = FreeCAD.newDocument(); d.addObject('Part::Box', 'Box'); "
    scene, out = tmp_path / "a.FCStd", tmp_path / "b.FCStd"
    freecad.in_console(f"{made} d.saveAs({str(scene)!r})", tmp_path)
    (tmp_path / "list").write_text("delete")
    words = ("delete", "--host", "freecad", "--args", '{"pattern": "Box"}')

    refused = run(tmp_path, *words, "--scene", scene)
    done = run(
        *(tmp_path, *words, "--scene", scene, "--save-as", out),
        *("--unattended", f"allow:{tmp_path / 'list'}"),
    )
    left = run(tmp_path, "list_items", "--host", "freecad", "--scene", out)

    assert (refused.code, done.code) == (3, 0), refused.err + done.err
    assert json.loads(left.out)["found"] == 0
