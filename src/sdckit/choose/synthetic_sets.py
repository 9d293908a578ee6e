"""synthesize: several synthetic files of the same data, for inference that counts their differences."""

from typing import Any

import numpy as np

from sdckit.choose.scenario import seed_or_secret
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.errors import OptionError
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind


def synthesize(data: Microdata, m: int = 5, *, seed: int | None = None, **options: Any) -> list[Microdata]:
    """m synthetic files, each with all options of `sdckit.protect.synthesize`.

    Trees are grown once and shared by all files (with `proper` anew for each), so that every further file
    costs a draw only. Each file draws from random numbers of its own: a larger m adds files and leaves the
    others unchanged. Without a `seed` they are drawn in secret. Estimates of the files are combined by
    `indicators` and `regression`, which find in the log how they were made:
    T = v̄·(k/n + 1/m), v̄ being the mean variance within the files of k records from n. Reference: Raab, Nowok
    & Dibben (2016).

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=400, seed=1)
    >>> sets = sdc.synthesize(data, m=3, seed=1)
    >>> len(sets), sets[0].frame.equals(sets[1].frame)
    (3, False)
    >>> result = sdc.utility.indicators(data, sets, indicators="mean", variables=["expenditure"])
    >>> result.notes[0]
    '3 synthetic sets combined by the rules for samples from a model of the original: the variances within...'
    """
    require_microdata(data, "synthesize")
    used = seed_or_secret(seed, data)
    if isinstance(m, bool) or not isinstance(m, int) or m < 1:
        raise OptionError("m is the number of synthetic files.", given=m, allowed="1 or more")
    method = find("synthesize", Kind.PROTECTION)
    method.validate(options)
    streams = (np.random.default_rng(np.random.SeedSequence([used, number])) for number in range(m))
    return [method.call(data, rng=rng, **options) for rng in streams]
