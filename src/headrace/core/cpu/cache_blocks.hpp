// Divides an array into blocks that stay in one core's L2 cache while they are read, then read again or written.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/cpu/portable.hpp"
#include "core/cpu/threads/interrupt.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {

constexpr u64 piece_bytes = 256 << 10;
constexpr u64 taken_from = 4 << 20;

struct Pieces {
    u64 count;   // items in all
    u64 length;  // items a piece

    Pieces(u64 items, u64 bytes_of_item) : count(items), length(piece_bytes / bytes_of_item) {}
    u64 number() const { return (count + length - 1) / length; }
    u64 begin(u64 piece) const { return piece * length; }
    u64 size(u64 piece) const { return std::min(length, count - begin(piece)); }
};

// Call work(i) for each i < number that this thread takes. After an exception no thread takes another. Interrupts are
// thrown between two pieces, so every piece that was taken is finished.
template <class Work>
void take_each(std::atomic<u64>& next, u64 number, const Work& work) {
    try {
        while (true) {
            check_interrupt();
            const u64 i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= number) return;
            work(i);
        }
    } catch (...) {
        next.store(number, std::memory_order_relaxed);
        throw;
    }
}

// Call work(state, i) for each i < number on at most number / 2 threads. Threads take numbers in order, so a slow
// thread takes fewer, and work on one number may wait for lower ones. `begin` makes a thread's state; `finish` gets it
// at the end.
template <class Begin, class Work, class Finish>
void for_each_piece(u64 number, unsigned threads, const Begin& begin, const Work& work, const Finish& finish) {
    std::atomic<u64> next{0};
    run_parallel(static_cast<unsigned>(std::clamp<u64>(number / 2, 1, threads)), [&](unsigned) {
        auto state = begin();
        take_each(next, number, [&](u64 i) { work(state, i); });
        finish(state);
    });
}

template <class Begin, class Work>
void for_each_piece(u64 number, unsigned threads, const Begin& begin, const Work& work) {
    for_each_piece(number, threads, begin, work, [](auto&) {});
}

template <class Work>
void for_each_piece(u64 number, unsigned threads, const Work& work) {
    for_each_piece(number, threads, [] { return 0; }, [&](int, u64 piece) { work(piece); });
}

// Touch the pages of a large result before several threads write to it. Each huge page is then cleared once, in
// parallel. Otherwise threads that fault on the same page at once would each clear a page, and all but one would be
// discarded.
inline void take_pages(void* begin, u64 bytes, unsigned threads) {
    constexpr u64 page = 4096, huge_page = 2 << 20;
    if (threads == 1 || bytes < taken_from) return;
    auto* const first = static_cast<u8*>(begin);
    const u64 past = reinterpret_cast<u64>(begin) % huge_page;
    for_each_piece((past + bytes + huge_page - 1) / huge_page, threads, [&](u64 piece) {
        const u64 end = std::min(bytes, (piece + 1) * huge_page - past);
        for (u64 at = piece == 0 ? 0 : piece * huge_page - past; at < end; at += page) {
            *static_cast<volatile u8*>(first + at) = 0;
        }
    });
}

}  // namespace headrace
