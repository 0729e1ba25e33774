// Computes the value of an expression for each row, block by block, and copies it from the stack.
#include "arrange/filter/cpu/compute_rows.hpp"

#include <cstring>

#include "arrange/filter/cpu/evaluation.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {

void compute_rows(const FilterProgram& program, u64 rows, const ComputedRows& to, Isa isa, unsigned threads) {
    const PreparedFilter prepared(program, isa);
    const Pieces pieces(rows, sizeof(u64));
    const auto begin = [&] { return FilterEvaluation(prepared); };
    const auto compute = [&](FilterEvaluation& evaluation, u64 piece) {
        const u64 end = pieces.begin(piece) + pieces.size(piece);
        for (u64 at = pieces.begin(piece); at < end; at += block_rows) {
            const u64 count = std::min(block_rows, end - at);
            const StackSlot& found = evaluation.values({at, count});
            std::memcpy(to.values + at * to.width, found.values, count * to.width);
            std::memcpy(to.valid + at, found.valid, count);
        }
    };
    for_each_piece(pieces.number(), threads, begin, compute);
}

}  // namespace headrace
