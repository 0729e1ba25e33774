// Selects the items whose flag is set in host memory: the CPU counterpart of primitives/select.cu.
#pragma once
#include <functional>

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

struct Flagged {
    const void* items;
    const u8* flags;
    u64 count;
    unsigned width;  // bytes per item: 1, 2, 4, 8 or 16
};

// `allocate` is called once with the number of selected items, and returns their memory. Bytes moved per item of width
// w, if a share s is selected: 2 + 2 s w, since flags are read twice.
void select(const Flagged& input, const std::function<void*(u64)>& allocate, Isa isa, unsigned threads);

}  // namespace headrace
