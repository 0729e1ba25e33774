// How many bytes a tile has of each column of strings, without quotes that enclose: what the conversion will copy from
// it. The ends of the tile's fields are listed in shared memory in their order, each by how many bytes go before it
// that are no quotes and no line ends left out; so a field's bytes are a difference of two neighbours, also where it
// began in a tile before or ends in one behind.
//
// Cost: a scan a row of 512 bytes, a store for each field; where every record has the same number of fields, two loads
// for each string. Else the column of each field is told from the last record's end before it.
#pragma once
#include "core/tile/block.cuh"
#include "structure/tile_text.cuh"

namespace headrace {
namespace structure {

// Columns of strings, ascending, among all columns.
struct StringColumns {
    const u32* column;
    u32 strings;
    u32 columns;
    u32 stride;  // between the sums of two columns
};

constexpr u16 ends_record = 0x8000;

// 16 bytes of a lane: separators and, from bit 16 on, record ends; and bytes that no string has.
struct Marks {
    u32 ends;
    u32 dropped;
};

template <u32 capacity, u32 threads>
struct EndList {
    u16 end[capacity];
    u32 totals[threads / tile::lanes];
    u32 irregular;

    __device__ __forceinline__ u32 kept(u32 at) const { return end[at] & (ends_record - 1); }
    // Bytes of field `at`; the first one begins behind `before` bytes.
    __device__ __forceinline__ u32 bytes(u32 at, u32 before) const {
        return kept(at) - (at == 0 ? before : kept(at - 1) + 1);
    }
    // By one warp: column of the field that end `at` ends; that of the list's first is `column`.
    __device__ __forceinline__ u32 column_of(u32 at, u32 column) const {
        for (u32 behind = at; behind > 0; behind = behind > tile::lanes ? behind - tile::lanes : 0) {
            const bool is_record = tile::lane() < behind && (end[behind - 1 - tile::lane()] & ends_record) != 0;
            const u32 found = __ballot_sync(tile::all_lanes, is_record);
            if (found != 0) return at - behind + static_cast<u32>(__ffs(static_cast<i32>(found))) - 1;
        }
        return column + at;
    }
};

// What is known of a tile once it has looked back.
struct StringTile {
    u32 ends_before;  // of the tile's ends, those of the warps before
    u32 ends, records;
    u32 column;  // of the field that is open at its first byte
    u32 bytes;   // of a whole tile; those that are not the text's are dropped
    u64* sums;   // its own of the first column of strings
};

// Lists the ends from number `base` on, as many as there is room for. `dropped_before`: of the warps before.
template <u32 rows, u32 capacity, u32 threads>
__device__ __forceinline__ void list_ends(EndList<capacity, threads>& list, const Marks (&marks)[rows],
                                          const StringTile& part, u32 base, u32 dropped_before) {
    u32 carry = dropped_before << 16;
    u32 rank = part.ends_before - base;  // below 0 for what was listed before
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        u32 ends = (marks[row].ends | marks[row].ends >> 16) & 0xFFFF;
        const u32 own = static_cast<u32>(__popc(ends)) | static_cast<u32>(__popc(marks[row].dropped)) << 16;
        const u32 upto = tile::scan_warp<Sum<u32>>(own);
        const u32 before = upto - own + carry;
        carry += tile::shuffle(upto, tile::lanes - 1);
        const u32 first = ((tile::warp() * rows + row) * tile::lanes + tile::lane()) * 16 - (before >> 16);
        u32 at = rank + (before & 0xFFFF);
        for (; ends != 0; ends &= ends - 1, ++at) {
            const u32 below = (ends & (0 - ends)) - 1;
            const u32 kept = first + static_cast<u32>(__popc(below & ~marks[row].dropped));
            const bool is_record = (marks[row].ends >> 16 & (below + 1)) != 0;
            if (at < capacity) list.end[at] = static_cast<u16>(kept | (is_record ? u32{ends_record} : 0u));
        }
    }
}

// Every record of the tile has all columns: end i is of column (column + i) % columns.
template <u32 capacity, u32 threads>
__device__ __forceinline__ bool is_regular(EndList<capacity, threads>& list, const StringTile& part, u32 columns) {
    if (part.ends > capacity || part.column >= columns) return false;
    const u32 first = columns - 1 - part.column;
    const u32 expected = part.ends > first ? (part.ends - 1 - first) / columns + 1 : 0;
    if (expected != part.records) return false;
    for (u32 i = threadIdx.x; i < expected; i += threads) {
        if ((list.end[first + i * columns] & ends_record) == 0) list.irregular = 1;
    }
    __syncthreads();
    return list.irregular == 0;
}

// `kept`: of all the tile's bytes.
template <u32 capacity, u32 threads>
__device__ __forceinline__ void sum_regular(const EndList<capacity, threads>& list, const StringTile& part,
                                            const StringColumns& strings, u32 kept) {
    for (u32 slot = tile::warp(); slot < strings.strings; slot += threads / tile::lanes) {
        const u32 column = strings.column[slot];
        const u32 first = column >= part.column ? column - part.column : column + strings.columns - part.column;
        u32 bytes = 0;
        for (u32 i = first + tile::lane() * strings.columns; i <= part.ends; i += tile::lanes * strings.columns) {
            bytes += i < part.ends ? list.bytes(i, 0) : kept - (i == 0 ? 0 : list.kept(i - 1) + 1);
        }
        bytes = __reduce_add_sync(tile::all_lanes, bytes);
        if (tile::lane() == 0) part.sums[u64{slot} * strings.stride] = bytes;
    }
}

__device__ __forceinline__ void add_bytes_of(const StringTile& part, const StringColumns& strings, u32 column,
                                             u32 bytes) {
    u32 low = 0, high = strings.strings;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (strings.column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < strings.strings && strings.column[low] == column)
        atomicAdd(&part.sums[u64{low} * strings.stride], u64{bytes});
}

// Ends of any columns, `count` of them; `column` and `before` are those of the first one's field. A warp has a part of
// them.
template <u32 capacity, u32 threads>
__device__ __forceinline__ void sum_any(const EndList<capacity, threads>& list, u32 count, u32 column, u32 before,
                                        const StringTile& part, const StringColumns& strings) {
    constexpr u32 warps = threads / tile::lanes;
    const u32 end = count * (tile::warp() + 1) / warps;
    u32 begin = count * tile::warp() / warps;
    u32 own = list.column_of(begin, column);
    for (; begin < end; begin += tile::lanes) {
        const u32 at = begin + tile::lane();
        const u32 records = __ballot_sync(tile::all_lanes, at < end && (list.end[at] & ends_record) != 0);
        const u32 earlier = records & ((1u << tile::lane()) - 1);
        const u32 last = 31 - static_cast<u32>(__clz(static_cast<i32>(earlier)));
        const u32 of = earlier == 0 ? own + tile::lane() : tile::lane() - 1 - last;
        if (at < end) add_bytes_of(part, strings, of, list.bytes(at, before));
        own = records == 0 ? own + tile::lanes : static_cast<u32>(__clz(static_cast<i32>(records)));
    }
}

// By all threads of a block.
template <u32 rows, u32 capacity, u32 threads>
__device__ __forceinline__ void sum_strings_of(EndList<capacity, threads>& list, const Marks (&marks)[rows],
                                               const StringTile& part, const StringColumns& strings) {
    u32 dropped = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) dropped += static_cast<u32>(__popc(marks[row].dropped));
    dropped = __reduce_add_sync(tile::all_lanes, dropped);
    if (threadIdx.x == 0) list.irregular = 0;
    const tile::Before<u32> all = tile::scan_warps<Sum<u32>, threads>(dropped, list.totals);
    const u32 kept = part.bytes - all.total;
    list_ends<rows>(list, marks, part, 0, all.before);
    __syncthreads();
    if (is_regular(list, part, strings.columns)) {
        sum_regular(list, part, strings, kept);
        return;
    }
    for (u32 slot = threadIdx.x; slot < strings.strings; slot += threads) part.sums[u64{slot} * strings.stride] = 0;
    __syncthreads();
    u32 column = part.column, before = 0;
    for (u32 base = 0; base < part.ends; base += capacity) {
        if (base != 0) {
            __syncthreads();
            list_ends<rows>(list, marks, part, base, all.before);
            __syncthreads();
        }
        const u32 count = part.ends - base < capacity ? part.ends - base : capacity;
        sum_any(list, count, column, before, part, strings);
        column = list.column_of(count, column);
        before = list.kept(count - 1) + 1;
    }
    if (threadIdx.x == 0) add_bytes_of(part, strings, column, kept - before);
}

}  // namespace structure
}  // namespace headrace
