"""Tests the progress of a read: the reports, and how a report ends the read."""

from __future__ import annotations

import pytest

import headrace
from headrace import OptionError

RECORD = b"12345,0.25,some text,2024-01-31\n"
TEXT = RECORD * 400_000
"""13 MB in chunks so small that a read takes some tenths of a second."""


def read(progress: object, **options: object) -> headrace.Table:
    return headrace.read_csv(TEXT, header=False, threads=1, chunk_bytes=16, progress=progress, **options)


def test_progress_goes_up_to_the_size_of_the_text():
    told: list[tuple[int, int]] = []
    table = read(lambda done, total: told.append((done, total)))
    assert table.num_rows == 400_000
    assert told and {total for _, total in told} == {len(TEXT)}
    assert all(0 < done <= len(TEXT) for done, _ in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt, StopIteration])
def test_what_progress_raises_ends_the_read(kind: type[BaseException], threads: int):
    class Stop(kind):  # type: ignore[valid-type, misc]
        pass

    def stop(done: int, total: int) -> None:
        raise Stop(f"{done} of {total}")

    with pytest.raises(Stop, match=f"of {len(TEXT)}"):
        headrace.read_csv(TEXT, header=False, threads=threads, chunk_bytes=16, progress=stop)
    assert headrace.read_csv(RECORD, header=False, threads=threads)[0].to_pylist() == [12345]


def test_sampling_types_reports_nothing():
    text = RECORD * (2_000_000 // len(RECORD))  # tiles of one byte, so that sampling takes 10 ms or more
    reports: list[tuple[int, int]] = []
    headrace.read_csv(text, header=False, threads=1, chunk_bytes=1, progress=lambda *report: reports.append(report))
    assert {total for _, total in reports} == {len(text)}
    assert reports == sorted(set(reports))


def test_a_function_of_the_wrong_shape_is_a_type_error():
    with pytest.raises(TypeError):
        read(lambda: None)


@pytest.mark.parametrize("progress", [1, "yes", True])
def test_what_is_no_function_is_refused(progress: object):
    with pytest.raises(OptionError, match="progress must be a function"):
        read(progress)


def test_a_short_read_tells_nothing():
    def never(done: int, total: int) -> None:
        raise AssertionError

    assert headrace.read_csv(RECORD, header=False, progress=never).num_rows == 1


def test_progress_of_several_files_is_that_of_all():
    told: list[tuple[int, int]] = []
    table = headrace.read_csv(
        [TEXT, RECORD, TEXT], header=False, threads=1, chunk_bytes=16, progress=lambda *of: told.append(of), union_by_name=True
    )
    assert table.num_rows == 800_001
    assert {total for _, total in told} == {2 * len(TEXT) + len(RECORD)}
    assert told == sorted(told) and told[0][0] < len(TEXT) < told[-1][0]


def test_small_files_tell_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("headrace.api.read.read_files.PROGRESS_SECONDS", -1.0)
    told: list[tuple[int, int]] = []
    headrace.read_csv([RECORD, RECORD * 2], header=False, progress=lambda *of: told.append(of))
    assert told == [(len(RECORD), 3 * len(RECORD)), (3 * len(RECORD), 3 * len(RECORD))]
