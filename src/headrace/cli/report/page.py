"""Formats a report as one HTML page without scripts and external resources. All text of the input is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headrace import Sniffed
from headrace.api.picture import printable
from headrace.api.report import ColumnReport, Report
from headrace.cli.report.column_summary import ColumnSummary

_SHOWN = 80
_STYLE = """\
:root{color-scheme:light dark;--ink:#1c2430;--dim:#5b6675;--line:#d9dee5;--card:#fff;--back:#f4f6f8;--bar:#2f6fb0;--bad:#b3402a}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--dim:#98a3b3;--line:#333c48;--card:#1b2129;--back:#12161b;--bar:#6aa9e6;
--bad:#ef8a72}}
*{box-sizing:border-box}body{margin:0 auto;max-width:1200px;padding:24px 16px;font:15px/1.45 system-ui,sans-serif;
color:var(--ink);background:var(--back)}h1{font-size:22px;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:17px;margin:32px 0 12px}
h3{font-size:15px;margin:0;overflow-wrap:anywhere}p{margin:4px 0}.dim{color:var(--dim)}
.figures{display:flex;flex-wrap:wrap;gap:12px;
margin:16px 0}.figures div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px 16px}
.figures b{display:block;font-size:19px;font-variant-numeric:tabular-nums}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr));gap:12px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px;min-width:0}
.type{color:var(--bar);font:13px ui-monospace,monospace;overflow-wrap:anywhere}
svg{display:block;width:100%;height:52px;margin:10px 0 2px}rect{fill:var(--bar)}.ends{display:flex;justify-content:space-between;
gap:12px;font:12px ui-monospace,monospace;color:var(--dim)}.ends span{overflow-wrap:anywhere}.scroll{overflow-x:auto;
background:var(--card);border:1px solid var(--line);border-radius:8px}table{border-collapse:collapse;font-size:13px}
td,th{padding:4px 10px;text-align:left;vertical-align:top}th{color:var(--dim);font-weight:600;white-space:nowrap}
.scroll tr+tr td{border-top:1px solid var(--line)}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.card p{font-size:13px}.card table{width:100%;margin-top:8px}.card td{padding:1px 0;overflow-wrap:anywhere}
code,pre{font:13px/1.6 ui-monospace,monospace}pre{margin:0;padding:12px;overflow-x:auto}
.sep{color:#fff;background:var(--bar);border-radius:3px;padding:0 2px}.quote{color:var(--bad);font-weight:700}
@media(prefers-color-scheme:dark){.sep{color:#12161b}}
"""


def page(name: str, report: Report, sniffed: Sniffed, parts: Mapping[str, Any]) -> str:
    """Return the page.

    `sniffed`: dialect with its evidence.
    `parts`: ``summaries`` by column, ``rejects`` (the first faults) and ``lines`` (the first lines of text).
    """
    figures = {"bytes": report.bytes, "rows": report.rows, "columns": len(report.columns)}
    figures |= {"faults": report.faults, "records rejected": report.rejected, "records skipped": report.skipped.total}
    cards = "".join(f"<div><b>{count:,}</b>{label}</div>" for label, count in figures.items())
    columns = "".join(_card(column, parts["summaries"][column.name]) for column in report.columns)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escaped(name)}</title><style>{_STYLE}</style></head><body><h1>{escaped(name)}</h1>"
        f'<p class="dim">records: {report.records:,} = {report.rows:,} rows + {report.rejected:,} rejected + '
        f"{report.skipped.total:,} skipped ({escaped(str(report.skipped), 200)})</p>"
        f'<div class="figures">{cards}</div><h2>Columns</h2><div class="cards">{columns}</div>'
        f"{_rejects(report, parts['rejects'])}{_dialect(sniffed, parts['lines'])}</body></html>\n"
    )


def escaped(value: object, length: int = _SHOWN) -> str:
    """Return a value as text of a page: at most `length` characters, control characters visible, markup escaped."""
    text = str(value)
    return html.escape(printable(text[:length])) + ("…" if len(text) > length else "")


def _card(column: ColumnReport, summary: ColumnSummary) -> str:
    share = summary.nulls / summary.rows if summary.rows else 0.0
    nulls = f"{summary.nulls:,} nulls ({share:.1%})" if summary.nulls else "no nulls"
    reason = "given" if not column.inferred else "no value" if column.evidence is None else str(column.evidence)
    body = [f'<h3>{escaped(column.name)}</h3><span class="type">{escaped(column.type)}</span>']
    body.append(f'<p class="dim">{nulls}; type: {escaped(reason, 160)}</p>')
    if bins := summary.histogram():
        body.append(_bars(bins))
    if summary.lowest is not None:
        body.append(
            f'<div class="ends"><span>{escaped(summary.lowest, 30)}</span><span>{escaped(summary.highest, 30)}</span></div>'
        )
    rows = "".join(
        f'<tr><td>{escaped(value, 40)}</td><td class="n">{_share(count, summary)}</td></tr>'
        for value, count in summary.frequent()
    )
    if rows:
        body.append(f"<table>{rows}</table>")
    if summary.step > 1:
        body.append(
            f'<p class="dim">{"histogram and " if bins else ""}frequent values: a sample, one of {summary.step:,} rows</p>'
        )
    return f'<div class="card">{"".join(body)}</div>'


def _share(count: int, summary: ColumnSummary) -> str:
    return f"{count / (len(summary.sample) - summary.sample.count(None)):.1%}"


def _bars(bins: Sequence[int]) -> str:
    highest = max(bins) or 1
    bars = "".join(
        f'<rect x="{at * 10}" y="{50 - height:.1f}" width="9" height="{height:.1f}"><title>{count:,}</title></rect>'
        for at, count in enumerate(bins)
        if (height := 50 * count / highest)
    )
    return f'<svg viewBox="0 0 {len(bins) * 10} 50" preserveAspectRatio="none" role="img" aria-label="histogram">{bars}</svg>'


def _rejects(report: Report, faults: Sequence[Mapping[str, Any]]) -> str:
    if not faults:
        return '<h2>Faults</h2><p class="dim">none</p>'
    names = [name for name in ("file", "record", "line", "column", "kind", "expected", "field", "text") if name in faults[0]]
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join("<tr>" + "".join(_cell(fault[name]) for name in names) + "</tr>" for fault in faults)
    more = f'<p class="dim">the first {len(faults):,} of {report.faults:,}</p>' if report.faults > len(faults) else ""
    return f'<h2>Faults</h2>{more}<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    return f"<td>{'' if value is None else '<code>' + escaped(value) + '</code>'}</td>"


def _dialect(sniffed: Sniffed, lines: Iterable[str]) -> str:
    shown = "\n".join(_marked(line, sniffed) for line in lines)
    options = "".join(
        f"<tr><th>{escaped(name)}</th><td><code>{escaped(repr(value))}</code></td></tr>"
        for name, value in sniffed.options.items()
    )
    evidence = "".join(f"<p>{escaped(line, 300)}</p>" for line in sniffed.evidence)
    picture = f'<div class="scroll"><pre>{shown}</pre></div>'
    return f'<h2>Dialect</h2>{picture}{evidence}<div class="scroll"><table>{options}</table></div>'


def _marked(line: str, sniffed: Sniffed) -> str:
    """Return a line with marks on separators and quotes. Inside quotes a separator is data."""
    found, at, is_quoted = [], 0, False
    while at < len(line):
        if line[at] == sniffed.quote_char:
            is_quoted = not is_quoted
            found.append(f'<span class="quote">{escaped(line[at])}</span>')
            at += 1
        elif not is_quoted and line.startswith(sniffed.sep, at):
            found.append(f'<span class="sep">{escaped(sniffed.sep)}</span>')
            at += len(sniffed.sep)
        else:
            found.append(escaped(line[at]))
            at += 1
    return "".join(found)
