// Finds a pattern in host memory.
#pragma once

#include <functional>
#include <optional>

#include "core/cpu/isa.hpp"
#include "query/find/pattern/pattern.hpp"

namespace headrace {

struct FindText {
    const u8* bytes;
    u64 size;
};

struct FindResources {
    Isa isa;
    unsigned threads;
};

// Call `allocate` once with the number of positions, and write them, ascending, to the memory that it returns. Unless
// `overlapping`, a hit that overlaps the previous one that counts does not count.
void pattern_positions(const FindPattern& pattern, const FindText& text, bool overlapping,
                       const std::function<u64*(u64)>& allocate, const FindResources& resources);

// Return the number of these positions.
u64 pattern_count(const FindPattern& pattern, const FindText& text, bool overlapping, const FindResources& resources);

std::optional<u64> first_pattern(const FindPattern& pattern, const FindText& text, const FindResources& resources);

}  // namespace headrace
