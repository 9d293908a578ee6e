"""The option where, with anything and on odd data: only chosen records change, or an error of ours."""

import warnings

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdckit as sdc
from fuzz.odd_frames import SEARCH, microdata, options
from fuzz.test_fuzz_protections import ONE_OF, random_options
from sdckit.methods.registry import find, specs
from sdckit.methods.spec import Kind

TAKERS = [s for s in specs(Kind.PROTECTION) if "where" in s.parameters]
FLAGGING = [s.name for s in specs(Kind.RISK) if s.flags]
simple = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
names = st.sampled_from([*FLAGGING, "frequencies", "suppress", "", "individual_rsk"])
anything = st.recursive(
    simple | names,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names | simple, inner, max_size=2),
    max_leaves=4,
)


@SEARCH
@given(anything)
def test_anything_given_as_where_is_a_step_or_our_error(where):
    try:
        step = sdc.Step("add_noise", where=where)
    except sdc.SdcError:
        return
    assert where is None or step.options["where"] == where


@pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in TAKERS])
def test_chosen_records_or_our_error(spec):
    @SEARCH
    @given(st.data())
    def fuzz(drawn):
        data = drawn.draw(microdata(spec.needs))
        chosen = drawn.draw(options(spec, data, {}, ONE_OF.get(spec.name, ())))
        measure = find(drawn.draw(st.sampled_from(FLAGGING)))
        asked = drawn.draw(options(measure, data, {}))
        chosen |= random_options(spec)
        before = data.frame.clone()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                done = spec.call(data, **chosen, where={measure.name: asked})
            except sdc.SdcError:
                return
        assert data.frame.equals(before)
        figures = done.log[-1].figures
        flag = measure.call(data, **asked).parts[measure.flags]
        unjudged = figures.get("records_not_judged", 0)
        assert flag.sum() <= figures["records_chosen"] <= data.height - unjudged
        assert unjudged <= flag.null_count()
        assert len(done.warnings) == (unjudged > 0)
        if data.roles.household is None:
            assert (figures["records_chosen"], unjudged) == (flag.sum(), flag.null_count())
            for column in data.columns:
                old, new = (f[column].filter(~flag.fill_null(value=False)) for f in (before, done.frame))
                assert new.cast(old.dtype).equals(old) or old.dtype == pl.Object
        again = spec.call(data, **chosen, where=measure.call(data, **asked))
        assert again.frame.equals(done.frame)
        assert again.log[-1].figures == figures

    fuzz()
