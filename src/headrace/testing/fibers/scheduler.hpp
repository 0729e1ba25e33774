// Schedules threads as fibers: each has a stack and runs until it waits or accesses memory that others may change.
//
// Several blocks are resident at a time. At every atomic and volatile access (`interleave`) another thread may run: of
// the same warp, of the block, or of another block. FORWARD and REVERSE are round-robin in the order of the threads,
// and RANDOM draws. A spin is found by counting such accesses since the last change; a deadlock is found when no thread
// is ready.
#pragma once
#include <sys/mman.h>
#include <time.h>

#include <cstring>

#include "testing/fibers/state.hpp"

namespace headrace::fibers {

extern "C" void fibers_switch(void** from, void* to);
asm(R"(
    .text
    .hidden fibers_switch
    .globl fibers_switch
    .type fibers_switch, @function
fibers_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size fibers_switch, .-fibers_switch
)");

[[noreturn]] inline void stop(FaultKind found, const void* where, const char* text = "") {
    Finding& finding = device.finding;
    finding.found = found;
    finding.where = where;
    finding.waiting = device.total - device.started;
    strncpy(finding.text, text, sizeof finding.text - 1);
    if (device.running) {
        finding.block = device.running->block->index;
        finding.thread = device.running->thread;
        device.running->where = where;
    }
    void* nowhere;
    fibers_switch(&nowhere, device.caller);  // the fibers are abandoned
    __builtin_unreachable();
}

inline double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline u64 draw() {  // xorshift (Marsaglia 2003)
    u64& x = device.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

inline void progress() { device.since_progress = 0; }

// Return a set bit of `mask`: the next above (FORWARD) or below (REVERSE) `after`, cyclically; any one (RANDOM).
inline u32 pick(u32 mask, u32 after) {
    if (device.launch->order == Order::RANDOM) {
        for (u32 left = static_cast<u32>(draw() % static_cast<u32>(__builtin_popcount(mask))); left; --left)
            mask &= mask - 1;
        return static_cast<u32>(__builtin_ctz(mask));
    }
    if (device.launch->order == Order::REVERSE) {
        const u32 below = mask & ((1u << after) - 1);
        return 31 - static_cast<u32>(__builtin_clz(below ? below : mask));
    }
    const u32 above = after < 31 ? mask & (~0u << (after + 1)) : 0;
    return static_cast<u32>(__builtin_ctz(above ? above : mask));
}

inline void make_ready(BlockState& block, u32 warp, u32 lanes) {
    block.warps[warp].ready |= lanes;
    block.ready_warps |= 1u << warp;
    device.ready_blocks |= 1u << block.slot;
}

inline void make_wait(BlockState& block, u32 warp, u32 lanes) {
    if (block.warps[warp].ready &= ~lanes) return;
    if (block.ready_warps &= ~(1u << warp)) return;
    device.ready_blocks &= ~(1u << block.slot);
}

void load_statics(BlockState& block);  // shared.hpp

inline void make_running(Fiber* fiber) {
    if (device.loaded != fiber->block) load_statics(*fiber->block);
    device.running = fiber;
    device.stack = fiber->stack;
}

inline void go_to(Fiber* to) {
    Fiber* from = device.running;
    if (to == from) return;
    ++device.counts.switches;
    make_running(to);
    fibers_switch(&from->stack_pointer, to->stack_pointer);
}

// Start of the round in the next warp, block or device, for each order.
inline u32 before_first() { return device.launch->order == Order::REVERSE ? 0 : 31; }

inline Fiber* any_of(BlockState& block, u32 warp) {
    return &block.fibers[warp * LANES + pick(block.warps[warp].ready, before_first())];
}
inline Fiber* any_of(BlockState& block) { return any_of(block, pick(block.ready_warps, before_first())); }

void settle_active(BlockState& block, u32 warp);  // collectives.hpp
[[noreturn]] void stop_for_deadlock();

// The running fiber waits or has returned: switch to another one.
inline void leave() {
    Fiber* me = device.running;
    BlockState& block = *me->block;
    if (!block.warps[me->warp].ready) settle_active(block, me->warp);
    const u32 ready = block.warps[me->warp].ready;
    const bool wander = device.launch->order == Order::RANDOM && (draw() & 7) == 0;
    if (ready && !wander) return go_to(&block.fibers[me->warp * LANES + pick(ready, me->lane)]);
    if (block.ready_warps) return go_to(any_of(block, pick(block.ready_warps, me->warp)));
    if (device.ready_blocks) return go_to(any_of(*device.resident[pick(device.ready_blocks, block.slot)]));
    if (device.finished) {
        fibers_switch(&me->stack_pointer, device.caller);
        __builtin_unreachable();
    }
    stop_for_deadlock();
}

// Choose the next thread round-robin: lanes of the warp, then warps, then blocks. A lane that arrives here twice in its
// warp's turn ends that turn, and a warp that does so ends its block's turn. The remaining lanes may never arrive here,
// because they wait for those that do.
inline Fiber* next_in_round(Fiber* me) {
    BlockState& block = *me->block;
    Warp& warp = block.warps[me->warp];
    const bool reverse = device.launch->order == Order::REVERSE;
    const auto rest = [reverse](u32 mask, u32 of) {
        return reverse ? mask & ((1u << of) - 1) : of < 31 ? mask & (~0u << (of + 1)) : 0;
    };
    const auto is_again = [](u32& passed, u32 of) {
        const bool again = passed >> of & 1;
        passed |= 1u << of;
        return again;
    };
    if (!is_again(warp.passed, me->lane) && rest(warp.ready, me->lane))
        return &block.fibers[me->warp * LANES + pick(warp.ready, me->lane)];
    warp.passed = 0;
    if (!is_again(block.passed, me->warp) && rest(block.ready_warps, me->warp))
        return any_of(block, pick(block.ready_warps, me->warp));
    block.passed = 0;
    return any_of(*device.resident[pick(device.ready_blocks, block.slot)]);
}

// Choose the same thread half of the time; otherwise another lane of the warp, another warp, or another block, if there
// is one.
inline Fiber* drawn(Fiber* me) {
    const u64 chance = draw() >> 20;
    if (chance & 1) return me;
    BlockState& block = *me->block;
    const u32 lanes = block.warps[me->warp].ready & ~(1u << me->lane);
    const u32 warps = block.ready_warps & ~(1u << me->warp);
    const u32 blocks = device.ready_blocks & ~(1u << block.slot);
    const u32 far = chance >> 1 & 7;
    if (lanes && (far < 4 || !(warps | blocks))) return &block.fibers[me->warp * LANES + pick(lanes, 0)];
    if (warps && (far < 6 || !blocks)) return any_of(block, pick(warps, 0));
    return blocks ? any_of(*device.resident[pick(blocks, 0)]) : me;
}

// A volatile store that has completed counts as progress if it changed the value.
inline void settle_pending() {
    u64 value = 0;
    memcpy(&value, const_cast<const void*>(device.pending), device.pending_size);
    if (value != device.pending_value) progress();
    device.pending = nullptr;
}

// The running fiber is about to read or write memory that other threads may change.
inline void interleave(const void* where) {
    ++device.counts.interleavings;
    device.alone = 0;
    Fiber* me = device.running;
    me->where = where;
    if (device.pending) settle_pending();
    if (++device.since_progress > device.spin_limit && device.launch->find_spins) stop(FaultKind::SPIN, where);
    if ((device.counts.interleavings & 0xFFFF) == 0 && now() > device.deadline) stop(FaultKind::TIME, where);
    go_to(device.launch->order == Order::RANDOM ? drawn(me) : next_in_round(me));
}

}  // namespace headrace::fibers
