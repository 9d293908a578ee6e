"""The cache on disk: never the machine code of another version, or of a kernel's old helper."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sdckit.kernels import _jit

HELPER = "from sdckit.kernels._jit import {0}\n\n@{0}\ndef helper(x):\n    return x + {1}\n"
CALLER = """
from helper_of_test import helper
from sdckit.kernels._jit import jit

@jit
def caller(x):
    return 10 * helper(x)

print(caller(1))
"""


def run(folder, version="1"):
    """What the caller prints in a process of its own with a cache given by the user."""
    start = f"import sdckit._version; sdckit._version.__version__ = {version!r}; import caller_of_test"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run([sys.executable, "-c", start], env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return int(done.stdout), {path.name for path in (folder / "cache").rglob("*.nbi")}


@pytest.mark.compiled
@pytest.mark.parametrize(("kind", "kept"), [("jit", 2), ("inner", 1)])
def test_a_changed_helper_or_version_is_compiled_anew(tmp_path, kind, kept):
    (tmp_path / "caller_of_test.py").write_text(textwrap.dedent(CALLER))
    (tmp_path / "helper_of_test.py").write_text(HELPER.format(kind, 1))
    first, files = run(tmp_path)
    assert first == 20
    assert len(files) == kept, "in the folder the user named"
    assert run(tmp_path) == (20, files)
    (tmp_path / "helper_of_test.py").write_text(HELPER.format(kind, 2))
    second, more = run(tmp_path)
    assert second == 30, "numba alone would run the old helper"
    assert run(tmp_path, "2")[1] > more


WHERE = "from sdckit.kernels._jit import cached_files\nprint(caller(1), *cached_files(caller), sep='|')"


def run_where_nothing_can_be_written(folder, temporary):
    """The files of the caller's cache, with neither the folder of the sources nor the home folder at hand.

    Permissions do not stop a superuser, so plain files stand where folders would have to be.
    """
    (folder / "__pycache__").touch()
    (folder / "home").touch()
    environment = {
        **os.environ,
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "home" / "cache"),
    }
    environment |= {"LOCALAPPDATA": str(folder / "home"), "TMPDIR": str(temporary), "NUMBA_DISABLE_JIT": "0"}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    start = f"from caller_of_test import caller\n{WHERE}"
    done = subprocess.run([sys.executable, "-c", start], env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    number, *files = done.stdout.splitlines()[-1].split("|")
    assert number == "20"
    return files


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="another temporary folder on Windows")
def test_without_package_folder_and_home_kernels_are_kept_in_a_temporary_folder(tmp_path):
    (tmp_path / "caller_of_test.py").write_text(textwrap.dedent(CALLER))
    (tmp_path / "helper_of_test.py").write_text(HELPER.format("jit", 1))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    files = run_where_nothing_can_be_written(tmp_path, temporary)
    mine = temporary / f"sdckit-kernels-{os.getuid()}"
    assert mine.stat().st_mode & 0o777 == 0o700
    assert len(files) == 2, "an index and one kind of arguments"
    assert all(file.startswith(str(mine)) for file in files)
    mine.chmod(0o777)
    assert run_where_nothing_can_be_written(tmp_path, temporary) == [], "somebody else may have written there"


def test_an_inner_function_is_a_plain_one_in_python():
    @_jit.inner
    def one_more(x):
        return x + 1

    assert one_more(1) == 2
    assert one_more(0.5) == 1.5, "of any type: nothing was compiled"


LAYERS = """
import numpy as np
from sdckit.kernels._jit import inner, jit

@inner
def inverse(x, divisor):
    return x // divisor

@inner
def add_up(values, divisor):
    total = 0
    for i in range(len(values)):
        total += inverse(values[i], divisor)
    return total

@jit
def twice(values, divisor):
    return add_up(values, divisor) + add_up(values, 1) + inverse(divisor, 1)

print(twice(np.arange(5), 2))
try:
    twice(np.arange(5), 0)
except ZeroDivisionError:
    print("refused")
"""


@pytest.mark.compiled
def test_inner_functions_call_each_other_and_errors_in_them_reach_python(tmp_path):
    (tmp_path / "layers_of_test.py").write_text(LAYERS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    for _ in range(2):  # compiled, then from disk
        done = subprocess.run(
            [sys.executable, str(tmp_path / "layers_of_test.py")],
            env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
        )
        assert done.stdout.split() == ["16", "refused"], done.stderr


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    monkeypatch.setattr(_jit, "gettempdir", lambda: str(tmp_path))
    _jit.temporary_cache.cache_clear()
    yield tmp_path
    _jit.temporary_cache.cache_clear()


def test_the_temporary_folder_is_made_for_the_user_alone(temporary):
    folder = _jit.temporary_cache()
    assert folder.parent == temporary
    if hasattr(os, "getuid"):
        assert folder.stat().st_mode & 0o777 == 0o700
    _jit.temporary_cache.cache_clear()
    assert _jit.temporary_cache() == folder, "and used again"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users have temporary folders apart on Windows")
@pytest.mark.parametrize(
    "case", ["others may write", "others may read", "of another user", "a link", "a file"]
)
def test_a_temporary_folder_that_is_not_ours_alone_is_not_used(temporary, monkeypatch, case):
    folder = temporary / f"sdckit-kernels-{os.getuid()}"
    if case == "a file":
        folder.touch()
    elif case == "a link":
        (temporary / "other").mkdir(mode=0o700)
        folder.symlink_to(temporary / "other")
    else:
        folder.mkdir(mode=0o700)
    if case == "others may write":
        folder.chmod(0o702)
    elif case == "others may read":  # what is compiled tells nothing; but then nobody of us made the folder
        folder.chmod(0o750)
    elif case == "of another user":
        other = os.getuid() + 1
        folder.rename(temporary / f"sdckit-kernels-{other}")
        monkeypatch.setattr(os, "getuid", lambda: other)
    assert _jit.temporary_cache() is None


def test_where_there_is_no_temporary_folder(temporary, monkeypatch):
    def fail(*_):
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(_jit, "gettempdir", fail)
    assert _jit.temporary_cache() is None


def test_where_the_temporary_folder_cannot_be_written(temporary, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert _jit.temporary_cache() is None


def test_where_the_temporary_folder_cannot_be_made(temporary, monkeypatch):
    def fail(*_, **__):
        raise PermissionError

    monkeypatch.setattr(_jit.Path, "mkdir", fail)
    assert _jit.temporary_cache() is None


SCALAR = {"sqrt", "log", "exp", "abs", "floor", "ceil", "isnan", "isfinite", "log1p", "expm1", "round"}
SCALAR |= {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64", "bool_"}


def inner_functions():
    folder = Path(_jit.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(d, ast.Name) and d.id == "inner" for d in node.decorator_list
            ):
                yield pytest.param(node, id=f"{path.stem}.{node.name}")


@pytest.mark.parametrize("function", list(inner_functions()))
def test_inner_functions_neither_make_nor_return_arrays(function):
    # references are not counted in them: an array made inside would never be freed, or too early
    returned = "" if function.returns is None else ast.unparse(function.returns)
    assert not re.search(r"Floats|Ints|Bools|NDArray|ndarray|list|tuple\[.*(Floats|Ints|Bools)", returned)
    for node in ast.walk(function):
        assert not isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ast.unparse(node.func)
            module, _, name = called.rpartition(".")
            assert (module in ("np", "math") and name in SCALAR) or module == "math", called
