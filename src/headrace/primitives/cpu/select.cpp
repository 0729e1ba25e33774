#include "primitives/cpu/select.hpp"

#include <bit>
#include <stdexcept>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "primitives/cpu/select_kernels.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const SelectKernels&(), select_kernels)

void select(const Flagged& input, const std::function<void*(u64)>& allocate, Isa isa, unsigned threads) {
    if (!std::has_single_bit(input.width) || input.width > 16) throw std::invalid_argument("no such width of items");
    const SelectKernels& kernels = select_kernels_for(isa)();
    const auto gather = kernels.gather[std::countr_zero(input.width)];
    const auto* items = static_cast<const u8*>(input.items);
    const Pieces pieces(input.count, input.width);
    std::vector<u64> places(pieces.number() + 1);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        places[piece + 1] = kernels.count(input.flags + pieces.begin(piece), pieces.size(piece));
    });
    for (u64 piece = 0; piece < pieces.number(); ++piece) places[piece + 1] += places[piece];
    auto* const out = static_cast<u8*>(allocate(places.back()));
    take_pages(out, places.back() * input.width, threads);
    const Stores stores = stores_for(places.back() * input.width);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece);
        gather(items + begin * input.width, input.flags + begin, pieces.size(piece), out + places[piece] * input.width,
               stores);
    });
}

}  // namespace headrace
