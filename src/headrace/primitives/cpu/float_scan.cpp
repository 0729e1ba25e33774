// Computes running sums of floats on the CPU: the counterpart of primitives/float_scan.cu. Bytes moved per item of
// width w: 3 w.
#include "primitives/float_scan.hpp"

#include <stdexcept>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "primitives/cpu/scan.hpp"

namespace headrace {
namespace {

template <class T>
void scan_level(const T* in, u64 count, T* out, const Shifted& shifted, unsigned threads) {
    const u64 groups = group_count(count);
    std::vector<T> sums(groups > 1 ? groups : 0);
    const Pieces pieces(groups, sizeof(T) * scan_group);
    const auto each_group = [&](const auto& work) {
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
            for (u64 group = begin; group < end; ++group) work(group);
        });
    };
    if (groups > 1) {
        each_group([&](u64 group) { sums[group] = sum_group(in + group * scan_group, group_size(count, group)); });
        scan_level(sums.data(), groups, sums.data(), {0, groups}, threads);
    }
    if (shifted.by == 1) out[0] = 0;
    each_group([&](u64 group) {
        const u64 first = group * scan_group + shifted.by;
        if (first >= shifted.length) return;
        scan_items(in + group * scan_group, group_size(count, group), group == 0 ? nullptr : &sums[group - 1],
                   out + first, shifted.length - first);
    });
}

}  // namespace

void float_scan(std::string_view item, const ArrayPair& arrays, const Shifted& shifted, unsigned threads) {
    if (item == "float") {
        const auto* const in = static_cast<const float*>(arrays.in);
        return scan_level(in, arrays.count, static_cast<float*>(arrays.out), shifted, threads);
    }
    if (item == "double") {
        const auto* const in = static_cast<const double*>(arrays.in);
        return scan_level(in, arrays.count, static_cast<double*>(arrays.out), shifted, threads);
    }
    throw std::invalid_argument("no such type of items");
}

}  // namespace headrace
