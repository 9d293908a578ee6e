"""What help() shows of a method."""

import inspect
import pydoc

import sdckit as sdc
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind


def test_help_has_readable_types():
    text = pydoc.render_doc(sdc.protect.pram, renderer=pydoc.plaintext)
    head = " ".join(text.split("\n\n")[1].split()).replace("( ", "(")  # Python 3.13 breaks long lines
    assert head.startswith("pram(data: Microdata, *, variables: columns, stay: float | {str: float} = 0.8")
    assert "rng: seed or generator = None" in head
    shown = str(inspect.signature(sdc.risk.k_anonymity))
    assert "keys: columns = the keys columns" in shown
    assert "missing: 'wildcard' | 'category' | 'nothing' = 'wildcard'" in shown


def test_no_signature_shows_how_options_are_checked():
    for spec in specs():
        shown = str(inspect.signature(spec.call))
        assert not any(word in shown for word in ("Annotated", "FieldInfo", "<", "typing.")), shown
        if spec.kind is Kind.PROTECTION:
            assert "progress" not in shown
