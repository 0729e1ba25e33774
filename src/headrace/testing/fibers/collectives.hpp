// Implements waits between fibers: collectives of the lanes in a mask, and barriers of a block. Threads that have
// returned are not waited for, as on GPUs since sm_70.
#pragma once
#include "testing/fibers/scheduler.hpp"

namespace headrace::fibers {

[[noreturn]] inline void stop_for_deadlock() {
    bool at_barrier = false, elsewhere = false;
    for (u32 slot = 0; slot < device.slots; ++slot) {
        for (u32 i = 0; i < device.threads; ++i) {
            const Doing doing = device.resident[slot]->fibers[i].doing;
            at_barrier |= doing == Doing::AT_BARRIER;
            elsewhere |= doing == Doing::IN_COLLECTIVE;
        }
    }
    stop(at_barrier && elsewhere ? FaultKind::DIVERGENT_BARRIER : FaultKind::DEADLOCK, device.running->where);
}

inline u64 combined(Collective what, u64 a, u64 b) {
    switch (what) {
        case Collective::ADD:
            return a + b;
        case Collective::MIN:
            return a < b ? a : b;
        case Collective::MAX:
            return a > b ? a : b;
        case Collective::AND:
            return a & b;
        case Collective::XOR:
            return a ^ b;
        default:
            return a | b;
    }
}

inline u32 alike(Fiber* lanes, u32 among, u64 value) {
    u32 found = 0;
    for (u32 left = among; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        found |= static_cast<u32>(lanes[lane].value == value) << lane;
    }
    return found;
}

inline void give_results(Fiber* lanes, u32 there, Collective what) {
    u64 all = 0;
    bool first = true;
    for (u32 left = there; left; left &= left - 1) {
        const Fiber& fiber = lanes[__builtin_ctz(left)];
        const u64 own = what == Collective::BALLOT ? fiber.value << fiber.lane : fiber.value;
        all = first ? own : combined(what, all, own);
        first = false;
    }
    for (u32 left = there; left; left &= left - 1) {
        Fiber& fiber = lanes[__builtin_ctz(left)];
        if (what == Collective::SHUFFLE) {
            if (!(there >> fiber.source & 1)) {
                device.running = &fiber;
                stop(FaultKind::WRONG_MASK, fiber.where, "a shuffle from a lane that is not there");
            }
            fiber.result = lanes[fiber.source].value;
        } else if (what == Collective::MATCH_ANY) {
            fiber.result = alike(lanes, there, fiber.value);
        } else if (what == Collective::MATCH_ALL) {
            fiber.result = alike(lanes, there, fiber.value) == there ? there : 0;
        } else {
            fiber.result = all;
        }
    }
}

inline void resume(BlockState& block, u32 warp, u32 lanes) {
    block.warps[warp].waiting &= ~lanes;
    for (u32 left = lanes; left; left &= left - 1) {
        block.fibers[warp * LANES + static_cast<u32>(__builtin_ctz(left))].doing = Doing::READY;
    }
    make_ready(block, warp, lanes);
}

// Complete the collective of `mask` if all of its lanes that have not returned have arrived.
inline bool finish(BlockState& block, u32 number, u32 mask) {
    Warp& warp = block.warps[number];
    Fiber* lanes = &block.fibers[number * LANES];
    const u32 needed = mask & warp.live;
    if (!needed || (warp.waiting & needed) != needed) return false;
    const Fiber& first = lanes[__builtin_ctz(needed)];
    if (first.what == Collective::ACTIVE) return false;
    for (u32 left = needed; left; left &= left - 1) {
        const Fiber& fiber = lanes[__builtin_ctz(left)];
        if (fiber.what == Collective::ACTIVE || fiber.mask != mask) return false;
        if (fiber.what != first.what || fiber.line != first.line) {
            stop(FaultKind::DIVERGENT_COLLECTIVE, fiber.where, "lanes of one mask are at different collectives");
        }
    }
    give_results(lanes, needed, first.what);
    if (first.what == Collective::SYNC) warp.epoch = ++device.epochs;
    device.counts.collectives += static_cast<u64>(__builtin_popcount(needed));
    resume(block, number, needed);
    return true;
}

// No lane of the warp can run, so release the lanes waiting in __activemask, one source line at a time. In random order
// only some of them are released together, since CUDA does not promise convergence.
inline void settle_active(BlockState& block, u32 number) {
    Warp& warp = block.warps[number];
    Fiber* lanes = &block.fibers[number * LANES];
    u32 asking = 0;
    for (u32 left = warp.waiting; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (lanes[lane].what == Collective::ACTIVE) asking |= 1u << lane;
    }
    if (!asking) return;
    const int line = lanes[__builtin_ctz(asking)].line;
    u32 together = 0;
    for (u32 left = asking; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (lanes[lane].line == line) together |= 1u << lane;
    }
    if (device.launch->order == Order::RANDOM && (draw() & 1)) {
        const u32 some = together & static_cast<u32>(draw() >> 16);
        if (some) together = some;
    }
    for (u32 left = together; left; left &= left - 1) lanes[__builtin_ctz(left)].result = together;
    resume(block, number, together);
}

inline void finish_all(BlockState& block, u32 number) {
    for (u32 left = block.warps[number].waiting; left;) {
        const int lane = __builtin_ctz(left);
        left &= left - 1;
        if (finish(block, number, block.fibers[number * LANES + static_cast<u32>(lane)].mask))
            left &= block.warps[number].waiting;
    }
}

u64 meet(Collective what, unsigned mask, u64 value, unsigned source, int line) {
    Fiber* me = device.running;
    BlockState& block = *me->block;
    me->where = __builtin_return_address(0);
    device.alone = 0;
    if (!(mask >> me->lane & 1)) stop(FaultKind::WRONG_MASK, me->where, "the mask leaves the calling lane out");
    me->what = what;
    me->mask = mask;
    me->value = value;
    me->source = source;
    me->line = line;
    me->doing = Doing::IN_COLLECTIVE;
    block.warps[me->warp].waiting |= 1u << me->lane;
    make_wait(block, me->warp, 1u << me->lane);
    if (!finish(block, me->warp, mask)) leave();
    return me->result;
}

inline void release(BlockState& block) {
    for (u32 number = 0; number < device.warps; ++number) {
        Warp& warp = block.warps[number];
        warp.epoch = ++device.epochs;
        if (!warp.live) continue;
        for (u32 left = warp.live; left; left &= left - 1) {
            Fiber& fiber = block.fibers[number * LANES + static_cast<u32>(__builtin_ctz(left))];
            fiber.doing = Doing::READY;
            fiber.result = block.barrier_result;
        }
        make_ready(block, number, warp.live);
    }
    block.epoch = ++device.epochs;
    device.counts.barriers += block.at_barrier;
    block.at_barrier = 0;
    block.barrier_open = false;
}

int meet_block(SyncKind what, int predicate, int line) {
    Fiber* me = device.running;
    BlockState& block = *me->block;
    me->where = __builtin_return_address(0);
    device.alone = 0;
    if (!block.barrier_open) {
        block.barrier_open = true;
        block.barrier = what;
        block.barrier_line = line;
        block.barrier_result = what == SyncKind::AND;
    }
    me->doing = Doing::AT_BARRIER;
    if (block.barrier != what || block.barrier_line != line) stop(FaultKind::DIVERGENT_BARRIER, me->where);
    if (what == SyncKind::COUNT) block.barrier_result += predicate != 0;
    if (what == SyncKind::AND) block.barrier_result &= predicate != 0;
    if (what == SyncKind::OR) block.barrier_result |= predicate != 0;
    make_wait(block, me->warp, 1u << me->lane);
    if (++block.at_barrier == block.live) {
        release(block);
    } else {
        leave();
    }
    return static_cast<int>(me->result);
}

}  // namespace headrace::fibers
