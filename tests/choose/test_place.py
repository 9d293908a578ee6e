"""Every criterion that is not met, or not judged, says where it is mended, as data."""

import ast
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from attacks.files import ATTACKS
from sdckit.choose import file_checks, original_checks, release_case, release_checks, told_columns
from sdckit.choose.criteria import Accepted, Status
from sdckit.choose.place import Place, PlaceKind
from sdckit.data.roles import Role
from sdckit.methods.registry import find, specs
from sdckit.methods.spec import Kind

JUDGES = [spec.name for spec in specs(Kind.RISK) if spec.judges]
FEW = ATTACKS[:: max(len(ATTACKS) // 6, 1)]  # all of them take minutes


def judged(original, protected, **options):
    return sdc.assess(original, protected, measures=JUDGES, **options).verdict


def sound(place: Place, columns) -> bool:
    """Whether what a place names is there."""
    names = {
        PlaceKind.ROLE: lambda: place.name in set(Role),
        PlaceKind.STEP: lambda: find(place.name, Kind.PROTECTION).kind is Kind.PROTECTION,
        PlaceKind.ACCEPT: lambda: place.name in ("max_risk", *Accepted.__dataclass_fields__),
        PlaceKind.OPTIONS: lambda: find(place.name).kind is Kind.RISK,
        PlaceKind.PREPARATION: lambda: not place.name or bool(find(place.name, Kind.PREPARATION)),
    }
    return names.get(place.kind, lambda: not place.name)() and set(place.columns) <= set(columns)


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in FEW])
def test_every_open_question_has_a_place_that_exists(case):
    known = {*case.original.columns, *case.protected.columns, *case.original.dropped}
    for ceiling in (case.max_risk, None):
        found = judged(
            case.original, case.protected, max_risk=ceiling, intruders=case.intruders, **case.options
        )
        for criterion in found:
            assert criterion.met or criterion.places, criterion
            assert all(sound(place, known) for place in criterion.places), criterion


@pytest.mark.parametrize(
    "module",
    [file_checks, original_checks, release_checks, release_case, told_columns],
    ids=lambda m: m.__name__,
)
def test_no_criterion_is_left_open_without_a_place(module):
    """In the text of the module: also of those that no file of the tests brings about."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    calls = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and ast.unparse(c.func) == "Criterion"]
    met = [c for c in calls if ast.unparse(c.args[1]) == "Status.MET"]
    bare = [c.lineno for c in calls if c not in met and "places" not in {k.arg for k in c.keywords}]
    assert calls
    assert not bare, bare


def test_the_place_is_that_of_the_fault():
    frame = pl.DataFrame(
        {"sex": ["f", "m"] * 30, "age": [*range(30)] * 2, "note": [f"n{i}" for i in range(60)]}
    )
    data = sdc.read(frame, keys=["sex", "age"])
    found = {c.name: c for c in judged(data, data)}
    assert found["re-identification by neighbour"].places == (Place.accept("max_risk"),)
    unseen = found["columns that no risk looks at"]
    assert unseen.status is Status.NOT_MET
    assert [(p.kind.value, p.name, p.columns) for p in unseen.places] == [
        ("role", "keys", ("note",)),
        ("role", "sensitive", ("note",)),
        ("step", "drop", ("note",)),
        ("accept", "columns", ("note",)),
    ]
    assert [p.name for p in found["order of the rows"].places] == ["shuffle_order", "order"]
    assert found["direct identifiers"].places == ()
    assert unseen.as_dict()["places"][2] == {"kind": "step", "name": "drop", "columns": ["note"]}


def test_a_measure_that_could_not_say_leads_to_the_role_it_lacks():
    data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 30}), sensitive="sex")
    first = {c.name: c for c in judged(data, data)}["re-identification"]
    assert first.status is Status.NOT_JUDGED
    assert first.why.startswith("What an intruder finds could not be measured: ")
    assert first.places[0] == Place.role(Role.KEYS)
