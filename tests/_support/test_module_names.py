"""A misspelt name on a package: what the error says, and that Python's own tools are not disturbed."""

import copy
import doctest
import importlib
import inspect
import pickle
import subprocess
import sys
from types import ModuleType

import pytest

import sdckit as sdc
from sdckit.errors import SdcError, UnknownNameError

PACKAGES = [sdc, sdc.charts, sdc.demo, sdc.prepare, sdc.protect, sdc.risk, sdc.utility]


@pytest.mark.parametrize(
    ("package", "wrong", "meant"),
    [
        (sdc, "asess", "assess"),
        (sdc, "protct", "protect"),
        (sdc.protect, "supress", "suppress"),
        (sdc.risk, "kanonymity", "k_anonymity"),
        (sdc.utility, "IL1", "il1"),
        (sdc.demo, "survy", "survey"),
        (sdc.charts, "mosiac", "mosaic"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(package: ModuleType, wrong: str, meant: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        getattr(package, wrong)
    text = str(caught.value)
    assert text.startswith(f"{package.__name__} has no {wrong!r}. Did you mean {meant!r}? It has ")
    assert all(name in text for name in dir(package))
    assert isinstance(caught.value, AttributeError)
    assert isinstance(caught.value, SdcError)
    assert caught.value.name == wrong


def test_a_name_like_no_other_gets_the_list_alone() -> None:
    with pytest.raises(AttributeError, match=r"^sdckit.demo has no 'xyzzy'. It has business, survey.$"):
        _ = sdc.demo.xyzzy


def test_python_adds_no_suggestion_of_its_own() -> None:
    code = "import sdckit; sdckit.protect.supress"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.count("Did you mean") == 1


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.__name__)
def test_dir_has_what_people_use_and_no_more(package: ModuleType) -> None:
    names = dir(package)
    assert names == sorted(set(names))
    for name in names:
        assert not name.startswith("_")
        found = getattr(package, name)
        assert callable(found) or found in (*PACKAGES, sdc.registry)
    assert not {"TYPE_CHECKING", "module_names", "errors", "categories"} & set(names)


def test_every_registered_function_is_in_the_dir_of_its_package() -> None:
    kinds = {"protection": sdc.protect, "risk": sdc.risk, "utility": sdc.utility}
    for spec in sdc.registry.specs():
        if spec.function.__module__.startswith("sdckit."):
            assert spec.name in dir(kinds[spec.kind])


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.__name__)
def test_tools_that_ask_for_odd_names_get_a_plain_no(package: ModuleType) -> None:
    assert package.__path__
    for name in ("__wrapped__", "__all__", "__deepcopy__", "__getstate_of__", "_private", "pytest_plugins"):
        assert not hasattr(package, name)
    with pytest.raises(AttributeError, match=r"has no '__wrapped__'.$"):
        _ = package.__wrapped__
    assert inspect.getmembers(package)
    assert inspect.unwrap(package) is package
    assert isinstance(doctest.DocTestFinder().find(package), list)
    with pytest.raises(TypeError, match="pickle"):
        copy.deepcopy(package)


def test_functions_pickle_and_submodules_import_as_before() -> None:
    assert pickle.loads(pickle.dumps(sdc.protect.suppress)) is sdc.protect.suppress
    assert importlib.import_module("sdckit.protect.suppress").suppress is sdc.protect.suppress
    with pytest.raises(ImportError, match="cannot import name 'supress'"):
        importlib.import_module("builtins").exec("from sdckit.protect import supress")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("sdckit.protect.supress")


def test_packages_still_load_late() -> None:
    code = "import sys, sdckit; print('sdckit.risk' in sys.modules, sdckit.risk.k_anonymity.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "k_anonymity"]


def test_importing_sdckit_loads_no_library() -> None:
    code = "import sys, sdckit; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    libraries = (
        "altair duckdb joblib narwhals numba numpy pandas polars pyarrow pydantic rich scipy sklearn yaml"
    )
    assert "sdckit" in loaded
    assert not loaded & set(libraries.split())


@pytest.mark.parametrize("first", ["", "import sdckit.report.summarize", "from sdckit.cli import app"])
def test_every_name_is_what_it_says_whatever_was_imported_before(first: str) -> None:
    code = f"{first}\nimport sdckit\nprint(*(f'{{n}}={{getattr(sdckit, n).__name__}}' for n in dir(sdckit)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = dict(pair.split("=") for pair in done.stdout.split())
    packages = ("charts", "demo", "prepare", "protect", "registry", "risk", "utility")
    assert found == {name: f"sdckit.{name}" if name in packages else name for name in found}
    assert {"report", "assess", "read", "Microdata", "load_results"} <= set(found)
