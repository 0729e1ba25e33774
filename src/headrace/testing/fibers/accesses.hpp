// Checks every memory access of a kernel before it happens (called from hooks.hpp). The checks find the memory that it
// belongs to, and whether this thread may access it now. Cost: a call and a few comparisons; for shared memory, a cell
// for each byte.
#pragma once
#include "testing/fibers/arrays.hpp"
#include "testing/fibers/shared.hpp"

extern "C" {
// The program's image: constant tables and device variables.
[[gnu::visibility("hidden")]] extern const char __ehdr_start[], _end[];
}

namespace headrace::fibers {

// Return the array whose begin or end is nearest to an address outside all arrays.
inline void tell_nearest(u64 address) {
    u64 best = ~0ull;
    for (u64 i = 0; i < device.launch->range_count; ++i) {
        const AddressRange& range = device.launch->ranges[i];
        const u64 last = range.low + range.size;
        const u64 distance = address >= last ? address - last : address < range.low ? range.low - address : 0;
        if (distance >= best) continue;
        best = distance;
        device.finding.near = range;
        device.finding.offset = static_cast<long long>(address - range.low);
    }
}

// No array begins in the first page, so an access there is through a null pointer and an index.
constexpr u64 MAX_NULL_OFFSET = 4096;

[[noreturn]] inline void stop_outside(FaultKind found, u64 address, u64 size, bool is_write, const void* where) {
    device.finding.address = address;
    device.finding.size = size;
    device.finding.is_write = is_write;
    if (address < MAX_NULL_OFFSET) stop(FaultKind::UNDEFINED, where, "a null pointer is used");
    tell_nearest(address);
    const BlockState& block = *device.running->block;
    const u64 dynamic = reinterpret_cast<u64>(block.dynamic), around = 4096;
    if (address - (dynamic - around) < device.launch->shared + 2 * around) {
        device.finding.offset = static_cast<long long>(address - dynamic);
        device.finding.near = {dynamic, device.launch->shared, ~0u, 1, 0};
    }
    stop(found, where);
}

inline void touch(const volatile void* p, u64 size, Access access, bool whole, const void* where) {
    Fiber* me = device.running;
    if (!me || !ACCESSES_ARE_SEEN || size == 0) return;  // the program is still being loaded
    const u64 address = reinterpret_cast<u64>(p);
    if (address - reinterpret_cast<u64>(device.stack) < device.stack_bytes) return;
    const bool is_write = writes(access);
    if (is_write) progress();
    const u64 in_statics = address - statics_low();
    if (in_statics < statics_size()) return touch_shared(in_statics, size, access, whole, where);
    const u64 in_dynamic = address - reinterpret_cast<u64>(me->block->dynamic);
    if (in_dynamic < device.launch->shared && device.launch->shared - in_dynamic >= size) {
        return touch_shared(statics_size() + in_dynamic, size, access, whole, where);
    }
    if (const AddressRange* range = range_of(address, size)) {
        if (is_write && !range->writable) stop_outside(FaultKind::READ_ONLY, address, size, true, where);
        touch_array(*range, address, size, access, whole, where);
        return;
    }
    const u64 image = reinterpret_cast<u64>(__ehdr_start);
    if (address - image < reinterpret_cast<u64>(_end) - image) return;
    if (static_cast<char*>(__builtin_frame_address(0)) < me->stack + STACK_LEFT) stop(FaultKind::STACK, where);
    const u64 in_stacks = address - reinterpret_cast<u64>(me->block->stacks);
    const bool others = in_stacks < device.launch->stack_bytes * device.threads;
    stop_outside(others ? FaultKind::OTHERS_LOCALS : FaultKind::OUT_OF_BOUNDS, address, size, is_write, where);
}

inline void touch_volatile(const volatile void* p, u64 size, bool is_write, const void* where) {
    if (!device.running) return;
    interleave(where);
    const u64 before = device.since_progress;
    touch(p, size, is_write ? Access::VOLATILE_WRITE : Access::VOLATILE_READ, true, where);
    device.since_progress = before;
    if (is_write && size <= 8) {
        device.pending = p;
        device.pending_size = size;
        device.pending_value = 0;
        memcpy(&device.pending_value, const_cast<const void*>(p), size);
    }
}

template <class T>
u64 changed(Atomic what, u64 old_bits, u64 operand_bits, u64 expected) {
    T old, operand;
    memcpy(&old, &old_bits, sizeof old);
    memcpy(&operand, &operand_bits, sizeof operand);
    T result = operand;
    switch (what) {
        case Atomic::ADD:
            if constexpr (static_cast<T>(0.5) == 0) {
                result = static_cast<T>(static_cast<u64>(old) + static_cast<u64>(operand));
            } else {
                result = old + operand;
            }
            break;
        case Atomic::MIN:
            result = operand < old ? operand : old;
            break;
        case Atomic::MAX:
            result = old < operand ? operand : old;
            break;
        case Atomic::INCREMENT:
            result = old >= operand ? T(0) : static_cast<T>(old + 1);
            break;
        case Atomic::DECREMENT:
            result = old == 0 || old > operand ? operand : static_cast<T>(old - 1);
            break;
        case Atomic::AND:
            return old_bits & operand_bits;
        case Atomic::OR:
            return old_bits | operand_bits;
        case Atomic::XOR:
            return old_bits ^ operand_bits;
        case Atomic::EXCHANGE:
            return operand_bits;
        case Atomic::COMPARE_AND_SWAP:
            return old_bits == expected ? operand_bits : old_bits;
    }
    u64 bits = 0;
    memcpy(&bits, &result, sizeof result);
    return bits;
}

inline u64 changed(Atomic what, Type type, u64 old, u64 operand, u64 expected) {
    switch (type) {
        case Type::U16:
            return changed<u16>(what, old, operand, expected);
        case Type::U32:
            return changed<u32>(what, old, operand, expected);
        case Type::U64:
            return changed<u64>(what, old, operand, expected);
        case Type::I32:
            return changed<i32>(what, old, operand, expected);
        case Type::I64:
            return changed<i64>(what, old, operand, expected);
        case Type::F32:
            return changed<float>(what, old, operand, expected);
        default:
            return changed<double>(what, old, operand, expected);
    }
}

u64 atomic(Atomic what, Type type, void* address, u64 operand, u64 expected) {
    const void* where = __builtin_return_address(0);
    const u64 size = type == Type::U16 ? 2 : type == Type::U32 || type == Type::I32 || type == Type::F32 ? 4 : 8;
    interleave(where);
    ++device.counts.atomics;
    const u64 before = device.since_progress;
    if (reinterpret_cast<u64>(address) % size) stop(FaultKind::UNDEFINED, where, "a misaligned atomic");
    touch(address, size, Access::ATOMIC, true, where);
    device.since_progress = before;
    u64 old = 0;
    memcpy(&old, address, size);
    const u64 now = changed(what, type, old, operand, expected);
    if (what == Atomic::COMPARE_AND_SWAP && old != expected) ++device.counts.lost_swaps;
    if (now != old) progress();
    memcpy(address, &now, size);
    return old;
}

void load_16(const void* from, void* to) {
    touch_volatile(from, 16, false, __builtin_return_address(0));
    memcpy(to, from, 16);
}

void store_16(void* to, const void* from) {
    touch_volatile(to, 16, true, __builtin_return_address(0));
    if (memcmp(to, from, 16) != 0) progress();
    memcpy(to, from, 16);
}

void fence(Scope scope) {
    Fiber& me = *device.running;
    ++me.fences;
    if (scope == Scope::DEVICE) device.fenced[me.block->number] = ++device.time;
    interleave(__builtin_return_address(0));
}

void pause() { interleave(__builtin_return_address(0)); }
void trap() { stop(FaultKind::TRAP, __builtin_return_address(0), "__trap()"); }

}  // namespace headrace::fibers
