// Converts texts of many columns, all strings, whose fields list_fields (convert.cu) has listed. A tile of few records
// has few bytes of each column, so that its stores would be short. Here a block takes 64 records of up to 64 columns.
// It stages their ends and their text. Then a warp takes a column, and a lane two adjacent records. So offsets and
// bytes of a column are stored as whole sectors.
//
// Bytes moved: the text, the list of ends twice, and the result once.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/size_estimate.hpp"
#include "columns/convert/gpu/text_bits.cuh"
#include "columns/rules/special_words.hpp"
#include "columns/rules/word_table.hpp"
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 group_rows = 64;  // records of a group
static_assert(group_rows == 2 * tile::lanes);

// A text, and the list of its fields (ListedFields of convert.cu).
struct FieldTexts {
    const u8* bytes;
    u64 size;
    const u16* ends;
    const u64* begins;
    u32 width;  // fields of a record
};

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
HR_COLD bool is_null(const NullTexts& nulls, const u8* field, u32 n) {
    if (n > 8) return is_one_of(nulls.rules->nulls, field, n);
    u64 word = 0;
#pragma unroll
    for (u32 i = 0; i < 8; ++i) word |= i < n ? u64{field[i]} << (8 * i) : 0;
    return (meaning_of_word(nulls.rules->words, word, n) & NULL_WORD) != 0;
}

constexpr u64 UNLISTED_BYTES = u64{1} << 40;

// Measures strings: sums[group * strings + column] is the number of bytes of a column in a group of records. If fields
// are not listed, column 0 has UNLISTED_BYTES, more than any estimate allows.
extern "C" __global__ void __launch_bounds__(threads)
    measure_listed(const u8* bytes, u64 size, const u16* __restrict__ ends, const u64* __restrict__ begins,
                   const ConvertColumn* __restrict__ columns, const FindTotals* totals, const u32* declined, u64* sums,
                   u64 groups, u32 width, u32 strings) {
    const u32 index = blockIdx.x * threads + threadIdx.x, group = index / strings;
    if (group >= groups) return;
    const bool is_listed = tile::load_relaxed(declined) == 0;
    const u64 end = is_listed ? min(totals->records, u64{group + 1} * group_rows) : 0;
    const ConvertColumn& column = columns[index - group * strings];
    const u32 position = column.position;
    const NullTexts nulls = null_texts(column);
    const u64 first_record = u64{group} * group_rows;
    const u32 records = end > first_record ? static_cast<u32>(end - first_record) : 0;
    const u16* const own = ends + first_record * width + position;
    const u16* const before = position == 0 ? own : own - 1;
    u32 sum_of_ends = 0, sum_before = 0;
#pragma unroll 16
    for (u32 k = 0; k < records; ++k) {
        sum_of_ends += own[u64{k} * width];
        sum_before += before[u64{k} * width];
    }
    u64 sum = is_listed ? sum_of_ends - (position == 0 ? 0 : sum_before + records) : UNLISTED_BYTES;
    // In the first loop a call would delay the loads after it.
    for (u32 k = 0; k < (nulls.sizes != 0 ? records : 0); ++k) {
        const u32 first = position == 0 ? 0 : before[u64{k} * width] + 1u, n = own[u64{k} * width] - first;
        if (may_be_null(nulls, n) && is_null(nulls, bytes + begins[first_record + k] + first, n)) sum -= n;
    }
    sums[index] = sum;
}

constexpr u32 warps = threads / tile::lanes;
constexpr u32 strip_fields = 64;  // at most
// Entries of a record: the end before the strip, and those of its fields. An odd number of words, so that lanes with
// neighbouring records read other banks.
constexpr u32 record_ends = strip_fields + 2;
constexpr u32 text_pieces = 2048;  // of 16 bytes: the staged text
constexpr u32 packed_bytes = 768;  // of a warp: bytes of a column

struct StripMemory {
    uint4 text[text_pieces];
    u32 packed[warps][packed_bytes / 4];
    u16 ends[group_rows * record_ends];
};

// Fields [first, end) of records.
struct Strip {
    u32 first, end;
    u64 first_record;
    u32 records;
    bool is_last;  // no record follows
};

// The begins of a lane's two records.
struct StripTexts {
    const u8* begins[2];
};

// Copies the ends of a strip's fields to shared memory, a record a warp. Entry k of a record is where column k - 1
// ends, 0xFFFF for none. No field follows one that ends at 0xFFFF, since list_fields declines longer records.
HR_FN void stage_ends(StripMemory& memory, const FieldTexts& text, const Strip& strip) {
    constexpr u32 steps = (record_ends + tile::lanes - 1) / tile::lanes, together = 4;
    const u32 records = strip.records, count = strip.end - strip.first + 1;
    const u16* from = text.ends + (strip.first_record + tile::warp()) * text.width + strip.first - 1 + tile::lane();
    const bool begins_record = strip.first == 0 && tile::lane() == 0;  // no end precedes it
#pragma unroll 1
    for (u32 first = tile::warp(); first < records; first += together * warps) {
        u16 ends[together][steps];
#pragma unroll
        for (u32 k = 0; k < together; ++k, from += u64{warps} * text.width) {
#pragma unroll
            for (u32 i = 0; i < steps; ++i) {
                const bool is_end = first + k * warps < records && i * tile::lanes + tile::lane() < count;
                ends[k][i] = is_end && !(i == 0 && begins_record) ? from[i * tile::lanes] : u16{0xFFFF};
            }
        }
#pragma unroll
        for (u32 k = 0; k < together; ++k) {
#pragma unroll
            for (u32 i = 0; i < steps; ++i) {
                const u32 at = i * tile::lanes + tile::lane();
                if (at < count) memory.ends[(first + k * warps) * record_ends + at] = ends[k][i];
            }
        }
    }
}

// Copies a strip's text to shared memory. A record that has no place there, or lies at the text's edge, is read from
// the text.
HR_FN StripTexts stage_text(StripMemory& memory, const FieldTexts& text, const Strip& strip) {
    StripTexts texts{};
    const u64 text_begin = reinterpret_cast<u64>(text.bytes), text_end = text_begin + text.size;
    u32 used = 0;  // pieces
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
        const u32 r = 2 * tile::lane() + half;
        const bool is_record = r < strip.records;
        const u64 record = is_record ? text_begin + text.begins[strip.first_record + r] : text_begin;
        const u16* const ends = memory.ends + r * record_ends;
        const u64 begin = record + (is_record ? (ends[0] + 1u) % 0x10000 : 0);
        const u64 first = begin / 16 * 16, last = is_record ? record + ends[strip.end - strip.first] : begin;
        const u32 wanted = last == begin ? 0 : static_cast<u32>((last + 15 - first) / 16);
        const u32 inclusive = tile::scan_warp<Sum<u32>>(wanted), place = used + inclusive - wanted;
        const bool is_staged =
            inclusive + used <= text_pieces && first >= text_begin && first + 16 * u64{wanted} <= text_end;
        const u32 pieces = is_staged ? wanted : 0;
        used += tile::shuffle(inclusive, tile::lanes - 1);
        uint4* const to = memory.text + place;
        texts.begins[half] =
            pieces != 0 ? reinterpret_cast<const u8*>(to) - first + record : reinterpret_cast<const u8*>(record);
#pragma unroll 1
        for (u32 i = 0; i < tile::lanes / warps; ++i) {
            const u32 source = i * warps + tile::warp(), count = tile::shuffle(pieces, source);
            const u32 at = tile::shuffle(place, source);
            const uint4* const from = reinterpret_cast<const uint4*>(tile::shuffle(first, source));
#pragma unroll 1
            for (u32 k = tile::lane(); k < count; k += tile::lanes) tile::copy_async(memory.text + at + k, from + k);
        }
    }
    return texts;
}

// Copies a lane's bytes. Four loads precede their stores.
HR_FN void copy_field(u8* to, const u8* from, u32 n) {
#pragma unroll 1
    for (u32 i = 0; i < n; i += 4) {
        u8 bytes[4];
#pragma unroll
        for (u32 k = 0; k < 4; ++k) bytes[k] = i + k < n ? from[i + k] : u8{0};
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            if (i + k < n) to[i + k] = bytes[k];
        }
    }
}

// A lane's two strings of a column: where their texts begin, their bytes, and the bytes of the column before them.
struct StringPair {
    const u8* from[2];
    u32 sizes[2], places[2];
};

// Copies a warp's strings to `to`, one after the other. `total`: their bytes.
HR_FN void copy_strings(StripMemory& memory, const StringPair& own, u8* to, u32 total) {
    constexpr u32 window = packed_bytes - 4;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) % 4);
    u8* const packed = reinterpret_cast<u8*>(memory.packed[tile::warp()]);
#pragma unroll 1
    for (u32 begin = 0; begin < total; begin += window) {
        const u32 end = min(total, begin + window);
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            const u32 place = own.places[half], first = max(place, begin), last = min(place + own.sizes[half], end);
            if (first < last) copy_field(packed + skew + first - begin, own.from[half] + first - place, last - first);
        }
        __syncwarp();
        put_stream(packed, to - skew + begin, skew, skew + end - begin);
        __syncwarp();  // the next bytes are packed over these
    }
}

// Stores which of the strip's records have a value, a word a lane. `present`: bit k of the first word is
// that of record 2 k, of the second that of 2 k + 1.
HR_FN void put_present(u32* validity, const Strip& strip, const u32 (&present)[2]) {
    const u32 own = (tile::lane() % 2 == 0 ? present[0] : present[1]) >> (tile::lane() / 2);
    const u32 first = __ballot_sync(tile::all_lanes, (own & 1) != 0);
    const u32 second = __ballot_sync(tile::all_lanes, (own >> (tile::lanes / 2) & 1) != 0);
    if (tile::lane() * tile::lanes >= strip.records) return;
    *tile::in_global(validity + strip.first_record / 32 + tile::lane()) = tile::lane() == 0 ? first : second;
}

// Converts a warp's column of a strip. `offset`: of the first string.
HR_FN void convert_column(StripMemory& memory, const ConvertColumn& column, const Strip& strip, const StripTexts& texts,
                          u64 offset) {
    const bool keeps_empty = !(column.flags & CONVERT_EMPTY_IS_NULL), is_long = column.width == 8;
    const NullTexts nulls = null_texts(column);
    StringPair own;
    u32 present[2];
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
        const u32 r = 2 * tile::lane() + half;
        const bool is_record = r < strip.records;
        const u16* const ends = memory.ends + r * record_ends + (column.position - strip.first);
        const u32 first = is_record ? (ends[0] + 1u) % 0x10000 : 0, n = is_record ? ends[1] - first : 0;
        own.from[half] = texts.begins[half] + first;
        const bool is_null_text = n != 0 && may_be_null(nulls, n) && is_null(nulls, own.from[half], n);
        const bool is_value = is_record && (n != 0 || keeps_empty) && !is_null_text;
        present[half] = __ballot_sync(tile::all_lanes, is_value);
        own.sizes[half] = is_value ? n : 0;
    }
    const u32 until = tile::scan_warp<Sum<u32>>(own.sizes[0] + own.sizes[1]);
    const u32 total = tile::shuffle(until, tile::lanes - 1);
    own.places[1] = until - own.sizes[1];
    own.places[0] = own.places[1] - own.sizes[0];
    const u64 record = strip.first_record + 2 * tile::lane();
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
        if (2 * tile::lane() + half < strip.records)
            store_offset(column.offsets, is_long, record + half, offset + own.places[half]);
    }
    if (strip.is_last && tile::lane() == 0)
        store_offset(column.offsets, is_long, strip.first_record + strip.records, offset + total);
    put_present(column.validity, strip, present);
    copy_strings(memory, own, column.values + offset, total);
}

// Returns the number of columns, from the first one on, within `fields` consecutive fields. It is at least one.
HR_FN u32 columns_within(const ConvertColumn* columns, u32 count, u32 fields) {
    u32 low = 1, high = count;
    while (low < high) {
        const u32 middle = (low + high + 1) / 2;
        const bool fits = columns[middle - 1].position - columns[0].position < fields;
        (fits ? low : high) = fits ? middle : middle - 1;
    }
    return low;
}

// Converts listed strings, with a block for each group and up to `strip_fields` columns. `sums`: those of
// measure_listed, scanned over the groups for each column. `validated_rows`: as validate_estimate publishes them.
// If the columns' text is too long for shared memory, or they lie apart, they are read in strips.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    convert_listed(const u8* bytes, u64 size, const u16* __restrict__ ends, const u64* __restrict__ begins,
                   const ConvertColumn* __restrict__ columns, const u64* __restrict__ sums, const u64* validated_rows,
                   u32 width, u32 strings, u32 parts) {
    __shared__ StripMemory memory;
    const u32 group = blockIdx.x / parts, wanted = (strings + parts - 1) / parts;
    const u32 begin = (blockIdx.x - group * parts) * wanted, end = min(strings, begin + wanted);
    const u64 rows = is_mispredicted(validated_rows) ? 0 : *validated_rows, first = u64{group} * group_rows;
    if (first >= rows) return;
    const FieldTexts text{bytes, size, ends, begins, width};
    const u64 last = min(rows, first + group_rows);
    // The average of a field in the group. Each record may have one piece more, at its edges.
    const u64 field_pieces = (begins[last] - begins[first]) / 16 / width + 1;
    const u32 most = static_cast<u32>(min(u64{strip_fields}, (text_pieces - group_rows) / field_pieces));
    const u32 fitting = most < warps ? most : most / warps * warps;
    for (u32 at = begin, count; at < end; at += count) {
        count = columns_within(columns + at, end - at, fitting);
        const Strip strip{columns[at].position, columns[at + count - 1].position + 1, first,
                          static_cast<u32>(last - first), last == rows};
        stage_ends(memory, text, strip);
        __syncthreads();
        const StripTexts texts = stage_text(memory, text, strip);
        tile::wait_for_copies();
        __syncthreads();
#pragma unroll 1
        for (u32 number = at + tile::warp(); number < at + count; number += warps) {
            const ConvertColumn& column = columns[number];
            const u64 offset = sums[u64{group} * strings + number];
            convert_column(memory, column, strip, texts, offset);
        }
        __syncthreads();  // the next strip is staged over this one
    }
}
