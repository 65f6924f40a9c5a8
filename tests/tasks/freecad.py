"""The tasks in FreeCAD."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.tasks.agent import Agent
from tests.tasks.task import Task
from tests.verbs.steps import step

_TEMPLATE: Final = """<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:freecad="http://www.freecadweb.org/wiki/index.php?title=Svg_Namespace"
 width="297mm" height="210mm" viewBox="0 0 297 210">
<rect x="10" y="10" width="277" height="190" style="fill:none;stroke:#000000"/>
<text x="20" y="190" freecad:editable="Title"><tspan>Title</tspan></text>
</svg>
"""


# ---- a bracket of solids


async def cut_a_bracket(agent: Agent) -> None:
    """A plate with an upright plate, fused, with a hole whose depth follows the plate's height."""
    await agent.call("summary")
    await agent.batch(*_bracket(), why="Cut the bracket")
    await agent.call("inspect", items=["Bracket"], parts=["bounds", "counts"])


def _bracket() -> list[dict[str, Any]]:
    """Return the steps that make a bracket."""
    return [
        step(
            "create",
            things=[
                _box("Base", [0, 0, 0], 60, 40, 5),
                _box("Wall", [0, 0, 5], 5, 40, 30),
                {
                    "type": "Part::Cylinder",
                    "name": "Drill",
                    "at": [40, 20, 0],
                    "values": {"Radius": 4},
                },
                {"type": "Part::MultiFuse", "name": "Solid"},
                {"type": "Part::Cut", "name": "Bracket"},
            ],
        ),
        step(
            "connect",
            links=[
                _link("Base", "Shape", "Solid", "Shapes"),
                _link("Wall", "Shape", "Solid", "Shapes"),
                _link("Solid", "Shape", "Bracket", "Base"),
                _link("Drill", "Shape", "Bracket", "Tool"),
                _link("Base", "Height", "Drill", "Height"),
            ],
        ),
    ]


def _box(name: str, at: list[float], length: float, width: float, height: float) -> dict[str, Any]:
    values = {"Length": length, "Width": width, "Height": height}
    return {"type": "Part::Box", "name": name, "at": at, "values": values}


def _link(start: str, out: str, end: str, into: str) -> dict[str, str]:
    return {"from": start, "out": out, "to": end, "in": into}


async def _careless_bracket(agent: Agent) -> None:
    await agent.slip("connect", "Tool", links=[_link("Drill", "Shape", "Bracket", "Cutter")])
    await agent.slip("set_values", "replace", items=["Drill"], values={"Height": 20})
    await agent.slip("delete", "Bracket", items=["Base"])
    await agent.slip("set_values", "Length", items=["Base"], values={"Lenght": 70})


# ---- a plate of a sketch


async def sketch_a_plate(agent: Agent) -> None:
    """A plate is sketched, padded, drilled, rounded, drawn, exported, and then notched."""
    lines = _lines([[0, 0], [80, 0], [80, 50], [0, 50]])
    joints = [
        {"type": "Coincident", "of": [[number, 2], [(number + 1) % 4, 1]]} for number in range(4)
    ]
    kinds = ("Vertical", "Horizontal", "Vertical", "Horizontal")
    straight = [{"type": kind, "of": [number]} for number, kind in enumerate(kinds)]
    sizes = [
        {"type": "Coincident", "of": [[0, 2], [-1, 1]]},
        {"type": "DistanceX", "of": [[1, 1], [1, 2]], "value": 80, "name": "length"},
        {"type": "DistanceY", "of": [[2, 1], [2, 2]], "value": 50, "name": "width"},
    ]
    await agent.batch(
        step("create", things=[{"type": "PartDesign::Body", "name": "Plate"}]),
        step(
            "create",
            things=[
                _sketch("Outline", Geometry=lines, Constraints=[*joints, *straight, *sizes]),
                _feature("Pad", "Pad", Profile="Outline", Length=6),
            ],
        ),
        why="Sketch the plate",
    )
    places = [[15, 15], [65, 15], [65, 35], [15, 35]]
    await agent.batch(
        step(
            "create",
            things=[
                _sketch("Centres", Geometry=[{"circle": at, "radius": 4} for at in places]),
                _feature("Pocket", "Holes", Profile="Centres", Type="ThroughAll", Midplane=True),
            ],
        ),
        why="Drill the plate",
    )
    await agent.call("list_items", under="Holes/edge:vertical", fields=["middle", "between"])
    corners = ["Holes/edge:vertical right", "Holes/edge:z -x -y"]
    await agent.batch(
        step("create", things=[_feature("Fillet", "Corners", Base=corners, Radius=5)]),
        step("create", things=[_feature("Chamfer", "Rim", Base="Corners/edge:top", Size=0.5)]),
        why="Round the corners and chamfer the rim",
    )
    await agent.batch(*_page(agent.folder, "Plate", "left", "right"), why="Draw the plate")
    await agent.call("export_file", path=str(agent.folder / "plate.step"), items=["Plate"])
    await agent.call("export_file", path=str(agent.folder / "plate.dxf"), items=["Page"])
    notched = _lines([[0, 0], [30, 0], [30, 10], [50, 10], [50, 0], [100, 0], [100, 50], [0, 50]])
    await agent.call(
        "set_values", items=["Outline"], values={"Constraints": [], "Geometry": notched}
    )
    await agent.call("check")
    await agent.call("inspect", items=["Corners", "Rim"], parts=["values", "bounds", "counts"])


def _lines(corners: list[list[int]]) -> list[dict[str, Any]]:
    """Return the curves of a sketch through corners."""
    return [{"line": [corners[number - 1], corners[number]]} for number in range(len(corners))]


def _sketch(name: str, **values: Any) -> dict[str, Any]:
    return {
        "type": "Sketcher::SketchObject",
        "name": name,
        "under": "Plate",
        "values": values,
    }


def _feature(kind: str, name: str, **values: Any) -> dict[str, Any]:
    return {"type": f"PartDesign::{kind}", "name": name, "under": "Plate", "values": values}


async def _careless_plate(agent: Agent) -> None:
    await agent.slip("delete", "Pad", items=["Outline"])
    await agent.slip("set_values", "Radius", items=["Corners"], values={"Radius": "wide"})
    await agent.slip(
        "set_values",
        "The nearest are: z +x -y",
        items=["Corners"],
        values={"Base": "Holes/edge:z +x y=3"},
    )
    await agent.slip("delete", "is an edge", items=["Holes/edge:z +x -y"])
    cut_off = _lines([[0, 0], [80, 0], [100, 20], [100, 50], [0, 50]])
    await agent.slip(
        "set_values",
        "Corners is on Holes/edge:z +x -y",
        items=["Outline"],
        values={"Geometry": cut_off},
    )
    await agent.slip("set_values", "line 1 of Outline", items=["Outline"], values={"Geometry": []})
    round_hole = [{"circle": [15, 15], "r": 5}]
    await agent.slip(
        "set_values", '"radius": 4', items=["Centres"], values={"Geometry": round_hole}
    )


# ---- a drawing and a file for others


async def draw_a_page(agent: Agent) -> None:
    """The bracket has a page with a view and a dimension, and goes on as a STEP file."""
    await agent.batch(*_bracket(), why="Cut the bracket")
    await agent.batch(*_page(agent.folder, "Bracket", "horizontal bottom"), why="Draw the page")
    await agent.call("export_file", path=str(agent.folder / "bracket.step"), items=["Bracket"])


def _page(folder: Path, source: str, *measured: str) -> list[dict[str, Any]]:
    """Return the steps that draw a page with a view of an object, whose width some edges have."""
    template = {"Template": str(folder / "a4.svg")}
    view = {"Source": [source], "Direction": [0, -1, 0], "X": 100, "Y": 120}
    width = {"Type": "DistanceX", "References2D": [f"Front/edge:{edge}" for edge in measured]}
    return [
        step(
            "create",
            things=[
                {"type": "TechDraw::DrawSVGTemplate", "name": "Template", "values": template},
                {"type": "TechDraw::DrawPage", "name": "Page", "values": {"Template": "Template"}},
                {"type": "TechDraw::DrawViewPart", "name": "Front", "values": view},
            ],
        ),
        step("connect", links=[_link("Front", "object", "Page", "Views")]),
        step(
            "create",
            things=[{"type": "TechDraw::DrawViewDimension", "name": "Width", "values": width}],
        ),
        step("connect", links=[_link("Width", "object", "Page", "Views")]),
    ]


async def _careless_page(agent: Agent) -> None:
    file = agent.folder / "bracket.step"
    await agent.slip("export_file", "over the file", path=str(file), items=["Base"])
    await agent.slip("export_file", ".step", path=str(file.with_suffix(".dwg")))
    await agent.slip("delete", "Page", items=["Page"])


# ---- a box that follows a sheet


async def drive_a_box(agent: Agent) -> None:
    """The sizes of a box come from the cells of a spreadsheet, which then change."""
    await agent.batch(
        step(
            "create",
            things=[
                {"type": "Spreadsheet::Sheet", "name": "Sizes"},
                _box("Box", [0, 0, 0], 1, 1, 1),
            ],
        ),
        step(
            "set_values",
            items=["Sizes"],
            values={"A1": "Length", "B1": "=120 mm", "A2": "Width", "B2": "=B1 / 2"},
        ),
        step(
            "connect",
            links=[_link("Sizes", "B1", "Box", "Length"), _link("Sizes", "B2", "Box", "Width")],
        ),
        why="Drive the box by a sheet",
    )
    await agent.call("set_values", items=["Sizes"], values={"B1": "=150 mm"})
    await agent.call("inspect", items=["Box"], parts=["values", "inputs"])


async def _careless_sheet(agent: Agent) -> None:
    await agent.slip("set_values", "replace", items=["Box"], values={"Length": 10})
    await agent.slip("delete", "1 thing will break: Box", items=["Sizes"])
    await agent.slip("connect", "B1", links=[_link("Sizes", "Length", "Box", "Height")])


# ---- bolts in a ring


async def place_the_bolts(agent: Agent) -> None:
    """Six links to a bolt stand in a ring on a flange, in one part."""
    await agent.batch(
        step(
            "create",
            things=[
                {
                    "type": "Part::Cylinder",
                    "name": "Flange",
                    "values": {"Radius": 50, "Height": 10},
                },
                {
                    "type": "Part::Cylinder",
                    "name": "Bolt",
                    "at": [0, 0, 10],
                    "values": {"Radius": 4, "Height": 6},
                },
            ],
        ),
        step(
            "duplicate",
            "copies",
            items=["Bolt"],
            linked=True,
            repeat={"count": 6, "radius": 38, "name": "Bolt_##"},
        ),
        step("create", "assembly", things=[{"type": "App::Part", "name": "Assembly"}]),
        step("group", items=["Flange", "Bolt", "$copies"], under="$assembly"),
        why="Place the bolts",
    )
    await agent.call("list_items", name="Bolt*", fields=["at"])


async def _careless_bolts(agent: Agent) -> None:
    await agent.slip("delete", "Bolt", items=["Bolt"])
    await agent.slip("transform", "Bolt", items=["Bolts"], move=[0, 0, 1])
    await agent.slip("transform", "scale", items=["Flange"], scale=[2, 2, 2])


# ---- a part of others comes in


async def take_in_a_part(agent: Agent) -> None:
    """A part that others made comes in, is named, moved to its place and written again."""
    told = await agent.call("import_file", path=str(agent.folder / "pin.step"))
    (pin,) = told["items"]
    await agent.batch(
        step("rename", names={pin: "Pin"}),
        step("transform", items=[pin], at=[10, 20, 0]),
        step("create", things=[_box("Block", [0, 0, 0], 20, 40, 10)]),
        why="Place the pin",
    )
    await agent.call("check")
    await agent.call("export_file", path=str(agent.folder / "both.step"))


async def _careless_part(agent: Agent) -> None:
    await agent.slip("import_file", "pin.step", path=str(agent.folder / "pins.step"))
    await agent.slip("rename", "Pin", names={"Block": "Pin"})
    await agent.slip("import_file", "scale", path=str(agent.folder / "pin.step"), scale=0)


def _with_pin(folder: Path) -> None:
    (folder / "pin.step").write_text(_PIN)


def _with_template(folder: Path) -> None:
    (folder / "a4.svg").write_text(_TEMPLATE)


_PIN: Final = Path(__file__).parent.joinpath("pin.step").read_text(encoding="utf-8")

TASKS: Final = (
    Task("cut a bracket", "freecad", cut_a_bracket, _careless_bracket),
    Task("sketch a plate", "freecad", sketch_a_plate, _careless_plate, files=_with_template),
    Task(
        "draw a page",
        "freecad",
        draw_a_page,
        _careless_page,
        files=_with_template,
    ),
    Task("drive a box", "freecad", drive_a_box, _careless_sheet),
    Task("place the bolts", "freecad", place_the_bolts, _careless_bolts),
    Task("take in a part", "freecad", take_in_a_part, _careless_part, files=_with_pin),
)
