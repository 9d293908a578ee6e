"""Every protection on odd data: valid microdata with the same roles, or an error of ours."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdckit as sdc
from fuzz.odd_frames import SEARCH, microdata, options
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind, Spec

ONE_OF = {  # options of which one must be given
    "bottom_code": ("value", "share"),
    "drop": ("variables",),
    "group": ("digits",),
    "recode": ("breaks", "width", "groups"),
    "sample_records": ("share", "n"),
    "top_code": ("value", "share"),
}


def random_options(spec: Spec) -> dict[str, int]:
    """What makes a protection give the same values again: a generator, or a seed of its own."""
    return {name: 1 for name in ("rng", "seed") if name in spec.parameters}


@pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in specs(Kind.PROTECTION)])
def test_valid_microdata_or_our_error(spec):
    @SEARCH
    @given(st.data())
    def fuzz(drawn):
        data = drawn.draw(microdata(spec.needs))
        chosen = drawn.draw(options(spec, data, {}, ONE_OF.get(spec.name, ())))
        chosen |= random_options(spec)
        before = data.frame.clone()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                protected = spec.call(data, **chosen)
            except sdc.SdcError:
                protected = None
        assert data.frame.schema == before.schema
        assert data.frame.equals(before)
        if protected is None:
            return
        sdc.read(protected.frame, **protected.roles.as_dict())  # the roles still fit the columns
        assert protected.log[-1].method == spec.name
        assert set(protected.columns) <= set(data.columns)
        if not protected.log[-1].effects.drops_rows:
            assert protected.height == data.height
        again = spec.call(data, **chosen)
        assert again.frame.equals(protected.frame), "the same seed gave other values"

    fuzz()
