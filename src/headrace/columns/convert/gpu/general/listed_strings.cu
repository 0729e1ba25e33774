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
constexpr u32 batch = 4;             // records whose ends and first bytes are loaded together
static_assert(group_rows % 32 == 0 && 32 % batch == 0);

// A thread's column, and its records [first, end).
struct ThreadRows {
    u32 number;
    u64 first, end;
    u64 sum;  // index of its sum of bytes
};

HR_FN ThreadRows rows_of_thread(u32 strings, u64 rows) {
    const u64 index = u64{blockIdx.x} * threads + threadIdx.x, group = index / strings;
    const u64 first = group * group_rows;
    return {static_cast<u32>(index - group * strings), first, min(rows, first + group_rows), index};
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

HR_FN ListedField field_at(const FieldTexts& text, u64 record, u32 position) {
    const u16* const own = text.ends + record * text.width + position;
    const u32 before = position == 0 ? 0u : own[-1] + 1u;
    return {text.begins[record] + before, own[0] - before};
}

// Loads up to eight bytes of the text; those after them are any.
HR_FN u64 load_bytes(const FieldTexts& text, u64 begin, u32 count) {
    const u8* const from = text.bytes + begin;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(from) % 8);
    if (count == 0) return 0;
    if (begin >= 8 && begin + 16 <= text.size) {
        const u64* const aligned = reinterpret_cast<const u64*>(from - skew);
        const u64 low = aligned[0];
        const u64 high = skew + count > 8 ? aligned[1] : 0;
        return skew == 0 ? low : low >> (8 * skew) | high << (64 - 8 * skew);
    }
    u64 result = 0;
    for (u32 i = 0; i < min(count, 8u); ++i) result |= u64{from[i]} << (8 * i);
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

// Returns whether a field is such a text. `first`: its first bytes, up to eight.
HR_FN bool is_null(const NullTexts& nulls, const FieldTexts& text, const ListedField& field, u64 first) {
    if (!may_be_null(nulls, field.n)) return false;
    if (field.n > 8) return is_one_of(nulls.rules->nulls, text.bytes + field.begin, field.n);
    return (meaning_of_word(nulls.rules->words, first, field.n) & NULL_WORD) != 0;
}

// Measures strings: sums[group * strings + column] is the number of bytes of a column in a group of records. If fields
// are not listed, column 0 has more bytes than any estimate allows.
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
#pragma unroll 4
    for (u64 record = own.first; record < end; ++record) {
        const ListedField field = field_at(text, record, column.position);
        sum += field.n;
        if (may_be_null(nulls, field.n) && is_null(nulls, text, field, load_bytes(text, field.begin, field.n))) {
            sum -= field.n;
        }
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

// Stores the offsets of `count` rows from `row` on.
HR_FN void store_offsets(const ConvertColumn& column, u64 row, u32 count, const u64 (&offsets)[batch]) {
    if (column.width == 4 && count == batch) {
        uint4* const to = reinterpret_cast<uint4*>(column.offsets) + row / batch;
        *tile::in_global(to) = {static_cast<u32>(offsets[0]), static_cast<u32>(offsets[1]),
                                static_cast<u32>(offsets[2]), static_cast<u32>(offsets[3])};
        return;
    }
#pragma unroll
    for (u32 k = 0; k < batch; ++k) {
        if (k < count) store_offset(column.offsets, column.width == 8, row + k, offsets[k]);
    }
}

// Converts a thread's strings. `offset`: of the first one.
template <bool has_nulls>
HR_FN void convert_strings(const FieldTexts& text, const ConvertColumn& column, const ThreadRows& own, u64 offset) {
    const u32 position = column.position;
    const bool keeps_empty = !(column.flags & CONVERT_EMPTY_IS_NULL);
    ByteStream stream = ByteStream::at(column.values + offset);
    u32 present = 0;
#pragma unroll 1
    for (u64 row = own.first; row < own.end; row += batch) {
        const u32 count = static_cast<u32>(min(own.end - row, u64{batch}));
        ListedField fields[batch];
        u64 first[batch], offsets[batch];
#pragma unroll
        for (u32 k = 0; k < batch; ++k) {
            fields[k] = k < count ? field_at(text, row + k, position) : ListedField{0, 0};
        }
#pragma unroll
        for (u32 k = 0; k < batch; ++k) first[k] = load_bytes(text, fields[k].begin, fields[k].n);
#pragma unroll
        for (u32 k = 0; k < batch; ++k) {
            const auto [begin, n] = fields[k];
            offsets[k] = offset;
            if (k >= count || (n == 0 && !keeps_empty)) continue;
            if (has_nulls && n != 0 && is_null(null_texts(column), text, fields[k], first[k])) continue;
            present |= 1u << (row + k) % 32;
            if (n != 0) stream.append(first[k], min(n, 8u));
            for (u32 done = 8; done < n; done += 8) {
                stream.append(load_bytes(text, begin + done, n - done), min(n - done, 8u));
            }
            offset += n;
        }
        store_offsets(column, row, count, offsets);
        if ((row + batch) % 32 != 0 && row + batch < own.end) continue;
        *tile::in_global(column.validity + row / 32) = present;
        present = 0;
    }
    store_offset(column.offsets, column.width == 8, own.end, offset);
    stream.store();
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
