// Sorts keys alone. One thread sorts codes in the result's memory. A few threads first halve them there by quicksort,
// and share the halves. Many threads look at all keys and count digits by a guess. A pass by the highest bits that vary
// moves each thread's keys to separate positions. Then each thread sorts buckets; those too large for a cache get
// another pass by all threads.
#include "arrange/sort/cpu/sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "arrange/sort/cpu/piece_queue.hpp"
#include "arrange/sort/cpu/shares.hpp"
#include "arrange/sort/cpu/sort_kernels.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {

namespace {

constexpr u64 of_one_thread = 512 << 10;  // bytes of keys that are not worth a second thread
constexpr u64 part_bytes = 512 << 10;     // size of a bucket that a pass aims at
constexpr u64 of_one_call = 32 << 20;     // bytes of keys that one thread sorts before it checks for interrupts
constexpr u64 max_of_thread = 4 << 20;
constexpr int min_bits = 5, max_bits = 10, max_bits_alone = 11;
constexpr u64 sampled = 256;

// The rule for keys that are codes already.
constexpr std::array<u64, 4> as_they_are = {0, 0, 0, 0};

// Number of threads from which a pass by all costs less than the first steps of quicksort, which few threads share.
constexpr unsigned passed_from = 8;

bool is_halved(const SortKernels& kernels, unsigned threads) { return kernels.sorts_in_place && threads < passed_from; }

class Sorter {
public:
    Sorter(const SortedKeys& by, void* to, void* spare, const SortWith& how, int ordered)
        : kernels_(sort_kernels_at(how.isa)),
          kind_(width_number(by.width)),
          width_(by.width),
          threads_(how.threads),
          ordered_(ordered),
          rule_(by.rule),
          is_plain_(std::memcmp(rule_, as_they_are.data(), 4 * width_) == 0),
          to_(static_cast<u8*>(to)),
          spare_(static_cast<u8*>(spare)) {}

    void sort(const void* keys, u64 count) {
        const bool is_small = count * width_ <= of_one_thread;
        if (!is_small && is_halved(kernels_, threads_) && !(threads_ == 1 && count * width_ <= of_one_call))
            return sort_by_halves(keys, count);
        if (is_small || (threads_ == 1 && count * width_ <= of_one_call)) return sort_alone(keys, count);
        pass({static_cast<const u8*>(keys), 0, count, rule_, spare_});
    }

private:
    // A range of keys (or codes) whose result begins at item `begin`. `into`: the memory, to_ or spare_, that a pass
    // moves them to.
    struct Part {
        const u8* keys;
        u64 begin;
        u64 count;
        const void* rule;
        u8* into;
    };

    void sort_alone(const void* keys, u64 count) {
        if (count == 0) return;
        KeysSeen seen;
        kernels_.look[kind_](keys, count, rule_, {.codes = to_}, &seen);
        if (seen.rises || seen.falls) return put_as_seen({to_, 0, count, as_they_are.data(), to_}, seen);
        kernels_.sort[kind_](to_, to_, spare_, count, ordered_);
        decode_here(0, count);
    }

    // Writes codes to the result's memory. Then idle threads halve pieces of them until a piece suits one thread. Few
    // threads share the first steps, but up to some number of threads a pass is not worth it.
    void sort_by_halves(const void* keys, u64 count) {
        const Pieces pieces(count, width_);
        std::vector<KeysSeen> seen(pieces.number());
        for_each_piece(pieces.number(), threads_, [&](u64 i) {
            const u64 at = pieces.begin(i) * width_, n = pieces.size(i);
            const u8* const from = static_cast<const u8*>(keys) + at;
            kernels_.look[kind_](from, n, rule_, {.codes = to_ + at}, &seen[i]);
        });
        const KeysSeen all = seen_together(seen);
        if (all.rises || all.falls) return put_as_seen({to_, 0, count, as_they_are.data(), to_}, all);
        static_assert(part_bytes / 4 / sizeof(u64) >= min_halved);
        const u64 grain = std::clamp(count / (threads_ * 8), part_bytes / 4 / width_, part_bytes / width_);
        PieceQueue queue({0, {count, 0, false, 2 * static_cast<u32>(std::bit_width(count))}});
        run_parallel(threads_, [&](unsigned) {
            try {
                while (std::optional<PieceQueue::QueuedPiece> queued = queue.next()) {
                    halve(queue, *queued, grain);
                    queue.finish();
                }
            } catch (...) {
                queue.fail();
                throw;
            }
        });
    }

    // Halves a piece. At the end it is in cache, so codes become keys there.
    void halve(PieceQueue& queue, PieceQueue::QueuedPiece queued, u64 grain) {
        while (queued.piece.count > grain) {
            check_interrupt();
            PieceQueue::QueuedPiece lower{queued.begin, {}};
            const bool is_done = kernels_.halve[kind_](to_ + queued.begin * width_, &queued.piece, &lower.piece);
            queued.begin += lower.piece.count;
            if (is_done) {
                decode_here(lower.begin, lower.piece.count);
            } else if (lower.piece.count > 0) {
                queue.add(lower);
            }
        }
        u8* const items = to_ + queued.begin * width_;
        kernels_.sort[kind_](items, items, nullptr, queued.piece.count, ordered_);
        decode_here(queued.begin, queued.piece.count);
    }

    void decode_here(u64 begin, u64 count) {
        if (is_plain_) return;
        u8* const items = to_ + begin * width_;
        kernels_.decode[kind_](items, count, rule_, items);
    }

    // Copies keys that are in ascending or descending order. `part.rule` is the rule of keys, or says that they are
    // codes.
    void put_as_seen(const Part& part, const KeysSeen& seen) {
        u8* const target = to_ + part.begin * width_;
        if (part.keys != target) {
            const Pieces pieces(part.count, width_);
            for_each_piece(pieces.number(), threads_, [&](u64 i) {
                const u64 at = pieces.begin(i) * width_;
                std::memmove(target + at, part.keys + at, pieces.size(i) * width_);
            });
        }
        if (!seen.rises) reverse_items(target, part.count, static_cast<unsigned>(width_), threads_);
        if (part.rule != rule_) decode_part(part.begin, part.count);
    }

    void decode_part(u64 begin, u64 count) {
        if (is_plain_) return;
        const Pieces pieces(count, width_);
        for_each_piece(pieces.number(), threads_, [&](u64 i) {
            u8* const at = to_ + (begin + pieces.begin(i)) * width_;
            kernels_.decode[kind_](at, pieces.size(i), rule_, at);
        });
    }

    void pass(const Part& part) {
        const int bits = bits_for(part.count);
        const Shares shares(part.count, threads_);
        std::vector<u64> counts;
        KeyDigit digit = guess(part, bits);
        const KeysSeen seen = look(part, shares, digit, counts);
        if (seen.rises || seen.falls) return put_as_seen(part, seen);
        if (((seen.any ^ seen.all) >> ordered_) == 0) return put_ordered(part);
        const KeyDigit right = digit_of(seen.any ^ seen.all, bits);
        if (right.shift != digit.shift || right.mask != digit.mask) {
            digit = right;
            look(part, shares, digit, counts);
        }
        const std::vector<u64> begins = scan_shares(counts, shares.number, digit.mask + 1);
        scatter(part, shares, digit, counts);
        sort_parts(part, begins);
    }

    // Copies codes whose sorted bits are all equal; their other bits ascend.
    void put_ordered(const Part& part) {
        KeysSeen seen{};
        seen.rises = true;
        put_as_seen(part, seen);
    }

    // Returns the bits of a pass by one thread. The sort of a bucket uses the same number, so that both take no more
    // passes than one sort of all keys.
    int bits_for(u64 count) const {
        if (threads_ == 1) return max_bits_alone;
        return std::clamp(static_cast<int>(std::bit_width(count * width_ / part_bytes)), min_bits, max_bits);
    }

    // Returns the highest bits that vary, without those that are already in order.
    KeyDigit digit_of(u64 varying, int bits) const {
        const int top = std::max(static_cast<int>(std::bit_width(varying)), ordered_ + 1);
        const int used = std::min(bits, top - ordered_);
        return {static_cast<u32>(top - used), (1u << used) - 1};
    }

    KeyDigit guess(const Part& part, int bits) const {
        std::array<u64, sampled> sample;
        auto* const items = reinterpret_cast<u8*>(sample.data());
        for (u64 i = 0; i < sampled; ++i) {
            std::memcpy(items + i * width_, part.keys + part.count / sampled * i * width_, width_);
        }
        KeysSeen seen;
        kernels_.look[kind_](items, sampled, part.rule, {}, &seen);
        return digit_of(seen.any ^ seen.all, bits);
    }

    KeysSeen look(const Part& part, const Shares& shares, KeyDigit digit, std::vector<u64>& counts) const {
        counts.assign(shares.number * (digit.mask + 1), 0);
        std::vector<KeysSeen> seen(shares.number);
        for_each_share(shares, threads_, [&](u64 i) {
            u64* const own = counts.data() + i * (digit.mask + 1);
            kernels_.look[kind_](part.keys + shares.begin(i) * width_, shares.size(i), part.rule,
                                 {.counts = own, .digit = digit}, &seen[i]);
        });
        return seen_together(seen);
    }

    void scatter(const Part& part, const Shares& shares, KeyDigit digit, std::vector<u64>& places) {
        u8* const into = part.into + part.begin * width_;
        if (part.rule == rule_) take_pages(into, part.count * width_, threads_);
        for_each_share(shares, threads_, [&](u64 i) {
            const u64 digits = digit.mask + 1;
            const auto lines = std::make_unique<Line[]>(digits + digits * sizeof(u32) / line_bytes + 1);
            kernels_.scatter[kind_](part.keys + shares.begin(i) * width_, shares.size(i), part.rule, digit,
                                    places.data() + i * digits, lines.get(), into);
        });
    }

    // Sorts buckets: those that suit one thread in parallel, larger ones one after the other by all threads.
    void sort_parts(const Part& part, const std::vector<u64>& begins) {
        const bool is_home = part.into == to_;
        std::vector<u64> small;
        for (u64 i = 0; i + 1 < begins.size(); ++i) {
            const u64 begin = part.begin + begins[i], count = begins[i + 1] - begins[i];
            if (count * width_ > max_of_thread) {
                pass({part.into + begin * width_, begin, count, as_they_are.data(), is_home ? spare_ : to_});
            } else if (count > 0) {
                small.push_back(i);
            }
        }
        std::atomic<u64> next{0};
        run_parallel(static_cast<unsigned>(std::clamp<u64>(small.size(), 1, threads_)), [&](unsigned) {
            take_each(next, small.size(), [&](u64 i) {
                const u64 begin = part.begin + begins[small[i]], count = begins[small[i] + 1] - begins[small[i]];
                u8* const from = part.into + begin * width_;
                kernels_.sort[kind_](from, to_ + begin * width_, spare_ + begin * width_, count, ordered_);
                decode_here(begin, count);
            });
        });
    }

    const SortKernels& kernels_;
    const usize kind_;
    const u64 width_;
    const unsigned threads_;
    const int ordered_;
    const void* const rule_;
    const bool is_plain_;
    u8* const to_;
    u8* const spare_;
};

}  // namespace

void sort_words(const SortedKeys& by, void* to, void* spare, const SortWith& how, int ordered) {
    Sorter(by, to, spare, how, ordered).sort(by.keys, by.count);
}

u64 spare_for(unsigned width, u64 count, const SortWith& how) {
    if (width == 1 || (width == 2 && count >= counted_from)) return 0;
    const SortKernels& kernels = sort_kernels_at(how.isa);
    const bool is_in_place =
        is_halved(kernels, how.threads) || (kernels.sorts_in_place && count * width <= of_one_thread);
    return is_in_place ? 0 : count * width;
}

// Whether all keys have the same bits; reads at the speed of memory, up to the first difference.
static bool are_all_same(const SortedKeys& by) {
    const u8* const keys = static_cast<const u8*>(by.keys);
    return by.count > 0 && std::memcmp(keys, keys + by.width, (by.count - 1) * by.width) == 0;
}

void sort_keys(const SortedKeys& by, void* to, void* spare, const SortWith& how) {
    const u64 bytes = by.count * by.width;
    if ((how.threads == 1 || bytes <= of_one_thread) && are_all_same(by)) {
        std::memmove(to, by.keys, bytes);
        return;
    }
    if (by.width == 1 || (by.width == 2 && by.count >= counted_from)) return sort_by_counting(by, to, how);
    sort_words(by, to, spare, how, 0);
}

}  // namespace headrace
