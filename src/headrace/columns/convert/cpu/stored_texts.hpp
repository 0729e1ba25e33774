// Finds the texts of a column that are stored as they are written, in the tile's text, and writes their views.
#pragma once

#include "columns/convert/cpu/convert_strings.hpp"

HR_BEGIN_NAMESPACE

HR_FN bool find_texts(const TileRows& rows, const ColumnJob& job, bool views, TextSpans& texts, ColumnCounts& counts) {
    if ((job.inferred && !has_type(static_cast<Kind>(job.guess))) || !is_stored_as_written(rows, job)) return false;
    const ColumnFields fields(rows, job.column);
    texts = {rows.text,       fields.starts(),       fields.ends(), fields.start_stride(),
             fields.stride(), fields.start_offset(), fields.back()};
    const bool empty_is_null = job.rules->empty_is_null;
    const u64 short_too = views ? 0 : ~u64{0};
    counts = {};
    for (usize base = 0; base < rows.rows; base += 64) {
        const usize count = rows.rows - base < 64 ? rows.rows - base : 64;
        u64 absent = 0;
        for (usize i = 0; i < count; ++i) {
            const usize row = base + i;
            const u32 size = fields.end(row) - fields.start(row);
            absent |= u64{size == 0 && (empty_is_null || fields.missing(row))} << i;
            counts.string_bytes += size & (long_mask(size) | short_too);
        }
        job.nulls[base / 64] = absent;
        counts.nulls += static_cast<usize>(count_ones(absent));
    }
    return true;
}

HR_FN u64 put_views(const TextSpans& texts, usize from, usize count, ViewBytes bytes, View* to) {
    const TextSpans spans = texts;  // the compiler cannot know that views are not written to `texts`
    ViewWriter writer(to, bytes);
    for (usize row = from; row < from + count; ++row) writer.add(spans.bytes + spans.start(row), spans.size(row));
    return writer.end();
}

HR_END_NAMESPACE
