// An array cut into pieces that stay in one core's cache (L2) while they are read, then read again or written.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/pool.hpp"
#include "core/portable.hpp"

namespace headrace {

constexpr u64 piece_bytes = 256 << 10;

struct Pieces {
    u64 count;   // of items
    u64 length;  // items of a piece

    Pieces(u64 items, u64 bytes_of_item) : count(items), length(piece_bytes / bytes_of_item) {}
    u64 number() const { return (count + length - 1) / length; }
    u64 begin(u64 piece) const { return piece * length; }
    u64 size(u64 piece) const { return std::min(length, count - begin(piece)); }
};

// Calls work(state, i) for each i < number, on several threads: each takes the next in order, so a slow thread gets
// fewer, and who works on one may wait for those before it. `begin` makes a thread's state, `finish` is told of it at
// the thread's end.
template <class Begin, class Work, class Finish>
void for_each_piece(u64 number, unsigned threads, const Begin& begin, const Work& work, const Finish& finish) {
    std::atomic<u64> next{0};
    run_parallel(static_cast<unsigned>(std::clamp<u64>(number, 1, threads)), [&](unsigned) {
        auto state = begin();
        for (u64 i; (i = next.fetch_add(1, std::memory_order_relaxed)) < number;) work(state, i);
        finish(state);
    });
}

template <class Work>
void for_each_piece(u64 number, unsigned threads, const Work& work) {
    const auto none = [] { return 0; };
    for_each_piece(number, threads, none, [&](int, u64 piece) { work(piece); }, [](int) {});
}

}  // namespace headrace
