#include "store/dictionary/paper/slices.hpp"

#include <algorithm>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "store/dictionary/paper/slices_host.hpp"

namespace headrace {
namespace {

template <class Bits>
u64 merge_all_slices(const SlicedPair<Bits>& all, const SliceTarget<Bits>& to, Bits* merged, unsigned threads) {
    std::vector<u64> counts(all.slices + 1);
    for_each_piece(all.slices, threads, [&](u64 slice) {
        counts[slice + 1] = merge_slice(all, begin_of_slice(all, slice), begin_of_slice(all, slice + 1), to);
    });
    for (u64 slice = 0; slice < all.slices; ++slice) counts[slice + 1] += counts[slice];
    for_each_piece(all.slices, threads, [&](u64 slice) {
        const SliceBegin begin = begin_of_slice(all, slice), end = begin_of_slice(all, slice + 1);
        const u32 first = static_cast<u32>(counts[slice]);
        std::copy_n(to.sections + begin.main + begin.delta, counts[slice + 1] - first, merged + first);
        for (u64 i = begin.main; i < end.main; ++i) to.main_codes[i] += first;
        for (u64 k = begin.delta; k < end.delta; ++k) to.delta_codes[k] += first;
    });
    return counts.back();
}

}  // namespace

u64 merge_in_slices(const NumberDictionaries& given, u64 slices, void* sections, void* merged, const CodeTables& tables,
                    unsigned threads) {
    return with_width<u32, u64>(given.width, [&]<class Bits>(Bits) {
        const NumberPair<Bits> pair{static_cast<const Bits*>(given.main), static_cast<const Bits*>(given.delta),
                                    *static_cast<const KeyRule<Bits>*>(given.rule)};
        const SlicedPair<Bits> all{pair, given.counts.main, given.counts.delta, slices};
        const SliceTarget<Bits> to{static_cast<Bits*>(sections), tables.main, tables.delta};
        return merge_all_slices(all, to, static_cast<Bits*>(merged), threads);
    });
}

}  // namespace headrace
