// Multiplies the matrices of the codes of all prefixes of a text: the device-wide scan of CRK (Ashkiani 2017, section
// 2.3.2). The first launch finds the product of each tile. The second one scans these products in one block, and the
// third one writes a matrix for each character.
//
// Bytes moved per byte of text: 18.
#include "query/find/gpu/find_task.hpp"
#include "query/find/paper/matrix_scan.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 items = HR_ITEMS;  // characters of a thread

struct TextRange {
    u64 begin;
    u64 end;
};

HR_FN TextRange thread_codes(const FindTask& task) {
    const u64 begin = (static_cast<u64>(blockIdx.x) * threads + threadIdx.x) * items;
    return {min(task.size, begin), min(task.size, begin + items)};
}

HR_FN Matrix thread_product(const FindTask& task, const Fingerprint& print, TextRange own) {
    Matrix product = unit_matrix();
    for (u64 i = own.begin; i < own.end; ++i) product = append_code(product, print.bits, code_of(print, task.text[i]));
    return product;
}

extern "C" __global__ void __launch_bounds__(threads)
    multiply_tiles(FindTask task, Fingerprint print, Matrix* products) {
    __shared__ Matrix totals[warps];
    const auto found = scan_matrices<threads>(thread_product(task, print, thread_codes(task)), totals);
    if (threadIdx.x == 0) products[blockIdx.x] = found.total;
}

// Replaces the product of each tile by that of the tiles before it. One block.
extern "C" __global__ void __launch_bounds__(threads) scan_products(Matrix* products, u64 tiles) {
    __shared__ Matrix totals[warps];
    Matrix before = unit_matrix();
    for (u64 first = 0; first < tiles; first += threads) {
        const u64 own = first + threadIdx.x;
        const auto found = scan_matrices<threads>(own < tiles ? products[own] : unit_matrix(), totals);
        if (own < tiles) products[own] = multiply(before, found.before);
        before = multiply(before, found.total);
        __syncthreads();
    }
}

// `prefixes`: one more than the text has characters.
extern "C" __global__ void __launch_bounds__(threads)
    write_prefixes(FindTask task, Fingerprint print, const Matrix* products, Matrix* prefixes) {
    __shared__ Matrix totals[warps];
    const TextRange own = thread_codes(task);
    Matrix product =
        multiply(products[blockIdx.x], scan_matrices<threads>(thread_product(task, print, own), totals).before);
    if (blockIdx.x == 0 && threadIdx.x == 0) prefixes[0] = unit_matrix();
    for (u64 i = own.begin; i < own.end; ++i)
        prefixes[i + 1] = product = append_code(product, print.bits, code_of(print, task.text[i]));
}
