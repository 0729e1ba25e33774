// Multiplies the matrices of a block's threads in their order. The product does not commute.
#pragma once
#include "gpu/block/block.cuh"
#include "query/find/paper/fingerprint.hpp"

namespace headrace {

struct MatrixProduct {
    HR_MEMBER static Matrix identity() { return unit_matrix(); }
    HR_MEMBER static Matrix join(Matrix before, Matrix next) { return multiply(before, next); }
};

// Returns the products of the preceding threads of the block, and of all its threads. `totals` may be reused after the
// caller's next barrier.
template <u32 threads>
HR_FN tile::WarpPrefix<Matrix> scan_matrices(Matrix product, Matrix (&totals)[threads / tile::lanes]) {
    const Matrix upto = tile::scan_warp<MatrixProduct>(product);
    Matrix before = tile::shuffle_up(upto, 1);
    if (tile::lane() == 0) before = unit_matrix();
    const auto found = tile::scan_warps<MatrixProduct, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
    return {multiply(found.before, before), found.total};
}

}  // namespace headrace
