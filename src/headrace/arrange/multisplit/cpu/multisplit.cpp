#include "arrange/multisplit/cpu/multisplit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "arrange/bucket/cell_words.hpp"
#include "arrange/bucket/rules.hpp"
#include "arrange/multisplit/cpu/multisplit_kernels.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/expressions/expression.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const MultisplitKernels&(), multisplit_kernels)

namespace {

constexpr u64 piece = Expression::piece;
constexpr u64 chunks_of_thread = 4;
constexpr u64 checked = 256 * piece;  // keys between two checks for interrupts

using Find = Expression::Find;

constexpr std::array<std::string_view, 7> key_names = {"u8", "u16", "u32", "u64", "float", "double", "WideKey"};
constexpr std::array<unsigned, 7> key_widths = {1, 2, 4, 8, 4, 8, 16};

usize key_number(std::string_view name) {
    const auto* const found = std::find(key_names.begin(), key_names.end(), name);
    if (found == key_names.end()) throw std::invalid_argument("no such type of keys");
    return static_cast<usize>(found - key_names.begin());
}

// Prepared form of a rule, shared by all threads.
class Finder {
public:
    Finder(const SplitBy& by, Isa isa) : by_(by) {
        const usize key = key_number(by.key);
        width_ = key_widths[key];
        if (by.rule == "Computed") {
            expression_ = Expression::of(by.description, by.key, isa);
            return;
        }
        const RuleName rule = by.rule == "BitsOf"  ? RuleName::bits
                              : by.rule == "AnyOf" ? RuleName::any
                                                   : RuleName::between;
        find_ = multisplit_kernels_for(isa)().find[static_cast<usize>(rule)][key];
        if (rule == RuleName::between) {
            const auto describe = [this]<class Key>(Key) { describe_between<Key>(); };
            key == 0   ? describe(u8{})
            : key == 1 ? describe(u16{})
            : key == 2 ? describe(u32{})
            : key == 3 ? describe(u64{})
            : key == 4 ? describe(float{})
            : key == 5 ? describe(double{})
                       : keep(BetweenOf<WideKey>{static_cast<const WideKey*>(by.edges), by.buckets, 0});
        } else {
            description_.assign(by.description.begin(), by.description.end());
            description_.resize(std::max<usize>(description_.size(), sizeof(AnyOf<u64>)));
        }
    }

    unsigned width() const { return width_; }

    Find begin() const {
        if (expression_ == nullptr) {
            return [this](const void* keys, u64 n, u32* buckets) { find_(keys, n, description_.data(), buckets); };
        }
        return expression_->begin();
    }

private:
    template <class Key>
    void describe_between() {
        BetweenOf<Key> rule{};
        if (by_.description.size() != sizeof(rule.cells)) throw std::invalid_argument("not a description of cells");
        std::memcpy(&rule.cells, by_.description.data(), sizeof(rule.cells));
        rule.edges = static_cast<const typename BetweenOf<Key>::Wide*>(by_.edges);
        words_ = words_of(rule.cells, rule.edges);
        rule.words = words_.data();
        keep(rule);
    }

    template <class Rule>
    void keep(const Rule& rule) {
        const auto* const bytes = reinterpret_cast<const char*>(&rule);
        description_.assign(bytes, bytes + sizeof(rule));
    }

    const SplitBy& by_;
    unsigned width_ = 0;
    std::unique_ptr<const Expression> expression_;
    void (*find_)(const void*, u64, const void*, u32*) = nullptr;
    std::vector<char> description_;
    std::vector<u32> words_;
};

// Splits keys into chunks of adjacent keys for threads; a chunk is a multiple of a piece.
struct KeyChunks {
    u64 count, length, number;

    KeyChunks(u64 keys, unsigned threads) : count(keys) {
        const u64 pieces = (keys + piece - 1) / piece;
        const u64 wanted = std::clamp<u64>(threads == 1 ? 1 : threads * chunks_of_thread, 1, std::max<u64>(pieces, 1));
        length = (pieces + wanted - 1) / wanted * piece;
        number = length == 0 ? 0 : (keys + length - 1) / length;
    }
};

// Calls work(first, buckets, n) for the pieces of a chunk.
template <class Work>
void each_piece(const KeyChunks& chunks, u64 chunk, const Finder& finder, const void* keys, const Work& work) {
    const Find find = finder.begin();
    std::array<u32, piece> buckets;
    const u64 end = std::min(chunks.count, (chunk + 1) * chunks.length);
    for (u64 first = chunk * chunks.length; first < end; first += piece) {
        if (first % checked == 0) check_interrupt();
        const u64 n = std::min(piece, end - first);
        find(static_cast<const u8*>(keys) + first * finder.width(), n, buckets.data());
        work(first, buckets.data(), n);
    }
}

// Scans the counts of each chunk and digit to output positions.
void scan_counts(std::vector<u64>& counts, u64 chunks, u32 digits, u64* starts) {
    u64 at = 0;
    for (u32 digit = 0; digit < digits; ++digit) {
        starts[digit] = at;
        for (u64 chunk = 0; chunk < chunks; ++chunk) {
            u64& own = counts[chunk * digits + digit];
            at += std::exchange(own, at);
        }
    }
    starts[digits] = at;
}

// Scatters items of a width without a kernel.
void put_bytes(const SplitColumn& column, const u8* from, u64 n, const u64* places) {
    auto* const to = static_cast<u8*>(column.to);
    for (u64 i = 0; i < n; ++i) std::memcpy(to + places[i] * column.width, from + i * column.width, column.width);
}

}  // namespace

u64 multisplit(const SplitBy& by, const void* keys, u64 count, const std::vector<SplitColumn>& columns, u64* starts,
               Isa isa, unsigned threads) {
    const Finder finder(by, isa);
    const KeyChunks chunks(count, threads);
    const u32 digits = std::min((by.buckets - 1) >> by.shift, by.mask) + 1;
    const u32 last = by.buckets - 1;
    std::vector<u64> counts(chunks.number * digits);
    std::atomic<u64> strays{0};
    for_each_piece(chunks.number, threads, [&](u64 chunk) {
        u64* const own = counts.data() + chunk * digits;
        u64 outside = 0;
        each_piece(chunks, chunk, finder, keys, [&](u64, const u32* buckets, u64 n) {
            for (u64 i = 0; i < n; ++i) {
                outside += buckets[i] > last;
                ++own[(std::min(buckets[i], last) >> by.shift) & by.mask];
            }
        });
        strays += outside;
    });
    scan_counts(counts, chunks.number, digits, starts);
    if (strays != 0) return strays;
    const MultisplitKernels& kernels = multisplit_kernels_for(isa)();
    for_each_piece(chunks.number, threads, [&](u64 chunk) {
        u64* const own = counts.data() + chunk * digits;
        std::array<u64, piece> places;
        each_piece(chunks, chunk, finder, keys, [&](u64 first, const u32* buckets, u64 n) {
            for (u64 i = 0; i < n; ++i) places[i] = own[(buckets[i] >> by.shift) & by.mask]++;
            for (const SplitColumn& column : columns) {
                const auto* const from = static_cast<const u8*>(column.from) + first * column.width;
                if (std::has_single_bit(column.width) && column.width <= 16) {
                    kernels.put[std::countr_zero(column.width)](from, n, places.data(), column.to);
                } else {
                    put_bytes(column, from, n, places.data());
                }
            }
        });
    });
    return 0;
}

void find_buckets(const SplitBy& by, const void* keys, u64 count, u64* starts, Isa isa, unsigned threads) {
    const Finder finder(by, isa);
    const KeyChunks chunks(count, threads);
    const auto bucket_of = [&](u64 i) {
        u32 bucket;
        finder.begin()(static_cast<const u8*>(keys) + i * finder.width(), 1, &bucket);
        return bucket;
    };
    // A chunk writes the starts of the buckets after that of the preceding key, up to that of its last key.
    for_each_piece(chunks.number, threads, [&](u64 chunk) {
        const u64 begin = chunk * chunks.length;
        u64 next = begin == 0 ? 0 : u64{bucket_of(begin - 1)} + 1;
        each_piece(chunks, chunk, finder, keys, [&](u64 first, const u32* buckets, u64 n) {
            for (u64 i = 0; i < n; ++i) {
                for (; next <= buckets[i]; ++next) starts[next] = first + i;
            }
        });
    });
    for (u64 next = count == 0 ? 0 : u64{bucket_of(count - 1)} + 1; next <= by.buckets; ++next) starts[next] = count;
}

}  // namespace headrace
