// Scans an array in one pass, by persistent blocks with specialised warps. A tile passes through a ring of stages in
// shared memory, and each kind of warp waits only for its own inputs:
//
// - The mover takes a tile by ticket, loads it by the copy engine, and stores the stages that are scanned.
// - The reducers compute the total of a tile, and post it for the other blocks.
// - The looker combines the totals of the preceding tiles (gpu/block/look_back.cuh).
// - The scanners scan the tile in place, from the total of the preceding tiles.
//
// The stages contain tiles being loaded, tiles that wait for totals of other blocks, and tiles being stored, in any
// proportion. A late tile stops a block only when all of its stages wait. A thread scans adjacent items, an odd number
// of 16-byte vectors, which are in different banks for the 8 threads that are served at once. Items keep their order,
// so the operator need not commute. Forward progress: the total of a tile is posted before its block waits for any
// preceding tile, and only running blocks take tickets.
//
// Bytes moved per item of width w: 2 w, and a state of 8 or 16 bytes per tile.
#include "gpu/block/bulk_copy.cuh"
#include "gpu/block/look_back.cuh"
#include "gpu/block/tile_rows.cuh"

using namespace headrace;

using Op = HR_OPERATOR<HR_ITEM>;
using Item = Op::Item;
using Vector = tile::Vector<Item>;
using Place = tile::StagePhase<HR_STAGES>;
using Totals = tile::Totals<Item, Op, HR_LOOK>;
constexpr u32 threads = HR_THREADS;  // scanning threads
constexpr u32 rows = HR_ROWS;        // vectors per thread
constexpr u32 stages = HR_STAGES;
constexpr u32 scanners = threads / tile::lanes;
constexpr u32 reducers = HR_REDUCERS;
constexpr u32 block = threads + (reducers + 2) * tile::lanes;
constexpr u32 stage_vectors = threads * rows;
constexpr u32 stage_items = stage_vectors * tile::per_vector<Item>;
constexpr u32 part_items = stage_items / scanners;
static_assert(rows % 2 == 1 && scanners <= tile::lanes);

struct ScanRing {
    tile::Barrier full[stages], reduced[stages], known[stages], scanned[stages];
    Item totals[stages][scanners], before[stages][scanners];  // for each scanner's part of the tile
    u32 number[stages];                                       // tile in a stage; a number beyond the last ends the work
};

struct ScanArrays {
    const Item* in;
    Item* out;
    i64 count;
    u32 tiles;
    bool aligned;
};

HR_FN Item join_vector(const Vector& items) {
    Item joined = items.item[0];
#pragma unroll
    for (u32 k = 1; k < tile::per_vector<Item>; ++k) joined = Op::join(joined, items.item[k]);
    return joined;
}

// If an array does not begin at a 16-byte boundary, the copy engine cannot be used: reducers load and scanners store.
HR_FN void move(const ScanArrays& arrays, Totals totals, ScanRing& ring, Vector* stage) {
    Place place;
    const auto store = [&] {
        ring.scanned[place.stage].wait(place.parity ^ 1);
        const i64 begin = static_cast<i64>(ring.number[place.stage]) * stage_items;
        if (arrays.aligned) {
            tile::store_items_async(arrays.out + begin,
                                    reinterpret_cast<const Item*>(stage + place.stage * stage_vectors),
                                    arrays.count - begin, stage_items);
        }
    };
    u32 in_flight = 0;
    while (true) {
        tile::Barrier& full = ring.full[place.stage];
        if (in_flight == stages) {
            store();
            --in_flight;
        }
        u32 number = 0;
        if (tile::lane() == 0) ring.number[place.stage] = number = totals.take_tile();
        number = tile::shuffle(number, 0);
        const i64 begin = static_cast<i64>(number) * stage_items;
        if (number < arrays.tiles && arrays.aligned) {
            tile::load_items_async(reinterpret_cast<Item*>(stage + place.stage * stage_vectors), arrays.in + begin,
                                   arrays.count - begin, stage_items, Op::identity(), full);
        } else {
            full.arrive();
        }
        if (number >= arrays.tiles) break;
        ++in_flight;
        place.step();
    }
    if (tile::lane() == 0) totals.end();
    // Stores the stages before `place`, the oldest first; the stage of `place` itself is empty. The loop is not
    // unrolled because this code runs once, so its instruction fetches would stall the warp.
#pragma unroll 1
    for (u32 i = 1; i < stages; ++i) {
        place.step();
        if (i >= stages - in_flight) store();
    }
}

// Returns the index in the stage of this lane's first vector. Each scanner has one part, of 32 x `rows` vectors, and
// the `rows` vectors of a lane are adjacent.
HR_FN u32 first_vector(u32 part) { return (part * tile::lanes + tile::lane()) * rows; }

// Copies a part item by item; all lanes of its warp call it.
HR_FN void load_part(const ScanArrays& arrays, u32 number, u32 part, Vector* stage) {
    const i64 begin = static_cast<i64>(number) * stage_items + part * part_items;
    Item* const to = reinterpret_cast<Item*>(stage) + part * part_items;
#pragma unroll 12
    for (u32 i = tile::lane(); i < part_items; i += tile::lanes)
        to[i] = begin + i < arrays.count ? arrays.in[begin + i] : Op::identity();
    __syncwarp();
}
HR_FN void store_part(const ScanArrays& arrays, u32 number, const Vector* stage) {
    const i64 begin = static_cast<i64>(number) * stage_items + tile::warp() * part_items;
    const Item* const from = reinterpret_cast<const Item*>(stage) + tile::warp() * part_items;
    __syncwarp();
#pragma unroll 12
    for (u32 i = tile::lane(); i < part_items; i += tile::lanes) {
        if (begin + i < arrays.count) arrays.out[begin + i] = from[i];
    }
}

HR_FN void reduce(const ScanArrays& arrays, Totals totals, ScanRing& ring, Vector* stage) {
    const u32 own = tile::warp() - scanners;
    for (Place place;; place.step()) {
        ring.full[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number < arrays.tiles) {
            for (u32 part = own; part < scanners; part += reducers) {
                if (!arrays.aligned) load_part(arrays, number, part, stage + place.stage * stage_vectors);
                const Vector* const mine = stage + place.stage * stage_vectors + first_vector(part);
                Item joined = join_vector(mine[0]);
#pragma unroll
                for (u32 row = 1; row < rows; ++row) joined = Op::join(joined, join_vector(mine[row]));
                joined = tile::reduce_warp<Op>(joined);
                if (tile::lane() == 0) ring.totals[place.stage][part] = joined;
            }
        }
        ring.reduced[place.stage].arrive_warp();
        if (own == 0) {
            if (number < arrays.tiles) {
                ring.reduced[place.stage].wait(place.parity);
                const Item joined = tile::reduce_warp<Op>(
                    tile::lane() < scanners ? ring.totals[place.stage][tile::lane()] : Op::identity());
                if (tile::lane() == 0) totals.post(number, joined);
            }
            ring.known[place.stage].arrive_warp();  // the totals of the stage may be overwritten
        }
        if (number >= arrays.tiles) return;
    }
}

HR_FN void look_back(u32 tiles, Totals totals, ScanRing& ring) {
    Item joined = Op::identity();  // total of all tiles before `next`
    u32 next = 0;
    for (Place place;; place.step()) {
        ring.reduced[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number < tiles) {
            const Item upto =
                tile::scan_warp<Op>(tile::lane() < scanners ? ring.totals[place.stage][tile::lane()] : Op::identity());
            Item before = tile::shuffle_up(upto, 1);
            if (tile::lane() == 0) before = Op::identity();
            joined = Op::join(joined, totals.between(next, number));
            if (tile::lane() < scanners) ring.before[place.stage][tile::lane()] = Op::join(joined, before);
            joined = Op::join(joined, tile::shuffle(upto, scanners - 1));
            next = number + 1;
        }
        ring.known[place.stage].arrive_warp();
        if (number >= tiles) return;
    }
}

HR_FN void scan_tiles(const ScanArrays& arrays, bool exclusive, ScanRing& ring, Vector* stage) {
    for (Place place;; place.step()) {
        (arrays.aligned ? ring.full : ring.known)[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number >= arrays.tiles) return;
        Vector* const mine = stage + place.stage * stage_vectors + first_vector(tile::warp());
        Vector items[rows];
        Item joined = Op::identity();
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            items[row] = mine[row];
            joined = Op::join(joined, join_vector(items[row]));
        }
        joined = tile::scan_warp<Op>(joined);
        Item before = tile::shuffle_up(joined, 1);
        if (tile::lane() == 0) before = Op::identity();
        ring.known[place.stage].wait(place.parity);
        before = Op::join(ring.before[place.stage][tile::warp()], before);
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < tile::per_vector<Item>; ++k) {
                const Item after = Op::join(before, items[row].item[k]);
                items[row].item[k] = exclusive ? before : after;
                before = after;
            }
            mine[row] = items[row];
        }
        tile::fence_bulk_copy();
        if (!arrays.aligned) store_part(arrays, number, stage + place.stage * stage_vectors);
        ring.scanned[place.stage].arrive_warp();
    }
}

// `memory`: tile::Counters and a state per tile, none of which has `epoch`; zero before its first use. `exclusive`:
// result i combines the items before i, otherwise also item i. `out` must not overlap `in`. Launch: blocks of `threads`
// + 32 (reducers + 2) threads, as many as are resident; dynamic shared memory: the stages.
extern "C" __global__ void __launch_bounds__(block)
    scan(const Item* in, Item* out, i64 count, tile::Counters* memory, u32 epoch, u32 exclusive) {
    HR_DYNAMIC_SHARED(Vector, stage);
    __shared__ ScanRing ring;
    const ScanArrays arrays{in, out, count, static_cast<u32>((count + stage_items - 1) / stage_items),
                            tile::aligned(in, out)};
    const Totals totals(memory, epoch);
    if (threadIdx.x < stages) {
        ring.full[threadIdx.x].begin(tile::load_arrivals);
        ring.reduced[threadIdx.x].begin(reducers);
        ring.known[threadIdx.x].begin(2);
        ring.scanned[threadIdx.x].begin(scanners);
    }
    tile::gates_begun();
    const u32 warp = tile::warp();
    if (warp < scanners) {
        scan_tiles(arrays, exclusive != 0, ring, stage);
    } else if (warp < scanners + reducers) {
        reduce(arrays, totals, ring, stage);
    } else if (warp == scanners + reducers) {
        look_back(arrays.tiles, totals, ring);
    } else {
        move(arrays, totals, ring, stage);
    }
}
