// Converts texts of many columns, all strings, whose fields list_fields (convert.cu) has listed. A tile of few records
// has few bytes of each column, so that its stores would be short. Here a thread takes a column of many records, and
// its warp stores what its threads have collected. Neighbouring threads read neighbouring fields.
//
// Bytes moved: the text, the list of ends twice, and the result once.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/size_estimate.hpp"
#include "columns/convert/gpu/staged_columns.cuh"
#include "columns/convert/gpu/text_bits.cuh"
#include "columns/rules/special_words.hpp"
#include "columns/rules/word_table.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 group_rows = HR_ROWS;  // records of a column that a thread converts
static_assert(group_rows % staged_rows == 0 && threads % tile::lanes == 0);

// A thread's column, and its records [first, end); none if `end` is 0.
struct ThreadRows {
    u32 number;
    u64 first, end;
    u32 sum;       // index of its sum of bytes
    bool is_last;  // no records follow

    HR_MEMBER bool is_empty() const { return end == 0; }
};

HR_FN ThreadRows rows_of_thread(u32 strings, u64 rows) {
    const u32 index = blockIdx.x * threads + threadIdx.x, group = index / strings;
    const u64 first = u64{group} * group_rows;
    const u64 end = first < rows ? min(rows, first + group_rows) : 0;
    return {index - group * strings, first, end, index, end == rows};
}

// A text, and the list of its fields (ListedFields of convert.cu).
struct FieldTexts {
    const u8* bytes;
    u64 size;
    const u16* ends;
    const u64* begins;
    u32 width;  // fields of a record
};

struct ListedField {
    u64 begin;
    u32 n;
};

// Words from which the bounds of a field follow. They are computed later, so that no thread waits for the words before.
struct FieldWords {
    u64 record_begin;
    u32 before, end;  // the end of the field before it, and its own

    HR_MEMBER ListedField bounds(bool is_first) const {
        const u32 first = is_first ? 0 : before + 1;
        return {record_begin + first, end - first};
    }
};

HR_FN FieldWords load_field(const FieldTexts& text, u64 record, u32 position) {
    const u16* const own = text.ends + record * text.width + position;
    return {text.begins[record], own[position == 0 ? 0 : -1], own[0]};
}

// Words with the first bytes of a field.
struct FieldStart {
    u64 low, high;
};

// Returns whether the words of a field are loaded; bytes at the edges of the text are loaded one by one.
HR_FN bool has_words(const FieldTexts& text, u64 begin) { return begin >= 8 && begin + 16 <= text.size; }

HR_FN FieldStart load_start(const FieldTexts& text, u64 begin, u32 n) {
    const u8* const from = text.bytes + begin;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(from) % 8);
    const u64* const words = reinterpret_cast<const u64*>(from - skew);
    const bool loads = n != 0 && has_words(text, begin);
    return {loads ? words[0] : 0, loads && skew + n > 8 ? words[1] : 0};
}

// Returns up to eight bytes of the text; those after them are any.
HR_FN u64 bytes_of(const FieldTexts& text, const FieldStart& words, u64 begin, u32 n) {
    const u8* const from = text.bytes + begin;
    if (has_words(text, begin)) {
        const u32 shift = static_cast<u32>(8 * (reinterpret_cast<u64>(from) % 8));
        return words.low >> shift | words.high << 1 << (63 - shift);
    }
    u64 result = 0;
#pragma unroll 1
    for (u32 i = 0; i < min(n, 8u); ++i) result |= u64{from[i]} << (8 * i);
    return result;
}

// Texts of a column that mean null, beside the empty one.
struct NullTexts {
    const FieldRules* rules;
    u64 sizes;  // bit n: one of them has n bytes; bit 63: 63 bytes or more
};

HR_FN NullTexts null_texts(const ConvertColumn& column) {
    return {column.rules, column.flags & CONVERT_NULL_WORDS ? column.rules->words.null_sizes & ~u64{1} : 0};
}

HR_FN bool may_be_null(const NullTexts& nulls, u32 n) { return (nulls.sizes >> min(n, 63u) & 1) != 0; }

// Returns whether a field is such a text.
HR_COLD bool is_null(const NullTexts& nulls, const FieldTexts& text, const ListedField& field) {
    const auto [begin, n] = field;
    if (!may_be_null(nulls, n)) return false;
    if (n > 8) return is_one_of(nulls.rules->nulls, text.bytes + begin, n);
    return (meaning_of_word(nulls.rules->words, bytes_of(text, load_start(text, begin, n), begin, n), n) & NULL_WORD) !=
           0;
}

// Bytes of column 0 if fields are not listed: more than any estimate allows.
constexpr u64 UNLISTED_BYTES = u64{1} << 40;

// Measures strings: sums[group * strings + column] is the number of bytes of a column in a group of records.
extern "C" __global__ void __launch_bounds__(threads)
    measure_listed(const u8* bytes, u64 size, const u16* __restrict__ ends, const u64* __restrict__ begins,
                   const ConvertColumn* __restrict__ columns, const FindTotals* totals, const u32* declined, u64* sums,
                   u64 groups, u32 width, u32 strings) {
    const ThreadRows own = rows_of_thread(strings, groups * group_rows);
    if (own.is_empty()) return;
    const bool is_listed = tile::load_relaxed(declined) == 0;
    const u64 end = is_listed ? min(own.end, totals->records) : 0;
    const FieldTexts text{bytes, size, ends, begins, width};
    const ConvertColumn& column = columns[own.number];
    const NullTexts nulls = null_texts(column);
    u64 sum = is_listed ? 0 : UNLISTED_BYTES;
    const bool is_first = column.position == 0;
#pragma unroll 8
    for (u64 record = own.first; record < end; ++record) {
        const ListedField field = load_field(text, record, column.position).bounds(is_first);
        sum += field.n;
        if (may_be_null(nulls, field.n) && is_null(nulls, text, field)) sum -= field.n;
    }
    sums[own.sum] = sum;
}

// Collects the strings of a thread: bytes, offsets and bits of validity.
struct StringWriter {
    ByteStream stream;
    uint4* vectors;  // where the thread's vectors and offsets are staged
    u32* staged_offsets;
    u64 offset;   // of the next string
    u32 present;  // bits of the rows since the last ones were stored

    // Appends a row with a field's bytes. `start`: words with the first of them.
    HR_MEMBER void append(u64 row, const FieldTexts& text, const ListedField& field, FieldStart start, bool is_value) {
        const u32 n = is_value ? field.n : 0;
        present |= is_value ? 1u << row % 32 : 0;
        staged_offsets[row % staged_rows] = static_cast<u32>(offset);
#pragma unroll 1
        for (u32 done = 0; done < n; done += 8) {
            const u64 begin = field.begin + done;
            if (done != 0) start = load_start(text, begin, n - done);
            stream.append(bytes_of(text, start, begin, n - done), min(n - done, 8u), vectors);
        }
        offset += n;
    }
};

// Converts up to 32 of a thread's strings, from `first` on. Of several records at once, the first bytes of the fields
// are loaded, and then the ends of those that come next. So a thread waits once for all of them.
template <bool has_nulls>
HR_FN void convert_rows_of(const FieldTexts& text, const ConvertColumn& column, const ThreadRows& own, u64 first,
                           StringWriter& writer) {
    constexpr u32 together = 4;
    const u32 position = column.position;
    const bool is_first = position == 0, keeps_empty = !(column.flags & CONVERT_EMPTY_IS_NULL);
    const bool is_long = column.width == 8;
    const u64 end = min(own.end, first + staged_rows);
    FieldWords words[together];
    const auto load = [&](u64 row) {
#pragma unroll
        for (u32 i = 0; i < together; ++i) words[i] = load_field(text, min(row + i, end - 1), position);
    };
    load(first);
#pragma unroll 1
    for (u64 row = first; row < end; row += together) {
        ListedField fields[together];
        FieldStart starts[together];
#pragma unroll
        for (u32 i = 0; i < together; ++i) {
            fields[i] = words[i].bounds(is_first);
            starts[i] = load_start(text, fields[i].begin, fields[i].n);
        }
        load(row + together);
#pragma unroll
        for (u32 i = 0; i < together; ++i) {
            if (row + i >= end) break;
            const ListedField& field = fields[i];
            const bool is_value = field.n == 0 ? keeps_empty : !has_nulls || !is_null(null_texts(column), text, field);
            if (is_long) store_offset(column.offsets, true, row + i, writer.offset);
            writer.append(row + i, text, field, starts[i], is_value);
        }
    }
}

// Converts a thread's strings. `offset`: of the first one. `rows`: records of the text.
template <bool has_nulls>
HR_FN void convert_strings(const FieldTexts& text, const ConvertColumn& column, const ThreadRows& own, u64 offset,
                           StagedColumns& staged) {
    const u32 lane = tile::lane();
    const bool is_long = column.width == 8;
    StringWriter writer{ByteStream::at(column.values + offset), staged.vectors[lane], staged.offsets[lane], offset, 0};
#pragma unroll 1
    for (u64 first = own.first; first < own.first + group_rows; first += staged_rows) {
        u32 rows = 0;
        if (first < own.end) {
            convert_rows_of<has_nulls>(text, column, own, first, writer);
            rows = static_cast<u32>(min(own.end - first, u64{staged_rows}));
            *tile::in_global(column.validity + first / 32) = writer.present;
            writer.present = 0;
        }
        u32* const offsets = is_long ? nullptr : reinterpret_cast<u32*>(column.offsets) + first;
        store_staged(staged, offsets, rows, writer.stream);
    }
    if (own.is_empty()) return;
    if (own.is_last) store_offset(column.offsets, is_long, own.end, writer.offset);
    writer.stream.store_own();
}

// Converts listed strings. `sums`: those of measure_listed, scanned over the groups for each column. `validated_rows`:
// as validate_estimate publishes them.
extern "C" __global__ void __launch_bounds__(threads)
    convert_listed(const u8* bytes, u64 size, const u16* __restrict__ ends, const u64* __restrict__ begins,
                   const ConvertColumn* __restrict__ columns, const u64* __restrict__ sums, const u64* validated_rows,
                   u32 width, u32 strings) {
    __shared__ StagedColumns staged[threads / tile::lanes];
    const u64 rows = is_mispredicted(validated_rows) ? 0 : *validated_rows;
    if (rows == 0) return;
    const ThreadRows own = rows_of_thread(strings, rows);
    const FieldTexts text{bytes, size, ends, begins, width};
    const ConvertColumn& column = columns[own.number];
    const u64 offset = own.is_empty() ? 0 : sums[own.sum];
    // Threads of a warp store together, so all of them take one way.
    if (__any_sync(tile::all_lanes, column.flags & CONVERT_NULL_WORDS)) {
        convert_strings<true>(text, column, own, offset, staged[tile::warp()]);
    } else {
        convert_strings<false>(text, column, own, offset, staged[tile::warp()]);
    }
}
