// Selects the items whose flag is set, in order, and counts them, in one pass by persistent blocks with specialised
// warps, as in primitives/scan.cu.
//
// Only flags pass through the ring in shared memory. A gatherer lists the positions of the set flags in its part. It
// loads those items while the block waits for the number of selected items in preceding tiles. So stores are coalesced,
// and only memory near selected items is read. (Stream compaction by scan: Blelloch 1990, section 1.4.)
//
// Bytes moved per item of width w: its flag, and 2 w if it is selected. Memory is read in sectors, of 64 bytes on an
// H200: with 1 % of items of 4 bytes selected at random, 1.63 bytes per item, not 1.08.
#include "gpu/block/bulk_copy.cuh"
#include "gpu/block/look_back.cuh"
#include "gpu/block/tile_rows.cuh"

using namespace headrace;

using Item = tile::ItemOf<HR_WIDTH>::type;
using Place = tile::StagePhase<HR_STAGES>;
using Totals = tile::Totals<u32, Sum<u64>, HR_LOOK>;
constexpr u32 threads = HR_THREADS;  // gathering threads
constexpr u32 rows = HR_ROWS;        // vectors of 16 flags per thread
constexpr u32 stages = HR_STAGES;
constexpr u32 gatherers = threads / tile::lanes;
constexpr u32 counters = HR_COUNTERS;
constexpr u32 block = threads + (counters + 2) * tile::lanes;
constexpr u32 stage_flags = threads * rows * 16;
constexpr u32 part_flags = tile::lanes * rows * 16;
constexpr u32 batch = HR_WIDTH <= 4 ? HR_BATCH : 4 * HR_BATCH / HR_WIDTH;  // items in a thread's registers, twice
constexpr i32 step = batch * tile::lanes;
constexpr u32 words = (rows + 1) / 2;  // words of 32 flags per thread, one bit per flag
static_assert(rows % 2 == 1 && gatherers <= tile::lanes);

struct SelectRing {
    tile::Barrier full[stages], counted[stages], known[stages], done[stages];
    u32 totals[stages][gatherers];
    u64 before[stages][gatherers];  // for each gatherer's part of the tile
    u32 number[stages];             // tile in a stage; a number beyond the last ends the work
};

struct SelectArrays {
    const Item* in;
    const u8* flags;
    Item* out;
    u64* selected;
    u64 count;
    u32 tiles;
};

// Returns a bit for each of four flags that is not 0, as the highest bit of its byte.
HR_FN u32 set_bytes(u32 flags) { return (((flags & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | flags) & 0x80808080u; }

// Returns the same in the lowest four bits: the product moves bits 0, 8, 16 and 24 to 28, 29, 30 and 31.
HR_FN u32 set_bits(u32 flags) { return (set_bytes(flags) >> 7) * 0x10204080u >> 28; }

HR_FN u32 count_set(uint4 flags) {
    // Each of the four words uses its own bit of each byte, so one population count counts all of them.
    const u32 all =
        set_bytes(flags.x) >> 7 | set_bytes(flags.y) >> 6 | set_bytes(flags.z) >> 5 | set_bytes(flags.w) >> 4;
    return static_cast<u32>(__popc(all));
}

HR_FN u32 bits_of(uint4 flags) {
    return set_bits(flags.x) | set_bits(flags.y) << 4 | set_bits(flags.z) << 8 | set_bits(flags.w) << 12;
}

HR_FN u32 first_vector(u32 part) { return (part * tile::lanes + tile::lane()) * rows; }

HR_FN void move(const SelectArrays& arrays, Totals totals, SelectRing& ring, u8* stage) {
    const bool aligned = tile::aligned(arrays.flags);
    Place place;
    for (u32 turn = 0;; ++turn) {
        if (turn >= stages) ring.done[place.stage].wait(place.parity ^ 1);
        u32 number = 0;
        if (tile::lane() == 0) ring.number[place.stage] = number = totals.take_tile();
        number = tile::shuffle(number, 0);
        if (number >= arrays.tiles) {
            ring.full[place.stage].arrive();
            break;
        }
        const u64 begin = static_cast<u64>(number) * stage_flags;
        u8* const here = stage + place.stage * stage_flags;
        if (aligned) {
            tile::load_items_async<u8>(here, arrays.flags + begin, static_cast<i64>(arrays.count - begin), stage_flags,
                                       0, ring.full[place.stage]);
        } else {
#pragma unroll 16
            for (u32 i = tile::lane(); i < stage_flags; i += tile::lanes)
                here[i] = begin + i < arrays.count ? arrays.flags[begin + i] : 0;
            ring.full[place.stage].arrive();
        }
        place.step();
    }
    if (tile::lane() == 0) totals.end();
}

HR_FN void count(u32 tiles, Totals totals, SelectRing& ring, const uint4* flags) {
    const u32 own = tile::warp() - gatherers;
    for (Place place;; place.step()) {
        ring.full[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number < tiles) {
            for (u32 part = own; part < gatherers; part += counters) {
                const uint4* const mine = flags + place.stage * (stage_flags / 16) + first_vector(part);
                u32 total = 0;
#pragma unroll
                for (u32 row = 0; row < rows; ++row) total += count_set(mine[row]);
                total = __reduce_add_sync(tile::all_lanes, total);
                if (tile::lane() == 0) ring.totals[place.stage][part] = total;
            }
        }
        ring.counted[place.stage].arrive_warp();
        if (own == 0) {
            if (number < tiles) {
                ring.counted[place.stage].wait(place.parity);
                const u32 total = __reduce_add_sync(
                    tile::all_lanes, tile::lane() < gatherers ? ring.totals[place.stage][tile::lane()] : 0u);
                if (tile::lane() == 0) totals.post(number, total);
            }
            ring.known[place.stage].arrive_warp();  // the totals of the stage may be overwritten
        }
        if (number >= tiles) return;
    }
}

HR_FN void look_back(const SelectArrays& arrays, Totals totals, SelectRing& ring) {
    u64 joined = 0;  // selected items of all tiles before `next`
    u32 next = 0;
    for (Place place;; place.step()) {
        ring.counted[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number < arrays.tiles) {
            const u32 own = tile::lane() < gatherers ? ring.totals[place.stage][tile::lane()] : 0u;
            const u32 upto = tile::scan_warp<Sum<u32>>(own);
            joined += totals.between(next, number);
            if (tile::lane() < gatherers) ring.before[place.stage][tile::lane()] = joined + (upto - own);
            joined += tile::shuffle(upto, gatherers - 1);
            next = number + 1;
            if (next == arrays.tiles && tile::lane() == 0) *arrays.selected = joined;
        }
        ring.known[place.stage].arrive_warp();
        if (number >= arrays.tiles) return;
    }
}

// Lists the positions of a part's set flags. If few flags are set, each lane lists its own, starting at `to`.
HR_FN void list_bits(const u32 (&bits)[words], u16* to) {
#pragma unroll
    for (u32 word = 0; word < words; ++word) {
        const u32 first = tile::lane() * rows * 16 + word * 32;
        for (u32 left = bits[word]; left != 0; left &= left - 1) {
            *to++ = static_cast<u16>(first + static_cast<u32>(trailing_zeros(left)));
        }
    }
}

// If many flags are set, the warp lists rows of 32 flags: no row waits for the preceding one, and stores are adjacent.
HR_FN void list_rows(const u8* flags, u16* to) {
    const u32 lanes_before = (1u << tile::lane()) - 1;
#pragma unroll 16
    for (u32 first = 0; first < part_flags; first += tile::lanes) {
        const bool is_set = flags[first + tile::lane()] != 0;
        const u32 set = __ballot_sync(tile::all_lanes, is_set);
        if (is_set) to[__popc(set & lanes_before)] = static_cast<u16>(first + tile::lane());
        to += __popc(set);
    }
}

// Copies `batch` rows of listed items through registers; this lane's item of row 0 has number `at`. Items with numbers
// 0 to `total` - 1 are copied. `list` and `out` point to number `at`.
HR_FN void load(Item (&held)[batch], const Item* in, const u16* list, i32 at, i32 total) {
    if (at - static_cast<i32>(tile::lane()) >= total) return;
#pragma unroll
    for (u32 k = 0; k < batch; ++k) {
        if (static_cast<u32>(at) + k * tile::lanes < static_cast<u32>(total)) held[k] = in[list[k * tile::lanes]];
    }
}
HR_FN void store(const Item (&held)[batch], Item* out, i32 at, i32 total) {
    if (at - static_cast<i32>(tile::lane()) >= total) return;
#pragma unroll
    for (u32 k = 0; k < batch; ++k) {
        if (static_cast<u32>(at) + k * tile::lanes < static_cast<u32>(total)) out[k * tile::lanes] = held[k];
    }
}

HR_FN void gather(const SelectArrays& arrays, SelectRing& ring, const uint4* flags, u16* list) {
    u16* const mine = list + tile::warp() * part_flags;
    for (Place place;; place.step()) {
        ring.full[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number >= arrays.tiles) return;
        const uint4* const stage = flags + place.stage * (stage_flags / 16);
        const uint4* const warp_flags = stage + first_vector(tile::warp());
        const u32 first_flag = tile::warp() * part_flags;
        u32 bits[words] = {}, own = 0;
#pragma unroll
        for (u32 row = 0; row < rows; ++row) bits[row / 2] |= bits_of(warp_flags[row]) << (row % 2 * 16);
#pragma unroll
        for (u32 word = 0; word < words; ++word) own += static_cast<u32>(__popc(bits[word]));
        const u32 upto = tile::scan_warp<Sum<u32>>(own);
        const i32 total = static_cast<i32>(tile::shuffle(upto, tile::lanes - 1));
        i32 at = static_cast<i32>(tile::lane());
        if (total < static_cast<i32>(part_flags / 8)) {
            list_bits(bits, mine + upto - own);
        } else {
            list_rows(reinterpret_cast<const u8*>(stage) + first_flag, mine);
            // Rows start at cache lines of the result, since each store would otherwise touch one more line.
            ring.known[place.stage].wait(place.parity);
            const u64 to = reinterpret_cast<u64>(arrays.out + ring.before[place.stage][tile::warp()]);
            at -= static_cast<i32>(to / sizeof(Item) % tile::lanes);
        }
        __syncwarp();
        const Item* const in = arrays.in + static_cast<u64>(number) * stage_flags + first_flag;
        const u16* from = mine + at;
        Item first[batch], second[batch];
        load(first, in, from, at, total);
        load(second, in, from + step, at + step, total);
        ring.known[place.stage].wait(place.parity);
        Item* out = arrays.out + static_cast<i64>(ring.before[place.stage][tile::warp()]) + at;
        ring.done[place.stage].arrive_warp();
#pragma unroll 1
        for (; at - static_cast<i32>(tile::lane()) < total; at += 2 * step, from += 2 * step, out += 2 * step) {
            store(first, out, at, total);
            load(first, in, from + 2 * step, at + 2 * step, total);
            store(second, out + step, at + step, total);
            load(second, in, from + 3 * step, at + 3 * step, total);
        }
        __syncwarp();  // the list is read completely
    }
}

// `memory`: tile::Counters and a state per tile, none of which has `epoch`; zero before its first use. Needs at least
// one item. Launch: blocks of `threads` + 32 (counters + 2) threads, as many as are resident. Dynamic shared memory:
// the stages, and two bytes per flag of a stage.
extern "C" __global__ void __launch_bounds__(block, HR_BLOCKS)
    select_items(const Item* in, const u8* flags, Item* out, u64 size, tile::Counters* memory, u32 epoch,
                 u64* selected) {
    HR_DYNAMIC_SHARED(uint4, stage);
    __shared__ SelectRing ring;
    const SelectArrays arrays{in, flags, out, selected, size, static_cast<u32>((size + stage_flags - 1) / stage_flags)};
    const Totals totals(memory, epoch);
    if (threadIdx.x < stages) {
        ring.full[threadIdx.x].begin(tile::load_arrivals);
        ring.counted[threadIdx.x].begin(counters);
        ring.known[threadIdx.x].begin(2);
        ring.done[threadIdx.x].begin(gatherers);
    }
    tile::gates_begun();
    const u32 warp = tile::warp();
    if (warp < gatherers) {
        gather(arrays, ring, stage, reinterpret_cast<u16*>(stage + stages * (stage_flags / 16)));
    } else if (warp < gatherers + counters) {
        count(arrays.tiles, totals, ring, stage);
    } else if (warp == gatherers + counters) {
        look_back(arrays, totals, ring);
    } else {
        move(arrays, totals, ring, reinterpret_cast<u8*>(stage));
    }
}
