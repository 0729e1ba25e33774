// Builds the table of cells.hpp in host memory.
#pragma once
#include <vector>

#include "arrange/bucket/cells.hpp"

namespace headrace {

// Returns the words of all cells, in one pass over the edges, which ascend.
template <class Key>
std::vector<u32> words_of(const Cells<Key>& cells, const typename Cells<Key>::Wide* edges) {
    std::vector<u32> words(cells.count + 1);
    u32 before = 0;
    for (u32 cell = 0; cell <= cells.count; ++cell) {
        u32 after = before;
        while (after < cells.buckets && spot(cells, place(cells, edges[after + 1])).cell == cell) ++after;
        words[cell] = word_of_edges(cells, edges, before, after - before);
        before = after;
    }
    return words;
}

}  // namespace headrace
