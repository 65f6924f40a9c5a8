"""Code is read before anybody is asked: what is refused, and which lines are marked."""

from __future__ import annotations

import ast
from hashlib import sha256
from importlib import import_module
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcc_bridge.code.code_text import MAX_BYTES, MAX_LINES, read_code
from dcc_bridge.errors import BadArguments
from dcc_bridge.spi import PlainNames
from tests.code.plain_texts import PLAIN, REACHES
from tests.house import ROOT

HOSTS = [*PLAIN]


def plain_names(host: str) -> PlainNames:
    """Return what a leaf says of its application, without that."""
    plain: PlainNames = import_module(f"dcc_bridge_{host}.plain_names").PLAIN
    return plain


BLENDER = plain_names("blender")
REFUSED = [
    ("x = 1\nfor y in (:\n    pass", "Line 2 is not valid Python: .*for y in"),
    ("x = 1\nreturn x", "Line 2 .*'return' outside function"),
    ("yield 1", "Line 1 .*'yield' outside function"),
    ("import asyncio\nawait asyncio.sleep(1)", "Line 2 .*'await' outside function"),
    ("nonlocal x", "Line 1 .*nonlocal"),
    ("a = 1\nb = '\u202e'", r"Line 2: the character U\+202E"),
    ("a = 1\n\nb\u200b = 1", r"Line 3: the character U\+200B"),
    ("\ufeffa = 1", r"Line 1: the character U\+FEFF"),
    ("a = 'x\0'", r"Line 1: the character U\+0000"),
    ("a = 1\rimport os", r"Line 1: the character U\+000D"),
    ("a = 1\x0cimport os", r"Line 1: the character U\+000C"),
    ("a = '\ud800'", r"Line 1: the character U\+D800"),
    ("a = '\U000e0041'", r"Line 1: the character U\+E0041"),
    ("# -*- coding: utf-7 -*-\na = 1", "Line 1: remove the encoding utf-7"),
    ("x = 1\n" * (MAX_LINES + 1), "at most 16,384 bytes and 400 lines"),
    ("x = '" + "\u00e9" * (MAX_BYTES // 2) + "'", "The code has 1 line and 16,390 bytes"),
    ("x = " + "-" * 16_000 + "1", "nested"),
    ("x = " + "not " * 4_000 + "1", "nested"),
    ("a = 1\nx = a" + ".a" * 7_000, "nested"),
    ("x = a" + "()" * 7_000, "nested"),
    ("x = " + "lambda:" * 2_000 + "1", "nested"),
    ("x = " + "(" * 150 + "1" + "+1)" * 150, "nested"),
    ("x = " + "(" * 250 + ")" * 250, "Line 1 .*nested parentheses"),
    ("a" + "**a" * 5_000, "nested"),
]


@pytest.mark.parametrize(("code", "why"), REFUSED, ids=range(len(REFUSED)))
def test_code_that_cannot_be_asked_about_is_refused_with_its_line(code: str, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        read_code(code, BLENDER)


def test_what_is_agreed_to_is_the_text_with_its_digest_and_lines() -> None:
    read = read_code("# -*- coding: utf-8 -*-\r\nx = '⚠️ é'\r\n", plain_names("maya"))

    assert read.text == "# -*- coding: utf-8 -*-\nx = '⚠️ é'\n"
    assert (read.sha256, read.lines) == (sha256(read.text.encode()).hexdigest(), 2)
    assert compile(read.tree, "x", "exec")


REAL_USE = [(host, name) for host, texts in PLAIN.items() for name in texts]


@pytest.mark.parametrize(("host", "name"), REAL_USE)
def test_what_artists_ask_for_is_plain(host: str, name: str) -> None:
    text = read_code(PLAIN[host][name], plain_names(host))

    assert text.is_plain, text.findings
    assert not text.closes_scene


@pytest.mark.parametrize("host", HOSTS)
def test_what_reaches_out_by_python_is_plain_in_no_application(host: str) -> None:
    plain = plain_names(host)

    assert [code for code in REACHES["python"] if read_code(code, plain).is_plain] == []


@pytest.mark.parametrize("host", HOSTS)
def test_what_reaches_out_by_the_application_is_not_plain(host: str) -> None:
    plain = plain_names(host)

    assert [code for code in REACHES[host] if read_code(code, plain).is_plain] == []


@pytest.mark.parametrize("host", HOSTS)
def test_where_a_leaf_says_nothing_only_python_is_plain(host: str) -> None:
    for code in PLAIN[host].values():
        assert not read_code(code, PlainNames()).is_plain
    assert read_code("sorted(range(3))", PlainNames()).is_plain


MARKED = [
    ("blender", "import bpy, os\nx = 1\nos.remove('x')", {1: "imports os", 3: "uses os.remove"}),
    ("usd", "s = stage\ns.Save(); s.Export('x')", {2: "uses Save; uses Export"}),
    ("usd", "(stage\n .GetRootLayer()\n .Save())", {2: "uses GetRootLayer", 3: "uses Save"}),
    ("maya", "k = 'a'\ncmds.createNode(k)", {2: "calls createNode with k"}),
    ("freecad", "App.openDocument('x')", {1: "uses FreeCAD.openDocument"}),
    ("blender", "bpy.types.Object.x = 1", {1: "uses bpy.types.Object.x"}),
    ("blender", "getattr(it, name)()", {1: "calls getattr with a computed name"}),
]


@pytest.mark.parametrize(("host", "code", "marks"), MARKED)
def test_each_marked_line_is_told_once_with_its_reasons(
    host: str, code: str, marks: dict[int, str]
) -> None:
    findings = read_code(code, plain_names(host)).findings

    assert {it.line: it.reason for it in findings} == marks
    assert len(findings) == len(marks)


DELETES = {
    "blender": "for it in list(bpy.data.objects): bpy.data.objects.remove(it)",
    "freecad": "doc.removeObject('Box')",
    "usd": "stage.RemovePrim('/World')",
    "maya": "cmds.delete('box')",
    "houdini": "hou.node('/obj/box').destroy()",
}


@pytest.mark.parametrize("host", DELETES)
def test_what_a_text_deletes_is_not_marked(host: str) -> None:
    """That is asked about once it is known."""
    assert read_code(DELETES[host], plain_names(host)).is_plain


CLOSES = {
    "blender": "bpy.ops.wm.read_homefile()",
    "freecad": "App.closeDocument(doc.Name)",
    "usd": "stage.GetRootLayer().Reload()",
    "maya": "cmds.file(new=True, force=True)",
    "houdini": "with hou.undos.disabler(): pass",
}


@pytest.mark.parametrize("host", CLOSES)
def test_what_closes_the_scene_or_switches_undo_off_is_known(host: str) -> None:
    assert read_code(CLOSES[host], plain_names(host)).closes_scene


def test_a_query_closes_nothing() -> None:
    assert not read_code("cmds.file(query=True, sceneName=True)", plain_names("maya")).closes_scene


def test_a_literal_name_closes_as_an_attribute_does() -> None:
    assert read_code("getattr(bpy.ops.wm, 'open_mainfile')(filepath='x')", BLENDER).closes_scene


@pytest.mark.parametrize("host", HOSTS)
def test_the_modules_that_a_host_gives_are_known_as_such(host: str) -> None:
    folder = ROOT / "plugins" / host
    files = folder.glob("*/operations/*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    defs = [it for it in nodes if isinstance(it, ast.FunctionDef) and it.name == "namespace"]
    dicts = [it for node in defs for it in ast.walk(node) if isinstance(it, ast.Dict)]

    names = {key.value for it in dicts for key in it.keys if isinstance(key, ast.Constant)}

    assert names - {"doc", "stage"} == {*plain_names(host).given}


@pytest.mark.parametrize("name", ["gr\u00f6\u00dfe", "\uff4fs", "cafe\u0301", "a\ufe4db"])
def test_a_name_with_other_letters_is_told_with_its_line(name: str) -> None:
    findings = read_code(f"# {name}, of a comment\nf'{{{name}}}'\n" * 2, BLENDER).findings

    assert {it.line for it in findings} >= {2, 4}
    assert f"has letters that may look like others: {name}" in findings[0].reason


PIECES = [
    "\n",
    "    ",
    "(",
    ")",
    "[",
    "]",
    ":",
    ".",
    "=",
    "lambda x: ",
    "del ",
    "*",
    "'",
    "\0",
    "é",
]
PIECES += ["\u202e", "await ", "yield ", "for a in b: ", "import os\n", "getattr(a, b)", "\ud800"]
TEXTS = [code for texts in PLAIN.values() for code in texts.values()] + REACHES["python"]


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(TEXTS))
def test_no_text_makes_the_reader_fail(random: Random, text: str) -> None:
    """Ten mutations of a text in each example."""
    for _ in range(10):
        start, end = sorted(random.choices(range(len(text) + 1), k=2))
        piece = random.choice([*PIECES, text[start:end], random.choice(TEXTS)])
        text = (text[:start] + piece + text[min(end, start + random.randrange(9)) :])[:20_000]
        try:
            read_code(text, BLENDER)
        except BadArguments:
            continue
