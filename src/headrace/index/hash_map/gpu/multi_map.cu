// Fills and searches the slab hash with several values for a key, one operation per thread (multi_map_ref.cuh).
//
// Bytes moved, for keys of width k and values of width v. An insertion: k + v + 4, 128 for each of one or two slabs,
// and a sector of 32 bytes that is written back. A search: k + 8, 128 for each slab of the list, and v + 4 for each
// value.
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/multi_map_ref.cuh"

using namespace headrace;

using slab::count_flags, slab::key_of_row, slab::thread_row, slab::threads;
using slab::Key, slab::L, slab::Value;

struct CountVisitor {
    u64 count;
    __device__ void visit(u32, u32 positions, u32 source) {
        if (tile::lane() == source) count += __popc(positions);
    }
};

// Writes the values of a row, and the row's number for each of them, from `to` on.
struct CopyVisitor {
    const SlabTable& table;
    Value* values;
    u32* rows;
    u32 row;
    u64 to;

    __device__ void visit(u32 slab, u32 positions, u32 source) {
        const u64 begin = tile::shuffle(to, source);
        const u32 of_row = tile::shuffle(row, source);
        for (u32 p = 0; p < L::lane_keys; ++p) {
            const u32 position = p * slab::group_lanes + slab::group_lane();
            if ((positions >> position & 1) == 0) continue;
            const u64 at = begin + __popc(positions & low_mask(position));
            values[at] = *slab::value_in<L>(slab::slab_at(table, slab), position);
            rows[at] = of_row;
        }
        if (tile::lane() == source) to += __popc(positions);
    }
};

// Empties the slots, and counts them.
struct ClearVisitor {
    const SlabTable& table;
    u64 count;

    __device__ void visit(u32 slab, u32 positions, u32 source) {
        for (u32 p = 0; p < L::lane_keys; ++p) {
            const u32 position = p * slab::group_lanes + slab::group_lane();
            if ((positions >> position & 1) != 0) slab::clear_slot<L>(slab::slab_at(table, slab), position);
        }
        if (tile::lane() == source) count += __popc(positions);
    }
};

// Inserts pairs and writes their slots. counts[1]: rows without memory. The parameters are those of insert_pairs.
extern "C" __global__ void __launch_bounds__(threads)
    append_pairs(const __grid_constant__ SlabTable table, const Key* keys, const Value* values, u64 count, u32,
                 u32* slots, u64* counts) {
    const u64 row = thread_row();
    const bool is_active = row < count;
    const Value value = is_active ? values[row] : Value{0};
    const u32 slot = slab::insert_pair<L>(table, {key_of_row(keys, row, count), value}, is_active);
    if (is_active) slots[row] = slot;
    count_flags(counts + 1, is_active && slot == slab::no_slot);
}

// Writes the number of values of each key.
extern "C" __global__ void __launch_bounds__(threads)
    count_values(const __grid_constant__ SlabTable table, const Key* keys, u64 count, u64* counts) {
    const u64 row = thread_row();
    CountVisitor visitor{0};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), row < count, visitor);
    if (row < count) counts[row] = visitor.count;
}

// Writes the values of each key from offsets[row] on, in no order, and the row of each value.
extern "C" __global__ void __launch_bounds__(threads)
    copy_values(const __grid_constant__ SlabTable table, const Key* keys, u64 count, const u64* offsets, Value* values,
                u32* rows) {
    const u64 row = thread_row();
    CopyVisitor visitor{table, values, rows, static_cast<u32>(row), row < count ? offsets[row] : 0};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), row < count, visitor);
}

// Erases all values of the keys whose row has a slot, and writes their numbers; 0 for other rows. No two rows with
// slots have one key. `total`: all erased values.
extern "C" __global__ void __launch_bounds__(threads)
    erase_values(const __grid_constant__ SlabTable table, const Key* keys, u64 count, const u32* slots, u64* counts,
                 u64* total) {
    const u64 row = thread_row();
    const bool is_active = row < count && slab::has_slot(slots[row]);
    ClearVisitor visitor{table, 0};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), is_active, visitor);
    if (row < count) counts[row] = visitor.count;
    const u64 sum = tile::reduce_warp<Sum<u64>>(visitor.count);
    if (tile::lane() == 0 && sum != 0) atomicAdd(total, sum);
}
