// Scan of an array in one pass, by blocks that stay and whose warps have roles. A tile goes through a ring of stages in
// shared memory, and each role waits only for what it needs:
//
//   the mover     takes a tile by ticket and has the copy engine bring it; stores a stage that is scanned, then reuses it
//   the reducers  find what a tile comes to, and post it for the other blocks
//   the looker    joins what the tiles before come to (core/tile/look_back.cuh)
//   the scanners  scan the tile in place, from what came before it
//
// So the stages hold tiles on their way, tiles that wait for others' totals and tiles on their way back, in whatever
// share the moment needs: a late tile stops a block only when all its stages wait. A thread scans neighbouring items, an
// odd number of 16-byte vectors, which lie in different banks for the 8 threads that are served at once. Items keep
// their order, so the operator need not commute. Forward progress: a tile's total is posted before its block waits for
// any tile before it, and tickets are taken by blocks that run.
//
// Bytes moved per item of width w: 2 w, and for each tile a state of 8 or 16 bytes.
#include "core/tile/look_back.cuh"
#include "core/tile/move.cuh"
#include "core/tile/rows.cuh"

using namespace headrace;

using Op = HR_OPERATOR<HR_ITEM>;
using Item = Op::Item;
using Vector = tile::Vector<Item>;
using Place = tile::Place<HR_STAGES>;
using Totals = tile::Totals<Item, Op, HR_LOOK>;
constexpr u32 threads = HR_THREADS;  // that scan
constexpr u32 rows = HR_ROWS;        // vectors of a thread
constexpr u32 stages = HR_STAGES;
constexpr u32 scanners = threads / tile::lanes;
constexpr u32 reducers = HR_REDUCERS;
constexpr u32 block = threads + (reducers + 2) * tile::lanes;
constexpr u32 stage_vectors = threads * rows;
constexpr u32 stage_items = stage_vectors * tile::per_vector<Item>;
static_assert(rows % 2 == 1 && scanners <= tile::lanes);

struct Ring {
    tile::Gate full[stages], reduced[stages], known[stages], scanned[stages];
    Item totals[stages][scanners], before[stages][scanners];  // of each scanner's part
    u32 number[stages];                                       // of the tile in a stage; beyond the last: nothing more
};

struct Arrays {
    const Item* in;
    Item* out;
    i64 count;
    u32 tiles;
};

static __device__ __forceinline__ Item join_vector(const Vector& items) {
    Item joined = items.item[0];
#pragma unroll
    for (u32 k = 1; k < tile::per_vector<Item>; ++k) joined = Op::join(joined, items.item[k]);
    return joined;
}

static __device__ __forceinline__ void store(const Arrays& arrays, const Vector* stage, u32 number, bool aligned) {
    const i64 begin = static_cast<i64>(number) * stage_items;
    tile::take_items_away(arrays.out + begin, reinterpret_cast<const Item*>(stage), arrays.count - begin, stage_items,
                          aligned);
}

static __device__ __forceinline__ void move(const Arrays& arrays, Totals totals, Ring& ring,
                                            Vector* stage) {
    const bool aligned = tile::aligned(arrays.in, arrays.out);
    Place place;
    u32 in_flight = 0;
    while (true) {
        tile::Gate& full = ring.full[place.stage];
        Vector* const here = stage + place.stage * stage_vectors;
        if (in_flight == stages) {
            ring.scanned[place.stage].wait(place.parity ^ 1);
            store(arrays, here, ring.number[place.stage], aligned);
            --in_flight;
        }
        u32 number = 0;
        if (tile::lane() == 0) ring.number[place.stage] = number = totals.take_tile();
        number = tile::shuffle(number, 0);
        if (number >= arrays.tiles) {
            full.arrive();
            break;
        }
        const i64 begin = static_cast<i64>(number) * stage_items;
        tile::bring_items(reinterpret_cast<Item*>(here), arrays.in + begin, arrays.count - begin, stage_items,
                          Op::identity(), aligned, full);
        ++in_flight;
        place.step();
    }
    if (tile::lane() == 0) totals.end();
    // Those before the place, the oldest first; the stage of the place itself is empty.
    for (u32 i = 1; i < stages; ++i) {
        place.step();
        if (i < stages - in_flight) continue;
        ring.scanned[place.stage].wait(place.parity ^ 1);
        store(arrays, stage + place.stage * stage_vectors, ring.number[place.stage], aligned);
    }
}

// Parts of a stage as its scanners have them: `part` x 32 x `rows` vectors from the stage's first, a lane's `rows` of them
// neighbours.
static __device__ __forceinline__ u32 first_vector(u32 part) { return (part * tile::lanes + tile::lane()) * rows; }

static __device__ __forceinline__ void reduce(u32 tiles, Totals totals, Ring& ring,
                                              const Vector* stage) {
    const u32 own = tile::warp() - scanners;
    for (Place place;; place.step()) {
        ring.full[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number < tiles) {
            for (u32 part = own; part < scanners; part += reducers) {
                const Vector* const mine = stage + place.stage * stage_vectors + first_vector(part);
                Item joined = join_vector(mine[0]);
#pragma unroll
                for (u32 row = 1; row < rows; ++row) joined = Op::join(joined, join_vector(mine[row]));
                joined = tile::reduce_warp<Op>(joined);
                if (tile::lane() == 0) ring.totals[place.stage][part] = joined;
            }
        }
        ring.reduced[place.stage].arrive_warp();
        if (number >= tiles) return;
        if (own == 0) {
            ring.reduced[place.stage].wait(place.parity);
            const Item joined = tile::reduce_warp<Op>(
                tile::lane() < scanners ? ring.totals[place.stage][tile::lane()] : Op::identity());
            if (tile::lane() == 0) totals.post(number, joined);
            ring.known[place.stage].arrive_warp();  // its totals may be overwritten
        }
    }
}

static __device__ __forceinline__ void look_back(u32 tiles, Totals totals, Ring& ring) {
    Item joined = Op::identity();  // of all tiles before `next`
    u32 next = 0;
    for (Place place;; place.step()) {
        ring.reduced[place.stage].wait(place.parity);
        const u32 number = ring.number[place.stage];
        if (number < tiles) {
            const Item upto = tile::scan_warp<Op>(
                tile::lane() < scanners ? ring.totals[place.stage][tile::lane()] : Op::identity());
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

static __device__ __forceinline__ void scan_tiles(u32 tiles, bool exclusive, Ring& ring, Vector* stage) {
    for (Place place;; place.step()) {
        ring.full[place.stage].wait(place.parity);
        if (ring.number[place.stage] >= tiles) return;
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
        tile::show_to_mover();
        ring.scanned[place.stage].arrive_warp();
    }
}

// `memory`: tile::Counters and a state for each tile, in which `epoch` was never; zero when it first serves. `exclusive`:
// item i of the result joins the items before i, otherwise i too. `out` may not overlap `in`. Blocks of `threads` + 32
// (reducers + 2) threads, as many as fit; dynamic shared memory: the stages.
extern "C" __global__ void __launch_bounds__(block)
    scan(const Item* in, Item* out, i64 count, tile::Counters* memory, u32 epoch, u32 exclusive) {
    HR_DYNAMIC_SHARED(Vector, stage);
    __shared__ Ring ring;
    const Arrays arrays{in, out, count, static_cast<u32>((count + stage_items - 1) / stage_items)};
    const Totals totals(memory, epoch);
    if (threadIdx.x < stages) {
        ring.full[threadIdx.x].begin(tile::movers);
        ring.reduced[threadIdx.x].begin(reducers);
        ring.known[threadIdx.x].begin(2);
        ring.scanned[threadIdx.x].begin(scanners);
    }
    tile::gates_begun();
    const u32 warp = tile::warp();
    if (warp < scanners) {
        scan_tiles(arrays.tiles, exclusive != 0, ring, stage);
    } else if (warp < scanners + reducers) {
        reduce(arrays.tiles, totals, ring, stage);
    } else if (warp == scanners + reducers) {
        look_back(arrays.tiles, totals, ring);
    } else {
        move(arrays, totals, ring, stage);
    }
}
