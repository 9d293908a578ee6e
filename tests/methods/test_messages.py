"""What is wrong with an option, without the words of pydantic."""

import re
from itertools import product

import numpy as np
import pytest

import sdckit as sdc
from sdckit.errors import OptionError
from sdckit.methods.registry import find, specs

PYDANTIC = re.compile(r"a valid|instance of|parse|constrained|literal\[|dict\[|dictionary|Input should")


@pytest.mark.parametrize(
    ("method", "options", "text"),
    [
        (
            "suppress",
            {"k": "drei"},
            "Option 'k' of suppress is not valid. Given: 'drei'. Allowed: a whole number.",
        ),
        ("suppress", {"k": 2.5}, "Option 'k' of suppress is not valid. Given: 2.5. Allowed: a whole number."),
        ("suppress", {"k": 1}, "Option 'k' of suppress is not valid. Given: 1. Allowed: 2 or more."),
        (
            "k_anonymity",
            {"missing_weight": 2},
            "Option 'missing_weight' of k_anonymity is not valid. Given: 2. Allowed: 1 or less.",
        ),
        (
            "k_anonymity",
            {"keys": 3},
            "Option 'keys' of k_anonymity is not valid. Given: 3. Allowed: column names.",
        ),
        (
            "k_anonymity",
            {"keys": ["sex", 1]},
            "Option 'keys' of k_anonymity is not valid, at entry 2. Given: 1. Allowed: column names.",
        ),
        (
            "suppress",
            {"importance": {"sex": "hi"}},
            "Option 'importance' of suppress is not valid, at 'sex'. Given: 'hi'. "
            "Allowed: 'low', 'normal', 'high' or 'never', or a number.",
        ),
        (
            "group",
            {"variables": "x", "map": {1: ["work"]}},
            "Option 'map' of group is not valid, at 1. Given: 1. Allowed: a text.",
        ),
        (
            "group",
            {"variables": "x", "map": {"a": []}},
            "Option 'map' of group is not valid, at 'a'. Given: []. Allowed: 1 or more entries.",
        ),
        ("group", {"map": {"a": ["b"]}}, "group needs the option 'variables'."),
    ],
)
def test_plain_words(method, options, text):
    with pytest.raises(OptionError) as met:
        find(method).validate(options)
    assert str(met.value) == text


def test_no_option_of_any_method_answers_in_the_words_of_pydantic():
    strange = [
        object(),
        "no such thing",
        -1.5,
        {"a": object()},
        [object()],
        None,
        np.zeros((2, 2)),
        {1: {2: 3}},
    ]
    said = []
    for spec in specs():
        for option, value in product(spec.options.model_fields, strange):
            try:
                spec.validate({option: value})
            except sdc.SdcError as error:
                said.append(str(error))
    assert len(said) > 500
    assert [text for text in said if PYDANTIC.search(text)] == []


def test_a_map_the_other_way_round_is_turned_in_the_message():
    with pytest.raises(OptionError) as met:
        sdc.Step("group", variables="x", map={"low": "lm", "mid": "lm"})
    assert "Allowed: {new: [old, …]}. For example map: {'lm': ['low', 'mid']}." in str(met.value)
    with pytest.raises(OptionError, match=r"map: {'work': \[1\]}"):
        sdc.Step("group", variables="x", map={1: "work"})
