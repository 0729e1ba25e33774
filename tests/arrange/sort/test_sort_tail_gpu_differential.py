"""Tests the steps of an MSD sort that are one launch with grid barriers, on a GPU, against sorts on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Context
from headrace.arrange.sort.gpu import sort
from headrace.arrays.device_array import DeviceArray
from tests.arrange.sort.sort_gpu_cases import MsdSorter, deep_keys, with_tail, words

pytestmark = pytest.mark.gpu

COUNT = (1 << 23) + 77
ON_GPU = Context(device="cuda")


@pytest.fixture(params=[0, 2, 3, 5])
def by_parts(request, monkeypatch):
    """Force the MSD sort whatever the plan would choose, from this step on in one launch."""
    tuning_of = sort.tuning_of
    monkeypatch.setattr(sort, "tuning_of", lambda *card: with_tail(tuning_of(*card), request.param))
    monkeypatch.setattr(sort, "Sorter", MsdSorter)


def host(array):
    return array.to_numpy() if isinstance(array, DeviceArray) else np.asarray(array)


@pytest.mark.usefixtures("by_parts")
@pytest.mark.parametrize("dtype", ["u8", "f8"])
@pytest.mark.parametrize("descending", [False, True])
def test_steps_from_any_number_on(dtype: str, descending: bool) -> None:
    keys = deep_keys(dtype, COUNT)
    keys[::9] = np.where(np.arange(COUNT) % 2 == 0, 0, -0.0).astype(dtype)[::9]
    places = headrace.argsort(keys, descending=descending)
    rows = np.arange(COUNT, dtype=f"u{keys.itemsize}")
    for _ in range(5):  # a grid barrier passes in another order each time
        found = host(headrace.sort(keys, descending=descending, context=ON_GPU))
        np.testing.assert_array_equal(words(found), words(headrace.sort(keys, descending=descending)))
        for values in ([rows], [rows.astype("u1"), rows.astype("u4")]):
            pairs = headrace.sort_pairs(keys, values, descending=descending, context=ON_GPU)
            np.testing.assert_array_equal(words(host(pairs.keys)), words(keys[places]))
            for made, given in zip(pairs.values, values, strict=True):
                np.testing.assert_array_equal(host(made), given[places])
