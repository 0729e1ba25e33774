"""Layouts of C++ structs as Python reads them."""

import struct

import numpy as np
import pytest

from headrace.core.layouts.layout import layout

NAMES = ["ConvertColumn", "FieldFault", "ConvertTotals", "DfaTask", "ConvertTask", "FieldRules", "RowColumn", "RowTask"]


@pytest.mark.parametrize("name", NAMES)
def test_dtype_and_packer_have_the_size_of_the_struct(name):
    found = layout(name)
    assert found.dtype.itemsize == found.packer().size == found.size
    assert found.argument == f"{found.size}s"


def test_fields_have_their_offsets():
    rules = layout("FieldRules")
    assert [(field.name, field.offset) for field in rules.fields[:6]] == [
        ("nulls", 0),
        ("written_nulls", 16),
        ("true_words", 32),
        ("false_words", 48),
        ("empty_is_null", 64),
        ("quoted_may_be_null", 65),
    ]
    assert rules.dtype["marks"].fields["thousands"] == (np.dtype("i2"), 2)
    assert layout("TileStart").dtype["reserved"].shape == (2,)
    assert rules.packer().format.endswith("??" + "x" * 6)


def test_packer_takes_part_of_the_fields():
    task = layout("ConvertTask")
    assert task.packer(last="tiles").format == "=QQI"
    assert layout("RowTask").packer(first="columns").format == "=IIHH8sQII32s"
    assert struct.calcsize(task.packer(last="tiles").format) == task.offset("base")


def test_unknown_struct():
    with pytest.raises(KeyError, match="NoSuchStruct"):
        layout("NoSuchStruct")


def test_arrays_have_their_shapes_and_instances_of_templates_their_names():
    tables = layout("DfaTables<16>")
    assert [field.shape for field in tables.fields[-2:]] == [(33, 16), (33, 16)]
    assert tables.dtype["emits"].shape == (33, 16) and tables.packer().size == tables.size == 1376
    assert layout("Columns").length("width") == 8
    assert layout("AnyOf<u64>").packer().format == "=QQQIIII"
    assert layout("Even<f32>").packer().format == "=ffff"
    assert layout("BetweenOf<u64>").packer().format == "=32sQQ"
