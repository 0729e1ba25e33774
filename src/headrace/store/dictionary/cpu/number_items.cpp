// Numbers the distinct items of an array of numbers by hash tables. Each thread numbers the items of a share. Then the
// distinct items of all shares are numbered together, and the numbers are translated. It ends early if there are more
// distinct items than a limit, since tables that do not fit a cache are slower than a sort.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/random_seed.hpp"
#include "core/cpu/threads/thread_pool.hpp"
#include "core/hash.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"

namespace headrace {
namespace {

constexpr u64 piece_items = 1 << 16;  // items that are numbered between two looks at the limit

// A hash table with linear probing that is at most half full. The seed differs from table to table, so that colliding
// items cannot be prepared. Numbers do not depend on it.
template <class Bits>
class ItemNumbers {
public:
    explicit ItemNumbers(u64 seed) : seed_(seed), slots_(64, {0, none}) {}

    u32 number_of(Bits item) {
        const u64 mask = slots_.size() - 1;
        u64 at = hash(item) & mask;
        for (; slots_[at].number != none; at = (at + 1) & mask) {
            if (slots_[at].item == item) return slots_[at].number;
        }
        const u32 number = static_cast<u32>(items_.size());
        slots_[at] = {item, number};
        items_.push_back(item);
        if (2 * items_.size() > slots_.size()) grow();
        return number;
    }

    const std::vector<Bits>& items() const { return items_; }

private:
    static constexpr u32 none = ~u32{0};

    struct ItemSlot {
        Bits item;
        u32 number;
    };

    u64 hash(Bits item) const { return fold_product(item ^ seed_, golden_ratio); }

    [[gnu::noinline]] void grow() {
        slots_.assign(4 * slots_.size(), {0, none});
        const u64 mask = slots_.size() - 1;
        for (usize i = 0; i < items_.size(); ++i) {
            u64 at = hash(items_[i]) & mask;
            while (slots_[at].number != none) at = (at + 1) & mask;
            slots_[at] = {items_[i], static_cast<u32>(i)};
        }
    }

    u64 seed_;
    std::vector<ItemSlot> slots_;
    std::vector<Bits> items_;
};

// Returns whether a sample of the items shows that more than `limit` are distinct. A random sample of n items of d
// equally frequent values has about n^2 / (2 d) duplicates. It has more if some values are more frequent. Fewer than
// n^2 / (4 limit) duplicates show about 2 * limit values or more.
template <class Bits>
bool are_surely_many(const Bits* items, u64 count, u64 limit, u64 seed) {
    constexpr u64 sampled = 4096;
    if (limit >= count || count < 16 * sampled) return false;
    ItemNumbers<Bits> table(seed);
    for (u64 i = 0; i < sampled; ++i) table.number_of(items[multiply_wide((i + 1) * golden_ratio, count).high]);
    return sampled - table.items().size() < sampled * sampled / (4 * limit);
}

template <class Bits>
std::optional<std::vector<u8>> number_all(const NumberArray& given, u64 limit, u32* numbers, unsigned threads) {
    const Bits* const items = static_cast<const Bits*>(given.items);
    if (are_surely_many(items, given.count, limit, random_seed())) return std::nullopt;
    const u64 shares = std::clamp<u64>(given.count / piece_items, 1, threads);
    const auto begin_of = [&](u64 share) { return given.count * share / shares; };
    std::vector<ItemNumbers<Bits>> local(shares, ItemNumbers<Bits>(random_seed()));
    std::atomic<bool> are_many{false};
    run_parallel(static_cast<unsigned>(shares), [&](unsigned share) {
        ItemNumbers<Bits>& table = local[share];
        for (u64 begin = begin_of(share), end; begin < begin_of(share + 1) && !are_many; begin = end) {
            end = std::min(begin + piece_items, begin_of(share + 1));
            for (u64 i = begin; i < end; ++i) numbers[i] = table.number_of(items[i]);
            if (table.items().size() > limit) are_many = true;
        }
    });
    std::vector<std::vector<u32>> together(shares);
    for (u64 share = 1; share < shares && !are_many; ++share) {
        for (const Bits item : local[share].items()) together[share].push_back(local[0].number_of(item));
        if (local[0].items().size() > limit) are_many = true;
    }
    if (are_many) return std::nullopt;
    for_each_piece((given.count - begin_of(1) + piece_items - 1) / piece_items, threads, [&](u64 piece) {
        const u64 begin = begin_of(1) + piece * piece_items, end = std::min(begin + piece_items, given.count);
        for (u64 share = begin * shares / given.count, i = begin; i < end; ++share) {
            for (const u64 stop = std::min(end, begin_of(share + 1)); i < stop; ++i) {
                numbers[i] = together[share][numbers[i]];
            }
        }
    });
    std::vector<u8> found(local[0].items().size() * sizeof(Bits));
    if (!found.empty()) std::memcpy(found.data(), local[0].items().data(), found.size());
    return found;
}

template <class Bits>
u64 number_of_sorted(const SortedNumbers& sorted, Bits* distinct, u32* numbers, unsigned threads) {
    const Bits* const keys = static_cast<const Bits*>(sorted.keys);
    const u64 pieces = (sorted.count + piece_items - 1) / piece_items;
    const auto end_of = [&](u64 piece) { return std::min((piece + 1) * piece_items, sorted.count); };
    const auto is_new = [&](u64 i) { return i == 0 || keys[i] != keys[i - 1]; };
    std::vector<u64> before(pieces + 1);
    for_each_piece(pieces, threads, [&](u64 piece) {
        u64 found = 0;
        for (u64 i = piece * piece_items; i < end_of(piece); ++i) found += is_new(i);
        before[piece + 1] = found;
    });
    for (u64 piece = 0; piece < pieces; ++piece) before[piece + 1] += before[piece];
    for_each_piece(pieces, threads, [&](u64 piece) {
        u64 next = before[piece];
        for (u64 i = piece * piece_items; i < end_of(piece); ++i) {
            if (is_new(i)) distinct[next++] = keys[i];
            numbers[sorted.places[i]] = static_cast<u32>(next - 1);
        }
    });
    return before[pieces];
}

}  // namespace

u64 number_sorted(const SortedNumbers& sorted, void* distinct, u32* numbers, unsigned threads) {
    return with_width<u8, u16, u32, u64>(sorted.width, [&]<class Bits>(Bits) {
        return number_of_sorted(sorted, static_cast<Bits*>(distinct), numbers, threads);
    });
}

std::optional<std::vector<u8>> number_items(const NumberArray& items, u64 limit, u32* numbers, unsigned threads) {
    return with_width<u8, u16, u32, u64>(
        items.width, [&]<class Bits>(Bits) { return number_all<Bits>(items, limit, numbers, threads); });
}

}  // namespace headrace
