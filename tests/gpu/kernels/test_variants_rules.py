"""Tests that listed programs also run in the fiber harness: programs with each value of each macro compile there, with a GPU's
kernels.
"""

from __future__ import annotations

import re
import subprocess

import pytest

from headrace.gpu.kernels.source import Variant, joined_source
from headrace.testing import fibers
from tests.gpu.kernels.some_programs import first_of_each_file, with_each_value

SOON = set(first_of_each_file()[::8])
"""Programs that CI compiles here. Other tests run some of each file."""


@pytest.mark.long
@pytest.mark.parametrize(
    "variant",
    [variant if variant in SOON else pytest.param(variant, marks=pytest.mark.nightly) for variant in with_each_value()],
    ids=str,
)
def test_a_listed_program_compiles_for_the_harness(variant: Variant) -> None:
    entries = fibers.kernels_of(variant.file, dict(variant.defines))
    # Macros may build names of kernels, as in label.cu.
    command = ["g++", "-E", "-P", "-D__CUDACC__", "-D__CUDACC_RTC__", "-x", "c++", "-"]
    text = subprocess.run(command, input=joined_source(variant), capture_output=True, text=True, check=True).stdout
    named = re.findall(r'extern "C" __global__ void(?:\s+__launch_bounds__\([^()]*\))?\s+(\w+)', text)
    assert entries and set(entries) <= set(named)
