// Converts texts of many columns, all strings, whose fields list_fields (convert.cu) has listed. A tile of few records
// has few bytes of each column, so that its stores would be short. Here a thread takes a column of 64 records. It
// collects its bytes, and stores 16 at a time. Neighbouring threads read neighbouring fields.
//
// Bytes moved: the text, the list of ends twice, and the result once.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/size_estimate.hpp"
#include "columns/convert/gpu/text_bits.cuh"
#include "columns/rules/special_words.hpp"
#include "columns/rules/word_table.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 group_rows = HR_ROWS;  // records of a column that a thread converts
static_assert(group_rows % 32 == 0);

// A thread's column, and its records [first, end).
struct ThreadRows {
    u32 number;
    u64 first, end;
    u32 sum;  // index of its sum of bytes
};

HR_FN ThreadRows rows_of_thread(u32 strings, u64 rows) {
    const u32 index = blockIdx.x * threads + threadIdx.x, group = index / strings;
    const u64 first = u64{group} * group_rows;
    return {index - group * strings, first, min(rows, first + group_rows), index};
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

// Measures strings: sums[group * strings + column] is the number of bytes of a column in a group of records. If fields
// are not listed, column 0 has UNLISTED_BYTES (listed_strings.py), more than any estimate allows.
extern "C" __global__ void __launch_bounds__(threads)
    measure_listed(const u8* bytes, u64 size, const u16* __restrict__ ends, const u64* __restrict__ begins,
                   const ConvertColumn* __restrict__ columns, const FindTotals* totals, const u32* declined, u64* sums,
                   u64 groups, u32 width, u32 strings) {
    const ThreadRows own = rows_of_thread(strings, groups * group_rows);
    if (own.first >= own.end) return;
    const bool is_listed = tile::load_relaxed(declined) == 0;
    const u64 end = is_listed ? min(own.end, totals->records) : 0;
    const FieldTexts text{bytes, size, ends, begins, width};
    const ConvertColumn& column = columns[own.number];
    const NullTexts nulls = null_texts(column);
    u64 sum = is_listed ? 0 : u64{1} << 40;
    const bool is_first = column.position == 0;
#pragma unroll 8
    for (u64 record = own.first; record < end; ++record) {
        const ListedField field = load_field(text, record, column.position).bounds(is_first);
        sum += field.n;
        if (may_be_null(nulls, field.n) && is_null(nulls, text, field)) sum -= field.n;
    }
    sums[own.sum] = sum;
}

// Stores consecutive bytes by aligned vectors of 16.
struct ByteStream {
    u8* to;         // of the vector, aligned
    u64 low, high;  // its bytes
    u32 count;      // their number
    u32 others;     // how many of these precede the stream

    HR_MEMBER static ByteStream at(u8* to) {
        const u32 others = static_cast<u32>(reinterpret_cast<u64>(to) % 16);
        return {to - others, 0, 0, others, others};
    }
    // Appends the lowest bytes of a word, 1 to 8.
    HR_MEMBER void append(u64 bytes, u32 size) {
        bytes &= ~u64{0} >> (64 - 8 * size);
        const u32 shift = 8 * count % 64;
        const u64 carried = shift == 0 ? 0 : bytes >> (64 - shift);
        low |= count < 8 ? bytes << shift : 0;
        high |= count < 8 ? carried : bytes << shift;
        count += size;
        if (count < 16) return;
        const u32 more = count - 16;
        count = 16;
        store();
        *this = {to + 16, more == 0 ? 0 : bytes >> (8 * (size - more)), 0, more, 0};
    }
    // Stores the bytes of the vector that belong to the stream.
    HR_MEMBER void store() const {
        if (count - others == 16) {
            *tile::in_global(reinterpret_cast<uint4*>(to)) = {static_cast<u32>(low), static_cast<u32>(low >> 32),
                                                              static_cast<u32>(high), static_cast<u32>(high >> 32)};
            return;
        }
#pragma unroll 1
        for (u32 at = others; at < count;) {
            const u64 rest = (at < 8 ? low : high) >> (8 * at % 64);
            if (at % 8 == 0 && at + 8 <= count) {
                at = store_part<u64>(at, rest);
            } else if (at % 4 == 0 && at + 4 <= count) {
                at = store_part<u32>(at, rest);
            } else {
                at = store_part<u8>(at, rest);
            }
        }
    }
    template <typename Part>
    HR_MEMBER u32 store_part(u32 at, u64 bytes) const {
        *tile::in_global(reinterpret_cast<Part*>(to + at)) = static_cast<Part>(bytes);
        return at + static_cast<u32>(sizeof(Part));
    }
};

// Stores consecutive offsets, four of 4 bytes at a time. The first one's index is a multiple of four.
struct OffsetVector {
    u8* to;  // of the next offset
    u32 before[3];
    bool is_long;

    HR_MEMBER void append(u64 row, u64 value) {
        if (is_long) {
            *tile::in_global(reinterpret_cast<u64*>(to) + row) = value;
            return;
        }
        const u32 own = static_cast<u32>(value);
        if (row % 4 == 3) {
            *tile::in_global(reinterpret_cast<uint4*>(to) + row / 4) = {before[0], before[1], before[2], own};
        }
        before[0] = before[1];
        before[1] = before[2];
        before[2] = own;
    }
    // Stores the last offset, of index `row`, and those before it that share its vector.
    HR_MEMBER void end(u64 row, u64 value) const {
        store_offset(to, is_long, row, value);
        const u32 held = is_long ? 0 : row % 4;
#pragma unroll
        for (u32 k = 1; k <= 3; ++k) {
            if (k <= held) store_offset(to, false, row - k, before[3 - k]);
        }
    }
};

// Collects the strings of a thread: bytes, offsets and bits of validity.
struct StringWriter {
    ByteStream stream;
    OffsetVector offsets;
    u32* validity;
    u64 offset;   // of the next string
    u32 present;  // bits of the current 32 rows

    HR_MEMBER StringWriter(const ConvertColumn& column, u64 first)
        : stream(ByteStream::at(column.values + first)),
          offsets{column.offsets, {}, column.width == 8},
          validity(column.validity),
          offset(first),
          present(0) {}

    // Appends a row with the first `n` bytes of a field. `start`: words with the first of them.
    HR_MEMBER void append(u64 row, const FieldTexts& text, const ListedField& field, FieldStart start, bool is_value) {
        const u32 n = is_value ? field.n : 0;
        present |= is_value ? 1u << row % 32 : 0;
        offsets.append(row, offset);
#pragma unroll 1
        for (u32 done = 0; done < n; done += 8) {
            const u64 begin = field.begin + done;
            if (done != 0) start = load_start(text, begin, n - done);
            stream.append(bytes_of(text, start, begin, n - done), min(n - done, 8u));
        }
        offset += n;
        if (row % 32 == 31) store_validity(row);
    }
    HR_MEMBER void store_validity(u64 row) {
        *tile::in_global(validity + row / 32) = present;
        present = 0;
    }
    // Stores what is left. `end`: the number of rows before it and of them.
    HR_MEMBER void end(u64 end) {
        if (end % 32 != 0) store_validity(end);
        offsets.end(end, offset);
        stream.store();
    }
};

// Converts a thread's strings. `offset`: of the first one. Of several records at once, the first bytes of the fields
// are loaded, and the ends of those that come next. So a thread waits once for all of them.
template <bool has_nulls>
HR_FN void convert_strings(const FieldTexts& text, const ConvertColumn& column, const ThreadRows& own, u64 offset) {
    constexpr u32 together = 4;
    const u32 position = column.position;
    const bool is_first = position == 0, keeps_empty = !(column.flags & CONVERT_EMPTY_IS_NULL);
    StringWriter writer(column, offset);
    FieldWords words[together];
    const auto load = [&](u64 first) {
#pragma unroll
        for (u32 i = 0; i < together; ++i) words[i] = load_field(text, min(first + i, own.end - 1), position);
    };
    load(own.first);
#pragma unroll 1
    for (u64 row = own.first; row < own.end; row += together) {
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
            if (row + i >= own.end) break;
            const ListedField& field = fields[i];
            const bool is_value = field.n == 0 ? keeps_empty : !has_nulls || !is_null(null_texts(column), text, field);
            writer.append(row + i, text, field, starts[i], is_value);
        }
    }
    writer.end(own.end);
}

// Converts listed strings. `sums`: those of measure_listed, scanned over the groups for each column. `validated_rows`:
// as validate_estimate publishes them.
extern "C" __global__ void __launch_bounds__(threads)
    convert_listed(const u8* bytes, u64 size, const u16* __restrict__ ends, const u64* __restrict__ begins,
                   const ConvertColumn* __restrict__ columns, const u64* __restrict__ sums, const u64* validated_rows,
                   u32 width, u32 strings) {
    const ThreadRows own = rows_of_thread(strings, is_mispredicted(validated_rows) ? 0 : *validated_rows);
    if (own.first >= own.end) return;
    const FieldTexts text{bytes, size, ends, begins, width};
    const ConvertColumn& column = columns[own.number];
    if (column.flags & CONVERT_NULL_WORDS) {
        convert_strings<true>(text, column, own, sums[own.sum]);
    } else {
        convert_strings<false>(text, column, own, sums[own.sum]);
    }
}
