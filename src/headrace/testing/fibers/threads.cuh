// Implements barriers of a block and collectives of a warp (CUDA C++ Programming Guide, "Warp Vote", "Warp Match",
// "Warp Reduce", "Warp Shuffle Functions"). Each passes its calling line to the harness.
#pragma once
#include "testing/fibers/interface.hpp"

#define FIBERS_LINE int line = __builtin_LINE()

namespace headrace::fibers {

template <class T>
u64 word_of(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warps exchange values of 4 and 8 bytes");
    if constexpr (sizeof(T) == 4) {
        return __builtin_bit_cast(u32, value);
    } else {
        return __builtin_bit_cast(u64, value);
    }
}

template <class T>
T value_of(u64 word) {
    if constexpr (sizeof(T) == 4) {
        return __builtin_bit_cast(T, static_cast<u32>(word));
    } else {
        return __builtin_bit_cast(T, word);
    }
}

// Small integers are exchanged as int, like CUDA's overloads.
template <class T>
auto shuffle(unsigned mask, T value, unsigned source, int line) {
    using Exchanged = decltype(+value);
    return value_of<Exchanged>(meet(Collective::SHUFFLE, mask, word_of<Exchanged>(value), source, line));
}

}  // namespace headrace::fibers

inline void __syncthreads(FIBERS_LINE) { headrace::fibers::meet_block(headrace::fibers::SyncKind::PLAIN, 0, line); }
inline int __syncthreads_count(int predicate, FIBERS_LINE) {
    return headrace::fibers::meet_block(headrace::fibers::SyncKind::COUNT, predicate, line);
}
inline int __syncthreads_and(int predicate, FIBERS_LINE) {
    return headrace::fibers::meet_block(headrace::fibers::SyncKind::AND, predicate, line);
}
inline int __syncthreads_or(int predicate, FIBERS_LINE) {
    return headrace::fibers::meet_block(headrace::fibers::SyncKind::OR, predicate, line);
}

inline void __syncwarp(unsigned mask = ~0u, FIBERS_LINE) {
    headrace::fibers::meet(headrace::fibers::Collective::SYNC, mask, 0, 0, line);
}
inline unsigned __activemask(FIBERS_LINE) {
    return static_cast<unsigned>(headrace::fibers::meet(headrace::fibers::Collective::ACTIVE, ~0u, 0, 0, line));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, FIBERS_LINE) {
    return static_cast<unsigned>(
        headrace::fibers::meet(headrace::fibers::Collective::BALLOT, mask, predicate != 0, 0, line));
}
inline int __any_sync(unsigned mask, int predicate, FIBERS_LINE) { return __ballot_sync(mask, predicate, line) != 0; }
inline int __all_sync(unsigned mask, int predicate, FIBERS_LINE) { return __ballot_sync(mask, !predicate, line) == 0; }

template <class T>
unsigned __match_any_sync(unsigned mask, T value, FIBERS_LINE) {
    using namespace headrace::fibers;
    return static_cast<unsigned>(meet(Collective::MATCH_ANY, mask, word_of<decltype(+value)>(value), 0, line));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all, FIBERS_LINE) {
    using namespace headrace::fibers;
    const unsigned long long alike = meet(Collective::MATCH_ALL, mask, word_of<decltype(+value)>(value), 0, line);
    *all = alike != 0;
    return static_cast<unsigned>(alike);
}

#define FIBERS_REDUCE(name, what)                                                        \
    inline unsigned __reduce_##name##_sync(unsigned mask, unsigned value, FIBERS_LINE) { \
        using namespace headrace::fibers;                                                \
        return static_cast<unsigned>(meet(Collective::what, mask, value, 0, line));      \
    }
FIBERS_REDUCE(add, ADD)
FIBERS_REDUCE(min, MIN)
FIBERS_REDUCE(max, MAX)
FIBERS_REDUCE(and, AND)
FIBERS_REDUCE(or, OR)
FIBERS_REDUCE(xor, XOR)
#undef FIBERS_REDUCE
inline int __reduce_add_sync(unsigned mask, int value, FIBERS_LINE) {
    return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value), line));
}
// Signed numbers keep their order as unsigned ones if the sign bit is flipped.
inline int __reduce_min_sync(unsigned mask, int value, FIBERS_LINE) {
    return static_cast<int>(__reduce_min_sync(mask, static_cast<unsigned>(value) ^ 0x80000000u, line) ^ 0x80000000u);
}
inline int __reduce_max_sync(unsigned mask, int value, FIBERS_LINE) {
    return static_cast<int>(__reduce_max_sync(mask, static_cast<unsigned>(value) ^ 0x80000000u, line) ^ 0x80000000u);
}

// Lane `l` in a segment of `width` lanes: l & -width is the segment's first lane, l & (width - 1) its index there.
template <class T>
auto __shfl_sync(unsigned mask, T value, int source, int width = 32, FIBERS_LINE) {
    const int lane = static_cast<int>(headrace::fibers::lane_index());
    return headrace::fibers::shuffle(mask, value, static_cast<unsigned>((lane & -width) | (source & (width - 1))),
                                     line);
}
template <class T>
auto __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, FIBERS_LINE) {
    const unsigned lane = headrace::fibers::lane_index();
    const unsigned place = lane & static_cast<unsigned>(width - 1);
    return headrace::fibers::shuffle(mask, value, place >= delta ? lane - delta : lane, line);
}
template <class T>
auto __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, FIBERS_LINE) {
    const unsigned lane = headrace::fibers::lane_index();
    const unsigned place = lane & static_cast<unsigned>(width - 1);
    return headrace::fibers::shuffle(mask, value, place + delta < static_cast<unsigned>(width) ? lane + delta : lane,
                                     line);
}
template <class T>
auto __shfl_xor_sync(unsigned mask, T value, int turned, int width = 32, FIBERS_LINE) {
    const int lane = static_cast<int>(headrace::fibers::lane_index());
    const int source = lane ^ turned;
    return headrace::fibers::shuffle(mask, value, static_cast<unsigned>(source <= (lane | (width - 1)) ? source : lane),
                                     line);
}
#undef FIBERS_LINE

inline void __threadfence() { headrace::fibers::fence(headrace::fibers::Scope::DEVICE); }
inline void __threadfence_block() { headrace::fibers::fence(headrace::fibers::Scope::BLOCK); }
inline void __nanosleep(unsigned) { headrace::fibers::pause(); }
[[noreturn]] inline void __trap() { headrace::fibers::trap(); }
