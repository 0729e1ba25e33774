// Converts fields to typed values, one column of one tile at a time. Compiled once per instruction set.
//
// A column's loop is specialised for its type. A fast form reads the common shapes. What it declines (nulls, other
// shapes, invalid values) takes the slow path, where the shared rules decide. Cost per field: 8 bytes of index and the
// field's text are read, and the value is written.
#include "columns/convert/cpu/convert.hpp"

#include "columns/convert/cpu/convert_strings.hpp"
#include "columns/convert/cpu/convert_values.hpp"
#include "columns/convert/cpu/shapes.hpp"
#include "columns/convert/cpu/stored_texts.hpp"
#include "columns/convert/cpu/time_shapes.hpp"
#include "columns/convert/cpu/valid_utf8.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Classifies the fields of a column whose type is not inferred yet. All rows are null, and remain so if no field has a
// value. Text covers every kind, so nothing after it is classified.
ColumnCounts classify_column(const TileRows& rows, const ColumnJob& job) {
    const ColumnFields fields(rows, job.column);
    const FieldRules& rules = *job.rules;
    const AbsentFields absent_fields(rows, fields, rules);
    KindSet seen = 0;
    for (usize row = 0; row < rows.rows; ++row) job.string_ends[row] = 0;
    for (usize base = 0; base < rows.rows; base += BLOCK_ROWS) {
        const usize count = rows.rows - base < BLOCK_ROWS ? rows.rows - base : BLOCK_ROWS;
        const u64 all = ~u64{0} >> (BLOCK_ROWS - count);
        job.nulls[base / BLOCK_ROWS] = all;
        u64 unread = (seen & set_of(Kind::text)) ? 0 : all & ~absent_fields.find(base, count);
        for (; unread != 0; unread &= unread - 1) {
            const usize row = base + static_cast<usize>(trailing_zeros(unread));
            const u32 start = fields.start(row);
            const FieldBytes written = written_text(rows, rows.text + start, fields.end(row) - start);
            if (is_written_null(rules, written.text, written.size, written.quoted)) continue;
            const FieldBytes field = whole_text(rows, job, written);
            if (is_null(rules, field.text, field.size, field.quoted)) continue;
            const bool may_be_word = meaning_of(rules, field.text, field.size) != 0;  // "1" may be a word for true
            if (rules.usual_forms && !may_be_word && is_plainly_of(seen, field.text, field.size)) continue;
            const Kind kind = classify_field(job, field.text, field.size);
            seen |= set_of(kind);
            job.misfits.kind(job.misfits.context, row, static_cast<u8>(kind), start);
            if (kind == Kind::text) break;
        }
    }
    return {rows.rows, 0, 0};
}

template <class Offset>
ColumnCounts convert_text(const TileRows& rows, const ColumnJob& job) {
    const bool plain = job.raw || !rows.may_need_unquoting;
    return plain ? convert_strings<true>(rows, job) : convert_strings<false>(rows, job);
}

ColumnCounts convert(const TileRows& rows, const ColumnJob& job) {
    if (job.inferred && !has_type(static_cast<Kind>(job.guess))) return classify_column(rows, job);
    switch (job.type.id) {
#define HR_TYPE(id, name, bits, family, Value, ...) \
    case TypeId::id:                                \
        return {convert_##family<Value>(rows, job)};
#include "core/types.def"
    }
    return {};
}

usize field_text(const TileRows& rows, u32 start, u32 end, u8* to, bool& quoted) {
    const FieldBytes field = strip(*rows.dialect, rows.text + start, end - start);
    quoted = field.quoted;
    return copy_text(*rows.dialect, field, to);
}

}  // namespace

const ConvertKernels& convert_kernels() {
    static constexpr ConvertKernels kernels = {convert, field_text, is_valid_utf8, find_texts, put_views};
    return kernels;
}

HR_END_NAMESPACE
