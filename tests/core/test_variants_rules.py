"""Every program that is listed runs in the fiber harness too: it compiles there as it stands, with the kernels that a GPU has."""

from __future__ import annotations

import re

import pytest

from headrace.core.gpu.kernel_source import Variant, all_variants, joined_source
from headrace.testing import fibers


@pytest.mark.parametrize("variant", list(all_variants()), ids=str)
def test_a_listed_program_compiles_for_the_harness(variant: Variant) -> None:
    entries = fibers.program(variant.file, dict(variant.defines)).entries
    named = re.findall(r'extern "C" __global__ void(?:\s+__launch_bounds__\([^()]*\))?\s+(\w+)', joined_source(variant))
    assert entries and set(entries) <= set(named)
