"""Methods from outside sdckit: how they get into other processes, and how a change in them is noticed."""

import inspect
import os
import pickle
import re
import sys
from dataclasses import replace
from functools import lru_cache
from uuid import uuid4

from sdckit.errors import OptionError
from sdckit.methods.registry import is_third_party, register, specs
from sdckit.methods.spec import Spec


def packed() -> bytes:
    """The registered methods from outside sdckit, for another process; empty where there are none.

    The functions go by value, so those of a notebook or a script get there, too; modules that they use are
    looked for where this process finds them.
    """
    from joblib import wrap_non_picklable_objects

    own = [
        replace(spec) for spec in specs() if is_third_party(spec.function)
    ]  # without what it has worked out
    if not own:
        return b""
    try:
        functions = pickle.dumps(wrap_non_picklable_objects(own, keep_wrapper=False))
    except Exception as error:  # what a function holds may fail in any way
        raise _alone(own, error) from error
    folders = [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 (an empty one is this folder)
    return pickle.dumps((os.getpid(), folders, functions))


@lru_cache(maxsize=1)
def unpack(methods: bytes) -> None:
    """Register in this process what another packed."""
    if not methods:
        return
    process, folders, functions = pickle.loads(methods)
    if process == os.getpid():  # a thread
        return
    sys.path += [folder for folder in folders if folder not in sys.path]
    try:
        own: list[Spec] = pickle.loads(functions)
    except Exception as error:  # an import runs code
        raise _alone([], error) from error
    for spec in own:
        register(spec)


def sources() -> dict[str, str]:
    """The code of the methods from outside sdckit, by name: results are kept for this code only."""
    return {spec.name: _source(spec) for spec in specs() if is_third_party(spec.function)}


def named_in(plan: str) -> str:
    """A comment for a plan that names methods from outside sdckit; empty where it names none."""
    own = [spec for spec in specs() if is_third_party(spec.function) and re.search(rf"\b{spec.name}\b", plan)]
    if not own:
        return ""
    names = ", ".join(f"{spec.name} (module {spec.function.__module__})" for spec in own)
    return f"# Needs methods from outside sdckit, on the command line with --import: {names}\n"


def _source(spec: Spec) -> str:
    """The whole module, with what the function calls; the function alone in a script or notebook."""
    module = sys.modules.get(spec.function.__module__)
    alone = module is None or module.__name__ == "__main__"
    try:
        return inspect.getsource(spec.function if module is None or alone else module)
    except (OSError, TypeError):
        return uuid4().hex  # unknown code is never the same


def _alone(own: list[Spec], error: Exception) -> OptionError:
    names = ", ".join(spec.name for spec in own) or "methods of your own"
    return OptionError(
        "Methods of your own cannot be used in other processes.",
        given=f"{names} ({type(error).__name__}: {error})",
        hint="Use one process, jobs=1, or put them into a module that can be imported.",
        plan_hint="Use one process, --jobs 1, or put them into a module that can be imported.",
    )
