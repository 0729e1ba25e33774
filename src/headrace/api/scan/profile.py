"""Measures where the time of a scan goes."""

from headrace.api.report import Report
from headrace.api.scan.scan import Scan
from headrace.core.process.timeline import Timeline

__all__ = ["Timeline", "profile"]


def profile(scan: Scan) -> tuple[Timeline, Report]:
    """Read all batches; return when each thread worked and waited, and the report of the scan."""
    timeline = Timeline()
    with scan.timed(timeline) as timed:
        for _ in timed.batches():
            pass
        return timeline, timed.report
