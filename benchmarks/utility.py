"""Information lost."""

from functools import partial

import naive_ecdf
import sdckit as sdc
from benchmarks import _files as files
from benchmarks._task import Task


def measure(name: str, **options: object) -> dict:
    """The call of a measure of two files."""
    return {"run": lambda both: getattr(sdc.utility, name)(*both, **options)}


def naive_distances(both: tuple[sdc.Microdata, sdc.Microdata]) -> object:
    x, y = (d.frame.select(files.NUMBERS).rows() for d in both)
    w, v = (d.frame["w"].to_list() for d in both)
    return naive_ecdf.naive_ecdf_distance(x, y, w, v)


wide = partial(files.mixed, p=20)
TWO = (10_000, 100_000)

TASKS = [
    Task("IL1s, 4 numbers", files.with_noise, **measure("il1s"), theirs="dUtility_IL1s"),
    Task("eigenvalues, 4 numbers", files.with_noise, **measure("eigenvalues"), theirs="dUtility_eigen"),
    Task(
        "eigenvalues, robust",
        files.with_noise,
        **measure("eigenvalues", robust=True),
        sizes=TWO,
        theirs="dUtility_robeigen",
    ),
    Task(
        "distance of distributions, 4 numbers",
        files.with_noise,
        **measure("ecdf_distance"),
        sizes=(1_000, 10_000, 100_000),
        naive=naive_distances,
        naive_size=300,
        theirs="ecdf",
    ),
    Task("contingency tables up to 3, 10 keys", wide, **measure("contingency_loss", order=3), sizes=TWO),
    Task("propensity, 20 variables", wide, **measure("propensity"), sizes=TWO),
    Task(
        "propensity, CART, 2 permutations",
        wide,
        **measure("propensity", model="cart", permutations=2),
        sizes=TWO,
    ),
    Task("clusters, 20 variables", wide, **measure("cluster_overlap"), sizes=TWO),
    Task("Gower distance, 20 variables", wide, **measure("gower_distance")),
]
