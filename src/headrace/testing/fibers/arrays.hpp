// Arrays in global memory: which one an address is in, who wrote each byte of it last, and whether a fence has
// followed.
//
// A plain read of what another thread has written plainly in the same launch needs an order: in a block a barrier,
// between blocks a fence of the writer's block after the write (the flag behind it is not looked for). Without one it
// is a race, whatever the interleaving was. Time is counted in fences.
#pragma once
#include "testing/fibers/scheduler.hpp"

namespace headrace::fibers {

// The last writer of a byte; `time` 0: none.
struct Written {
    u32 time, block, epoch, warp_epoch;
    u16 thread;
    bool strong;  // by an atomic or volatile access
    const void* where;
};

// Arrays above this size are only held to their bounds.
constexpr u64 MOST_FOLLOWED = 64 << 20;

inline const Range* range_of(u64 address, u64 size) {
    const auto inside = [=](const Range& range) {
        return address - range.low < range.size && range.size - (address - range.low) >= size;
    };
    if (device.last_range && inside(*device.last_range)) return device.last_range;
    for (u64 i = 0; i < device.launch->range_count; ++i) {
        if (inside(device.launch->ranges[i])) return device.last_range = &device.launch->ranges[i];
    }
    return nullptr;
}

[[noreturn]] inline void stop_in_array(Found found, const Range& range, u64 place, u64 size, const Written& by,
                                       const void* where) {
    Finding& finding = device.finding;
    finding.near = range;
    finding.offset = static_cast<long long>(place);
    finding.size = size;
    if (found == Found::GLOBAL_RACE) {
        const Index threads = device.launch->block;
        finding.other_thread = {by.thread % threads.x, by.thread / threads.x % threads.y,
                                by.thread / threads.x / threads.y};
        finding.other_block = by.block;
        finding.other_where = by.where;
    }
    stop(found, where);
}

// Has what `by` wrote become visible to the running thread, if it knows when to look?
inline bool ordered(const Written& by) {
    const Fiber& me = *device.running;
    const Block& block = *me.block;
    if (by.strong || device.fenced[by.block] > by.time) return true;
    if (by.block != block.number) return false;
    if (by.thread == me.number || by.epoch != block.epoch) return true;
    return by.thread / LANES == me.warp && by.warp_epoch != block.warps[me.warp].epoch;
}

inline void note_written(Written* bytes, u64 size, bool strong, const void* where) {
    const Fiber& me = *device.running;
    const Block& block = *me.block;
    for (u64 i = 0; i < size; ++i) {
        bytes[i] = {device.time, block.number, block.epoch, block.warps[me.warp].epoch, me.number, strong, where};
    }
}

// `whole`: each byte of the access counts, as it does not where a structure with padding is copied.
inline void touch_array(const Range& range, u64 address, u64 size, Access access, bool whole, const void* where) {
    Written* bytes = device.written[&range - device.launch->ranges];
    if (!bytes) return;
    const u64 place = address - range.low;
    bytes += place;
    if (access != Access::WRITE && access != Access::VOLATILE_WRITE) {
        u64 known = 0;
        for (u64 i = 0; i < size; ++i) known += bytes[i].time != 0;
        if (range.unwritten && (whole ? known < size : known == 0)) {
            stop_in_array(Found::UNWRITTEN, range, place, size, bytes[0], where);
        }
    }
    if (access == Access::READ && device.launch->find_races) {
        for (u64 i = 0; i < size; ++i) {
            if (bytes[i].time && !ordered(bytes[i]))
                stop_in_array(Found::GLOBAL_RACE, range, place + i, size, bytes[i], where);
        }
    }
    if (writes(access)) note_written(bytes, size, access != Access::WRITE, where);
}

}  // namespace headrace::fibers
