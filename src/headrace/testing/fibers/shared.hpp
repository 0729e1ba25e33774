// Tracks the shared memory of the resident blocks. Static variables are in one section of the program, whose touched
// part is swapped by copying when another block runs. Each block has its own dynamic memory.
//
// Each byte has a cell with its last accesses, in epochs that barriers begin. Accesses of two threads, one of them a
// write, without a barrier between them are a race. The exception is a writer that has passed a fence since and may
// have set a flag.
#pragma once
#include "testing/fibers/scheduler.hpp"

extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern char __start_fibers_shared[], __stop_fibers_shared[];
}

namespace headrace::fibers {

inline u64 statics_low() { return reinterpret_cast<u64>(__start_fibers_shared); }
inline u64 statics_size() { return reinterpret_cast<u64>(__stop_fibers_shared) - statics_low(); }

// Not memcpy and memset, which the address sanitizer checks: the section may contain its red zones.
inline void copy_bytes(char* to, const char* from, u64 n) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
inline void fill_bytes(char* to, u32 byte, u64 n) {
    asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
}

inline void load_statics(BlockState& block) {
    ++device.counts.block_switches;
    if (device.touched_low < device.touched_high) {
        const u64 low = device.touched_low, n = device.touched_high - low, at = low - statics_low();
        if (device.loaded) copy_bytes(device.loaded->statics + at, reinterpret_cast<char*>(low), n);
        copy_bytes(reinterpret_cast<char*>(low), block.statics + at, n);
    }
    device.loaded = &block;
}

[[noreturn]] inline void stop_at(FaultKind found, const Cell& cell, u64 place, u64 size, bool is_write, u16 other,
                                 const void* where) {
    Finding& finding = device.finding;
    finding.offset = static_cast<long long>(place);
    finding.size = size;
    finding.is_write = is_write;
    finding.other_thread = device.running->block->fibers[other].thread;
    finding.other_where = found != FaultKind::RACE              ? nullptr
                          : cell.write_epoch >= cell.read_epoch ? cell.write_where
                                                                : cell.read_where;
    stop(found, where);
}

// Return whether a fence and a flag may order the write before `me`'s access.
inline bool fenced(const BlockState& block, const Cell& cell) {
    return block.fibers[cell.writer].fences > cell.writer_fences;
}

inline void check_read(BlockState& block, const Fiber& me, const Cell& cell, u64 place, u64 size, const void* where) {
    if (!device.launch->find_races || cell.write_epoch != block.epoch || cell.writer == me.number) return;
    const bool same_warp = cell.writer / LANES == me.warp;
    if (same_warp && cell.write_warp_epoch != block.warps[me.warp].epoch) return;
    if (!fenced(block, cell)) stop_at(FaultKind::RACE, cell, place, size, false, cell.writer, where);
}

inline void check_write(BlockState& block, const Fiber& me, const Cell& cell, u64 place, u64 size, const void* where) {
    if (!device.launch->find_races || cell.read_epoch != block.epoch) return;
    const bool same_warp = cell.reader / LANES == me.warp && !cell.readers_of_many_warps;
    if (same_warp &&
        (cell.read_warp_epoch != block.warps[me.warp].epoch || (cell.reader == me.number && !cell.many_readers)))
        return;
    if (block.fibers[cell.reader].fences == 0) stop_at(FaultKind::RACE, cell, place, size, true, cell.reader, where);
}

inline void note_read(BlockState& block, const Fiber& me, Cell& cell, const void* where) {
    const u32 warp_epoch = block.warps[me.warp].epoch;
    if (cell.read_epoch != block.epoch) {
        cell.readers_of_many_warps = false;
        cell.many_readers = false;
        cell.reader = me.number;
    } else if (cell.reader / LANES != me.warp) {
        cell.readers_of_many_warps = true;
    } else if (cell.read_warp_epoch != warp_epoch) {
        cell.many_readers = false;
        cell.reader = me.number;
    } else if (cell.reader != me.number) {
        cell.many_readers = true;
    }
    cell.read_epoch = block.epoch;
    cell.read_warp_epoch = warp_epoch;
    cell.read_where = where;
}

inline void note_write(BlockState& block, const Fiber& me, Cell& cell, const void* where) {
    cell.write_epoch = block.epoch;
    cell.write_warp_epoch = block.warps[me.warp].epoch;
    cell.writer = me.number;
    cell.writer_fences = me.fences;
    cell.write_where = where;
}

inline bool in_one_variable(u64 place, u64 size) {
    const u16* owners = device.launch->owners;
    return place + size <= statics_size() && owners[place] && owners[place] == owners[place + size - 1];
}

// `place`: offset of the first byte; static variables come first, dynamic memory follows.
inline void touch_shared(u64 place, u64 size, Access access, bool whole, const void* where) {
    Fiber& me = *device.running;
    BlockState& block = *me.block;
    if (place < statics_size() && !in_one_variable(place, size)) {
        device.finding.near = {statics_low(), statics_size(), ~0u - 1, 1, 0};
        stop_at(FaultKind::OUT_OF_BOUNDS, {}, place, size, access != Access::READ && access != Access::VOLATILE_READ,
                me.number, where);
    }
    Cell* cells = block.cells + place;
    if (access != Access::WRITE && access != Access::VOLATILE_WRITE && device.launch->find_uninitialised) {
        // A copied structure may have padding that is never written, so one written byte suffices.
        u64 written = 0;
        for (u64 i = 0; i < size; ++i) written += cells[i].write_epoch >= block.first_epoch;
        if (whole ? written < size : written == 0)
            stop_at(FaultKind::UNINITIALISED, cells[0], place, size, false, me.number, where);
    }
    for (u64 i = 0; i < size; ++i) {
        if (access == Access::READ) {
            check_read(block, me, cells[i], place + i, size, where);
            note_read(block, me, cells[i], where);
        } else if (access == Access::WRITE) {
            check_write(block, me, cells[i], place + i, size, where);
            note_write(block, me, cells[i], where);
        } else if (access != Access::VOLATILE_READ) {
            if (access == Access::ATOMIC) check_write(block, me, cells[i], place + i, size, where);
            note_write(block, me, cells[i], where);
        }
    }
    if (place < statics_size()) {
        const u64 low = statics_low() + place;
        if (low < device.touched_low) device.touched_low = low;
        if (low + size > device.touched_high) device.touched_high = low + size;
    }
}

}  // namespace headrace::fibers
