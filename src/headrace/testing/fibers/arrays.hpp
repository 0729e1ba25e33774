// Tracks arrays in global memory: the array of an address, the last writer of each byte, and whether a fence followed.
//
// A plain read of another thread's plain write in the same launch needs an order. Within a block this is a barrier.
// Between blocks it is a fence of the writer's block after the write (the flag after the fence is not checked).
// Otherwise it is a race, whatever the interleaving was. Time is counted in fences.
#pragma once
#include "testing/fibers/scheduler.hpp"

namespace headrace::fibers {

// Last writer of a byte; `time` is 0 if there is none.
struct Written {
    u32 time, block, epoch, warp_epoch;
    u16 thread;
    bool strong;  // written by an atomic or volatile access
    const void* where;
};

// Larger arrays are only checked for their bounds.
constexpr u64 MAX_FOLLOWED = 64 << 20;

inline const AddressRange* range_of(u64 address, u64 size) {
    const auto inside = [=](const AddressRange& range) {
        return address - range.low < range.size && range.size - (address - range.low) >= size;
    };
    if (device.last_range && inside(*device.last_range)) return device.last_range;
    for (u64 i = 0; i < device.launch->range_count; ++i) {
        if (inside(device.launch->ranges[i])) return device.last_range = &device.launch->ranges[i];
    }
    return nullptr;
}

[[noreturn]] inline void stop_in_array(FaultKind found, const AddressRange& range, u64 place, u64 size,
                                       const Written& by, const void* where) {
    Finding& finding = device.finding;
    finding.near = range;
    finding.offset = static_cast<long long>(place);
    finding.size = size;
    if (found == FaultKind::GLOBAL_RACE) {
        const Index threads = device.launch->block;
        finding.other_thread = {by.thread % threads.x, by.thread / threads.x % threads.y,
                                by.thread / threads.x / threads.y};
        finding.other_block = by.block;
        finding.other_where = by.where;
    }
    stop(found, where);
}

// Return whether the write is ordered before the running thread's read, given that the flag was checked.
inline bool ordered(const Written& by) {
    const Fiber& me = *device.running;
    const BlockState& block = *me.block;
    if (by.strong || device.fenced[by.block] > by.time) return true;
    if (by.block != block.number) return false;
    if (by.thread == me.number || by.epoch != block.epoch) return true;
    return by.thread / LANES == me.warp && by.warp_epoch != block.warps[me.warp].epoch;
}

inline void note_written(Written* bytes, u64 size, bool strong, const void* where) {
    const Fiber& me = *device.running;
    const BlockState& block = *me.block;
    for (u64 i = 0; i < size; ++i) {
        bytes[i] = {device.time, block.number, block.epoch, block.warps[me.warp].epoch, me.number, strong, where};
    }
}

// `whole`: every byte of the access counts; false if a structure with padding is copied.
inline void touch_array(const AddressRange& range, u64 address, u64 size, Access access, bool whole,
                        const void* where) {
    Written* bytes = device.written[&range - device.launch->ranges];
    if (!bytes) return;
    const u64 place = address - range.low;
    bytes += place;
    if (access != Access::WRITE && access != Access::VOLATILE_WRITE) {
        u64 known = 0;
        for (u64 i = 0; i < size; ++i) known += bytes[i].time != 0;
        if (range.unwritten && (whole ? known < size : known == 0)) {
            stop_in_array(FaultKind::UNWRITTEN, range, place, size, bytes[0], where);
        }
    }
    if (access == Access::READ && device.launch->find_races) {
        for (u64 i = 0; i < size; ++i) {
            if (bytes[i].time && !ordered(bytes[i]))
                stop_in_array(FaultKind::GLOBAL_RACE, range, place + i, size, bytes[i], where);
        }
    }
    if (writes(access)) note_written(bytes, size, access != Access::WRITE, where);
}

}  // namespace headrace::fibers
