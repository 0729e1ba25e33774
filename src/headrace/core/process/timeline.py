"""Records what each worker did and when it waited, as a trace for Perfetto or as an HTML page with a chart."""

from __future__ import annotations

import html
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A timed activity of one lane; times in seconds since the timeline began."""

    lane: str
    name: str
    begin: float
    end: float


class Timeline:
    """Spans of one task, recorded from any thread.

    >>> timeline = Timeline()
    >>> with timeline.span("reader", "read"):
    ...     pass
    >>> [(span.lane, span.name) for span in timeline.spans]
    [('reader', 'read')]
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._lock = threading.Lock()
        self.spans: list[Span] = []

    @contextmanager
    def span(self, lane: str, name: str) -> Iterator[None]:
        """Record the ``with`` block as a span."""
        begin = time.perf_counter() - self._begun
        try:
            yield
        finally:
            span = Span(lane, name, begin, time.perf_counter() - self._begun)
            with self._lock:
                self.spans.append(span)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), ()  # spans belong to a process

    def seconds(self) -> dict[tuple[str, str], float]:
        """Return the total seconds of each activity by lane: (lane, name) to seconds."""
        sums: dict[tuple[str, str], float] = {}
        for span in self.spans:
            sums[span.lane, span.name] = sums.get((span.lane, span.name), 0.0) + span.end - span.begin
        return sums

    def as_trace(self) -> str:
        """Return JSON for Perfetto (ui.perfetto.dev) and chrome://tracing."""
        lanes = self._lanes()
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": lane}} for lane, number in lanes.items()
        ]
        for span in self.spans:
            times = {"ts": span.begin * 1e6, "dur": (span.end - span.begin) * 1e6}
            events.append({"ph": "X", "name": span.name, "pid": 1, "tid": lanes[span.lane], **times})
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})

    def as_page(self, title: str) -> str:
        """Return an HTML page with a row a lane, a bar a span (pale while waiting), and a table of totals."""
        lanes, whole = self._lanes(), max((span.end for span in self.spans), default=0.0) or 1.0
        colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(dict.fromkeys(span.name for span in self.spans))}
        bars = [self._bar(span, lanes[span.lane], whole, colours) for span in self.spans]
        labels = [
            f'<text x="4" y="{number * _ROW + 18}" font-size="13">{html.escape(lane)}</text>' for lane, number in lanes.items()
        ]
        rows = [
            f"<tr><td>{html.escape(lane)}</td><td>{html.escape(name)}</td><td>{seconds * 1e3:.1f}</td></tr>"
            for (lane, name), seconds in self.seconds().items()
        ]
        height = len(lanes) * _ROW + 8
        return _PAGE.format(
            title=html.escape(title), whole=whole * 1e3, width=_LEFT + _WIDTH + 8, height=height, marks="\n".join(labels + bars),
            rows="\n".join(rows),
        )  # fmt: skip

    def _bar(self, span: Span, row: int, whole: float, colours: dict[str, str]) -> str:
        x, width = _LEFT + span.begin / whole * _WIDTH, max((span.end - span.begin) / whole * _WIDTH, 0.5)
        opacity = 0.25 if span.name.startswith("wait") else 1
        tooltip = f"{html.escape(span.name)}: {(span.end - span.begin) * 1e3:.2f} ms at {span.begin * 1e3:.2f} ms"
        return (
            f'<rect x="{x:.2f}" y="{row * _ROW + 4}" width="{width:.2f}" height="{_ROW - 8}" fill="{colours[span.name]}" '
            f'opacity="{opacity}"><title>{tooltip}</title></rect>'
        )

    def _lanes(self) -> dict[str, int]:
        return {lane: number for number, lane in enumerate(dict.fromkeys(span.lane for span in self.spans))}


_LEFT, _WIDTH, _ROW = 130, 1200, 30
_COLOURS = ("#2a6f97", "#e07a5f", "#3d9970", "#8f5fb0", "#c9a227", "#5f6f7f")
_PAGE = """<!doctype html>
<meta charset="utf-8"><title>{title}</title>
<body style="font-family: sans-serif">
<h1>{title}</h1>
<p>{whole:.1f} ms from left to right. Pale bars wait; a bar that is pointed at says what it is.</p>
<svg width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">
{marks}
</svg>
<table border="1" cellpadding="4" style="border-collapse: collapse"><tr><th>lane</th><th>work</th><th>ms in all</th></tr>
{rows}
</table>
"""


class NoTimeline(Timeline):
    """A timeline that records nothing."""

    @contextmanager
    def span(self, lane: str, name: str) -> Iterator[None]:
        """Run the block without recording it."""
        yield
