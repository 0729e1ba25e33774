#include "primitives/cpu/scan.hpp"

#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "primitives/cpu/scan_kernels.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const ScanKernels*(Join, ItemType), scan_kernels)
HR_FOR_EACH_ISA(WidenedSum(ItemType), widened_sum)

namespace {

Join join_of(std::string_view name) {
    if (name == "Sum") return Join::sum;
    if (name == "Min") return Join::min;
    if (name == "Max") return Join::max;
    if (name == "Compose") return Join::compose;
    throw std::invalid_argument("no such operator");
}

ItemType item_of(std::string_view name) {
    if (name == "u32") return ItemType::u32;
    if (name == "i32") return ItemType::i32;
    if (name == "u64") return ItemType::u64;
    if (name == "i64") return ItemType::i64;
    if (name == "float") return ItemType::f32;
    if (name == "double") return ItemType::f64;
    throw std::invalid_argument("no such type of items");
}

const ScanKernels& kernels_of(const OperatorName& what, Isa isa) {
    const ScanKernels* const found = scan_kernels_for(isa)(join_of(what.join), item_of(what.item));
    if (found == nullptr) throw std::invalid_argument("the operator does not join such items");
    return *found;
}

// The total of all pieces before a piece, once it is known.
class PieceTotal {
public:
    void set(u64 word) {
        word_ = word;
        known_.store(true, std::memory_order_release);
    }

    // The thread of the preceding piece is about to set the total; with all threads running, one is set every few us.
    // So this thread neither sleeps nor yields (core/cpu/threads/spin_wait.hpp) until it has spun for the time of a
    // piece.
    u64 get() {
        for (u32 spins = 0; !known_.load(std::memory_order_acquire); ++spins) {
            if (spins > max_spins) std::this_thread::yield();
        }
        return word_;
    }

private:
    static constexpr u32 max_spins = 1 << 16;
    u64 word_ = 0;
    std::atomic<bool> known_{false};
};

}  // namespace

void scan(const OperatorName& what, ArrayPair arrays, bool exclusive, Isa isa, unsigned threads) {
    const ScanKernels& kernels = kernels_of(what, isa);
    const auto scan_items = exclusive ? kernels.scan_exclusive : kernels.scan;
    const auto* in = static_cast<const u8*>(arrays.in);
    auto* out = static_cast<u8*>(arrays.out);
    const Pieces pieces(arrays.count, kernels.width);
    const Stores stores = stores_for(arrays.count * kernels.width);
    const u64 number = pieces.number();
    if (threads == 1 || number < 4) {
        scan_items(in, out, arrays.count, kernels.identity(), stores);
        return;
    }
    take_pages(out, arrays.count * kernels.width, threads);
    std::vector<PieceTotal> before(number + 1);
    before[0].set(kernels.identity());
    for_each_piece(number, threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece) * kernels.width, size = pieces.size(piece);
        const u64 joined = kernels.reduce(in + begin, size);
        const u64 word = before[piece].get();
        before[piece + 1].set(kernels.join(word, joined));
        scan_items(in + begin, out + begin, size, word, stores);
    });
}

void reduce(const OperatorName& what, ArrayPair arrays, Isa isa, unsigned threads) {
    const ScanKernels& kernels = kernels_of(what, isa);
    const auto* in = static_cast<const u8*>(arrays.in);
    const Pieces pieces(arrays.count, kernels.width);
    std::vector<u64> joined(pieces.number());
    for_each_piece(joined.size(), threads, [&](u64 piece) {
        joined[piece] = kernels.reduce(in + pieces.begin(piece) * kernels.width, pieces.size(piece));
    });
    u64 all = kernels.identity();
    for (const u64 word : joined) all = kernels.join(all, word);
    std::memcpy(arrays.out, &all, kernels.width);
}

void sum_widened(std::string_view item, ArrayPair arrays, Isa isa, unsigned threads) {
    const WidenedSum sum = widened_sum_for(isa)(item_of(item));
    if (sum == nullptr) throw std::invalid_argument("only items of 32 bits are widened");
    const auto* in = static_cast<const u8*>(arrays.in);
    const Pieces pieces(arrays.count, sizeof(u32));
    std::vector<u64> sums(pieces.number());
    for_each_piece(sums.size(), threads,
                   [&](u64 piece) { sums[piece] = sum(in + pieces.begin(piece) * sizeof(u32), pieces.size(piece)); });
    u64 all = 0;
    for (const u64 one : sums) all += one;
    std::memcpy(arrays.out, &all, sizeof all);
}

}  // namespace headrace
