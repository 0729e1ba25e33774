// Sums floats on the CPU: the counterpart of primitives/float_sum.cu. Bytes moved per item of width w: w.
#include "primitives/float_sum.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/cpu/threads/thread_pool.hpp"
#include "primitives/cpu/scan.hpp"

namespace headrace {
namespace {

// Returns the sum of a piece of 1 to 4,096 items, as a warp of primitives/float_sum.cu computes it.
template <class T>
T sum_piece(const T* in, u32 count) {
    T lanes[SumOrder::lanes];
    for (T& lane : lanes) lane = no_float<T>();
    u32 row = 0;
    for (; row + SumOrder::lanes <= count; row += SumOrder::lanes) {
        for (u32 lane = 0; lane < SumOrder::lanes; ++lane) lanes[lane] += in[row + lane];
    }
    for (u32 i = row; i < count; ++i) lanes[i - row] += in[i];
    for (u32 half = SumOrder::lanes / 2; half > 0; half /= 2) {
        for (u32 lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    return lanes[0];
}

// Computes the sums of all pieces on several threads.
template <class T>
std::vector<T> sum_pieces(const T* in, u64 count, unsigned threads) {
    const u64 pieces = (count + SumOrder::piece - 1) / SumOrder::piece;
    std::vector<T> sums(pieces);
    const unsigned parts = static_cast<unsigned>(std::clamp<u64>(pieces / 16, 1, threads));
    run_parallel(parts, [&](unsigned part) {
        for (u64 piece = pieces * part / parts; piece < pieces * (part + 1) / parts; ++piece) {
            const u64 begin = piece * SumOrder::piece;
            sums[piece] = sum_piece(in + begin, static_cast<u32>(std::min<u64>(count - begin, SumOrder::piece)));
        }
    });
    return sums;
}

template <class T>
void sum_all(const ArrayPair& arrays, unsigned threads) {
    if (arrays.count == 0) {
        *static_cast<T*>(arrays.out) = 0;
        return;
    }
    std::vector<T> sums = sum_pieces(static_cast<const T*>(arrays.in), arrays.count, threads);
    while (sums.size() > 1) sums = sum_pieces(sums.data(), sums.size(), threads);
    *static_cast<T*>(arrays.out) = one_nan(sums[0]);
}

}  // namespace

void float_sum(std::string_view item, const ArrayPair& arrays, unsigned threads) {
    if (item == "float") return sum_all<float>(arrays, threads);
    if (item == "double") return sum_all<double>(arrays, threads);
    throw std::invalid_argument("no such type of items");
}

}  // namespace headrace
