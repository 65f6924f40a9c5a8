"""What opening and saving promise."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from mcp_types import ElicitRequestParams, ElicitResult
from pxr import Sdf, Usd, UsdUtils

from dcc_bridge import held_files
from dcc_bridge.skills.skill import describe
from dcc_bridge_usd import session as current_session
from dcc_bridge_usd.host import UsdSession
from tests.hosts.scenes import Failed, fail_after
from tests.live import accept, status, text
from tests.test_held_files import Holder
from tests.verbs.words import usd

pytestmark = pytest.mark.core


def add(session: UsdSession, path: str = "/World/new") -> None:
    with session.undo_step(f"Add {path}"):
        session.stage.DefinePrim(path, "Xform")


def prims_in(file: Path) -> list[str]:
    """List what is in a file, without the layers that are in memory."""
    layer = Sdf.Layer.OpenAsAnonymous(str(file))
    return [str(child.path) for child in layer.GetPrimAtPath("/World").nameChildren]


@contextmanager
def full_disk(left: int = 200) -> Iterator[None]:
    """Let no file grow beyond a few bytes, so that writing fails in mid-file."""
    if sys.platform == "win32":
        pytest.skip("Windows sets no limit to a file's size")
    import resource  # not there on Windows

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.skipif(sys.platform == "win32", reason="links as anybody can make them")
def test_a_save_follows_no_link_that_somebody_planted(
    session: UsdSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is half written has a name that nobody knows, where nobody else can come."""
    victim = tmp_path / "victim"
    moved = list[Path]()
    victim.write_text("theirs")
    (tmp_path / f".small.{os.getpid()}.part.usda").symlink_to(victim)

    def replace(source: Path, target: Path) -> None:
        assert source.parent.stat().st_mode & 0o777 == 0o700
        moved.append(source)
        source.rename(target)

    monkeypatch.setattr("os.replace", replace)
    for number in range(2):
        add(session, f"/World/new{number}")
        session.save()

    assert victim.read_text() == "theirs"
    assert not (tmp_path / "small.usda").is_symlink()
    assert moved[0].parent != moved[1].parent
    assert not any(source.parent.exists() for source in moved)


def test_opening_the_same_file_again_drops_unsaved_edits_and_the_undo_stack(
    session: UsdSession, tmp_path: Path
) -> None:
    start = session.scene_digest()
    add(session)
    sub = session.stage.GetLayerStack(includeSessionLayers=False)[1]
    Sdf.CreatePrimInLayer(sub, "/World/in_sub")

    session.open(tmp_path / "small.usda")

    assert session.scene_digest() == start
    assert session.undo_labels == []
    assert not session.modified


@pytest.mark.parametrize(
    ("name", "content", "kind", "says"),
    [
        ("missing.usda", None, FileNotFoundError, "There is no file"),
        ("notes.txt", b"hello", ValueError, "must end in .usd, .usda, .usdc"),
        ("broken.usda", b"#usda 1.0\ndef X {\n", ValueError, r"not a readable USD file \(line 2\)"),
        ("empty.usda", b"", ValueError, "not a readable USD file"),
        ("cut.usdc", b"PXR-USDC\0\0", ValueError, "not a readable USD file"),
        ("small.usda", b"#usda 1.0\ndef X {\n", ValueError, "not a readable USD file"),
    ],
)
def test_what_cannot_be_opened_is_named_and_the_open_scene_stays_with_its_edits_and_undo(
    session: UsdSession,
    tmp_path: Path,
    name: str,
    content: bytes | None,
    kind: type[Exception],
    says: str,
) -> None:
    add(session)
    Sdf.CreatePrimInLayer(session.stage.GetLayerStack(False)[1], "/World/in_sub")
    before = session.scene_digest()
    labels = session.undo_labels
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(kind, match=says) as caught:
        session.open(tmp_path / name)

    assert "\n" not in str(caught.value)
    assert session.scene_digest() == before
    assert session.undo_labels == labels
    assert len(labels) == 2
    assert session.scene() == "small.usda"


def test_opening_anew_names_a_broken_part_and_drops_no_edit(
    session: UsdSession, tmp_path: Path
) -> None:
    add(session)
    (tmp_path / "sub.usda").write_text("#usda 1.0\ndef {\n")

    with pytest.raises(ValueError, match=r"sub\.usda is not a readable"):
        session.open(tmp_path / "small.usda")

    assert session.stage.GetPrimAtPath("/World/new")


def test_a_folder_is_no_scene(session: UsdSession, tmp_path: Path) -> None:
    (tmp_path / "folder.usda").mkdir()

    with pytest.raises(OSError, match="cannot be read"):
        session.open(tmp_path / "folder.usda")


def test_a_step_goes_on_in_a_scene_that_it_opens_and_is_undone_there_only(
    session: UsdSession, tmp_path: Path
) -> None:
    other = UsdSession().save(tmp_path / "other.usda")

    with session.undo_step("Open and edit"):
        session.stage.DefinePrim("/Lost")
        session.open(other)
        session.stage.DefinePrim("/Kept")

    assert session.undo_labels == ["Open and edit"]
    session.undo()
    assert list(session.stage.Traverse()) == []
    assert not session.modified


def test_root_and_sublayer_go_to_their_own_files_and_nothing_is_left_beside_them(
    session: UsdSession, tmp_path: Path
) -> None:
    add(session, "/World/in_root")
    sub = session.stage.GetLayerStack(includeSessionLayers=False)[1]
    with session.undo_step("Sub"):
        Sdf.CreatePrimInLayer(sub, "/World/in_sub")

    assert session.save() == tmp_path / "small.usda"

    assert prims_in(tmp_path / "small.usda")[-1] == "/World/in_root"
    assert prims_in(tmp_path / "sub.usda") == ["/World/in_sub"]
    assert sorted(os.listdir(tmp_path)) == ["small.usda", "sub.usda"]


def test_undo_and_redo_back_to_what_was_saved_make_it_unmodified_again(session: UsdSession) -> None:
    add(session, "/World/one")
    session.save()
    add(session, "/World/two")
    states = [session.modified]
    for move in (session.undo, session.undo, session.redo):
        move()
        states.append(session.modified)

    assert states == [True, False, True, False]


def test_an_edit_outside_a_step_modifies_but_in_the_session_layer_it_does_not(
    session: UsdSession,
) -> None:
    with Usd.EditContext(session.stage, session.stage.GetSessionLayer()):
        session.stage.DefinePrim("/World/view_only")
    assert not session.modified

    session.stage.DefinePrim("/World/direct")
    assert session.modified


@pytest.mark.parametrize("name", ["small.usda", "other.usda", "other.usdc", "other.usd"])
def test_a_full_disk_leaves_files_scene_and_undo_stack_as_they_were(
    session: UsdSession, tmp_path: Path, name: str
) -> None:
    add(session)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    with full_disk(), pytest.raises(OSError, match=rf"{name} cannot be saved: .*too large"):
        session.save(tmp_path / name)

    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files
    assert session.path == tmp_path / "small.usda"
    assert session.modified
    assert session.undo_labels == ["Add /World/new"]


def test_a_scene_is_saved_once_another_program_lets_go_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Windows a virus scanner has it open for a moment."""
    scene = tmp_path / "shot.usda"
    session = UsdSession()
    session.save(scene)
    session.stage.DefinePrim("/World")
    holder = Holder(scene)
    monkeypatch.setattr(held_files, "time", SimpleNamespace(sleep=holder.let_go))

    session.save()

    holder.let_go()
    assert '"World"' in scene.read_text()
    assert list(tmp_path.iterdir()) == [scene]


def test_a_read_only_file_is_not_replaced(session: UsdSession, tmp_path: Path) -> None:
    add(session)
    (tmp_path / "small.usda").chmod(0o444)

    with pytest.raises(PermissionError, match="read-only"):
        session.save()

    assert "/World/new" not in prims_in(tmp_path / "small.usda")


@pytest.mark.skipif(sys.platform == "win32", reason="links as anybody can make them")
def test_a_save_keeps_the_mode_of_the_file_and_the_link_to_it(
    session: UsdSession, tmp_path: Path
) -> None:
    real = tmp_path / "small.usda"
    real.chmod(0o640)
    link = tmp_path / "link.usda"
    link.symlink_to(real)
    session.open(link)
    add(session)

    session.save()

    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert prims_in(real)[-1] == "/World/new"


def test_an_untitled_scene_needs_a_path_and_keeps_its_undo_stack(tmp_path: Path) -> None:
    session = UsdSession()
    with session.undo_step("Add"):
        session.stage.DefinePrim("/World/a")
    assert session.scene() == "untitled"
    assert session.path is None
    assert session.modified
    with pytest.raises(ValueError, match="give the path"):
        session.save()

    session.save(tmp_path / "new.usdc")

    assert session.scene() == "new.usdc"
    assert not session.modified
    session.undo()
    assert session.modified
    assert not session.stage.GetPrimAtPath("/World/a")


def package(folder: Path) -> Path:
    """Make a .usdz file of a scene with a texture and a scene beside it."""
    folder.mkdir()
    (folder / "wood.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    below = '(defaultPrim = "B")\ndef "B" {\ndef Sphere "C" {}\n}'
    (folder / "below.usda").write_text(f"#usda 1.0\n{below}")
    (folder / "top.usda").write_text(
        """#usda 1.0
        (defaultPrim = "Wörld")
        def Xform "Wörld" {
            def "In" (references = @./below.usda@) {}
            def Shader "Wood" {
                asset inputs:file = @wood.png@
            }
        }""",
        encoding="utf-8",
    )
    file = folder / "tree.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(folder / "top.usda"), str(file))
    return file


def wood(stage: Usd.Stage) -> str:
    """Return the file of the texture, as USD finds it."""
    return str(stage.GetPrimAtPath("/Wörld/Wood").GetAttribute("inputs:file").Get().resolvedPath)


@pytest.mark.parametrize("is_open", [False, True])
def test_a_package_is_opened_as_a_copy_that_is_saved_under_another_name(
    session: UsdSession, tmp_path: Path, is_open: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is in the package is found from there too, and the package stays as it was."""
    file = package(tmp_path / "tree")
    before = file.read_bytes()

    if is_open:
        session.open(file)
    else:
        session = UsdSession(file)

    assert session.scene() == "untitled copy of tree.usdz"
    assert not session.modified
    assert session.stage.GetDefaultPrim().GetPath() == "/Wörld"
    assert session.stage.GetPrimAtPath("/Wörld/In/C")
    with pytest.raises(ValueError, match=r"tree.usdz can only be read.* \(.usd, .usda, .usdc\)"):
        session.save()
    with pytest.raises(ValueError, match=r"must end in .usd, .usda, .usdc\."):
        session.save(file)
    with session.undo_step("Edit"):
        session.stage.DefinePrim("/Wörld/New")
    (tmp_path / "else").mkdir()
    session.save(tmp_path / "else" / "mine.usdc")
    session.open(tmp_path / "else" / "mine.usdc")
    assert session.stage.GetPrimAtPath("/Wörld/In/C")
    assert session.stage.GetPrimAtPath("/Wörld/New")
    assert wood(session.stage).replace("\\", "/").startswith(f"{file.as_posix()}[")
    assert file.read_bytes() == before
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["tree.usdz", "top.usda"])
def test_a_copy_has_relative_paths_once_it_is_saved(
    session: UsdSession, tmp_path: Path, name: str
) -> None:
    """But a path that was absolute stays so."""
    package(tmp_path / "tree")
    session = UsdSession(tmp_path / "tree" / name, as_copy=True)
    asset = Sdf.AssetPath("/lib/oak.png")
    with session.undo_step("Edit"):
        oak = session.stage.DefinePrim("/Wörld/Oak", "Shader")
        oak.CreateAttribute("inputs:file", Sdf.ValueTypeNames.Asset).Set(asset)
    with session.undo_step("Remove"):
        session.stage.RemovePrim("/Wörld/Wood")

    session.save(tmp_path / "mine.usda")

    text = (tmp_path / "mine.usda").read_text(encoding="utf-8")
    assert "@./tree/" in text
    assert str(tmp_path) not in text
    assert "@/lib/oak.png@" in text
    session.undo()
    path = session.stage.GetPrimAtPath("/Wörld/Wood").GetAttribute("inputs:file").Get().path
    assert path.startswith("./tree/")
    assert session.stage.GetPrimAtPath("/Wörld/In/C")
    assert wood(session.stage)


@pytest.mark.parametrize("name", ["other.usda", "other.usdc", "other.usd"])
def test_the_scene_is_the_new_file_from_then_on_and_undo_reaches_back(
    session: UsdSession, tmp_path: Path, name: str
) -> None:
    before = (tmp_path / "small.usda").read_bytes()
    start = session.scene_digest()
    add(session)
    with Usd.EditContext(session.stage, session.stage.GetSessionLayer()):
        session.stage.OverridePrim("/World/a").SetActive(False)

    session.save(tmp_path / name)
    add(session, "/World/later")
    session.save()

    assert prims_in(tmp_path / name)[-2:] == ["/World/new", "/World/later"]
    assert (tmp_path / "small.usda").read_bytes() == before
    assert not session.stage.GetPrimAtPath("/World/a").IsActive()
    for _ in range(3):
        session.undo()
    assert session.scene_digest() == start


def test_what_is_muted_unloaded_and_edited_in_stays_so_under_another_name(
    session: UsdSession, tmp_path: Path
) -> None:
    target = Sdf.Layer.CreateNew(str(tmp_path / "target.usda"))
    session.stage.GetRootLayer().subLayerPaths.append("./target.usda")
    session.stage.MuteLayer(str(tmp_path / "sub.usda"))
    session.stage.SetEditTarget(target)
    session.stage.DefinePrim("/World/c").GetPayloads().AddInternalPayload("/World/a")
    session.stage.Unload("/World/c")

    session.save(tmp_path / "other.usda")

    assert [*map(Path, session.stage.GetMutedLayers())] == [tmp_path / "sub.usda"]
    assert session.stage.GetEditTarget().GetLayer() == target
    assert not session.stage.GetPrimAtPath("/World/c").IsLoaded()


def test_a_sublayer_that_is_as_on_disk_is_not_written(session: UsdSession, tmp_path: Path) -> None:
    (tmp_path / "lib.usda").write_text("#usda 1.0\n")
    (tmp_path / "lib.usda").chmod(0o444)
    session.stage.GetRootLayer().subLayerPaths.append("./lib.usda")

    session.save()

    assert not session.modified


def test_a_step_that_saves_and_fails_is_rolled_back_in_the_scene_though_not_on_disk(
    session: UsdSession, tmp_path: Path
) -> None:
    start = session.scene_digest()

    def edit_and_save(stage: Usd.Stage) -> None:
        stage.DefinePrim("/World/new")
        session.save(tmp_path / "other.usda")

    with pytest.raises(Failed):
        fail_after(session, edit_and_save)

    assert prims_in(tmp_path / "other.usda")[-1] == "/World/new"
    assert session.scene_digest() == start
    assert session.modified


def test_a_usd_file_that_holds_text_is_saved_as_text(tmp_path: Path) -> None:
    file = tmp_path / "scene.usd"
    file.write_text('#usda 1.0\ndef "World" {}\n')
    session = UsdSession(file)
    add(session)

    session.save()

    assert file.read_bytes().startswith(b"#usda 1.0")


def test_relative_paths_follow_to_another_folder_before_and_after_undo(
    session: UsdSession, tmp_path: Path
) -> None:
    prop = UsdSession()
    prop.stage.DefinePrim("/Prop/inside")
    prop.save(tmp_path / "prop.usda")
    with session.undo_step("Refer"):
        session.stage.DefinePrim("/World/p").GetReferences().AddReference("prop.usda", "/Prop")
    add(session)
    (tmp_path / "deep" / "er").mkdir(parents=True)

    session.save(tmp_path / "deep" / "er" / "moved.usda")
    session.undo()

    assert session.stage.GetPrimAtPath("/World/p/inside")
    assert session.stage.GetRootLayer().subLayerPaths[0] == "../../sub.usda"


def test_a_sublayer_of_the_scene_is_not_written_over_by_it(
    session: UsdSession, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="part of this scene"):
        session.save(tmp_path / "sub.usda")


def test_a_scene_that_was_opened_once_does_not_shine_through_where_it_is_written_over(
    session: UsdSession, tmp_path: Path
) -> None:
    other = UsdSession()
    other.stage.DefinePrim("/Other")
    other.save(tmp_path / "other.usda")
    other.stage.DefinePrim("/Unsaved")

    session.save(tmp_path / "other.usda")

    assert session.stage.GetPrimAtPath("/World/a")
    assert not session.stage.GetPrimAtPath("/Other")


def test_a_scene_that_would_point_to_nothing_is_not_saved(
    session: UsdSession, tmp_path: Path
) -> None:
    before = (tmp_path / "small.usda").read_bytes()
    layer = Sdf.Layer.CreateAnonymous("notes")
    session.stage.GetRootLayer().subLayerPaths.append(layer.identifier)

    with pytest.raises(ValueError, match="notes has no file"):
        session.save()

    assert (tmp_path / "small.usda").read_bytes() == before


def test_a_save_makes_no_folder(session: UsdSession, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no folder"):
        session.save(tmp_path / "nowhere" / "scene.usda")

    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("writer", ["stage", "layer", "copy"])
def test_a_skill_that_exports_is_stopped_and_asked_about_before_there_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    """USD writes in C++, and tells Python of nothing."""
    (tmp_path / "temporary").mkdir()  # a body may write files of its own there
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    file = tmp_path / "out.usda"
    asked: list[str] = []

    def publish() -> None:
        """Add a prim, and export the scene."""
        stage = current_session().stage
        stage.DefinePrim("/World/New", "Xform")
        exports: dict[str, Callable[[str], object]] = {
            "stage": stage.Export,
            "layer": stage.GetRootLayer().Export,
            "copy": lambda path: Sdf.Layer.CreateNew(path).Save(),
        }
        exports[writer](str(file))

    def no(params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    with usd(tmp_path) as running:
        running.bridge.registry.add(describe(publish))
        before = current_session().scene_digest()
        refused = running.call("publish", {}, asked=no)
        after_no = file.exists(), current_session().scene_digest() == before
        done = running.call("publish", {}, asked=accept(confirm=True))

    assert (status(refused), *after_no) == ("refused", False, True), text(refused)
    named = os.path.normcase(file)  # Windows takes small letters for capitals
    assert [named in os.path.normcase(message) for message in asked] == [True], asked
    assert (status(done), file.exists()) == ("done", True), text(done)
