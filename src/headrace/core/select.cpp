#include "core/select.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/pool.hpp"

namespace headrace {
namespace {

struct Wide {
    u64 low, high;
};

// Items from `first` on whose flag is set, to the places [place, last) of `out`. Each item is written, and a place is
// passed only if the item was selected, so there is no branch to be mispredicted. The last place ends it: what follows
// is not this part's.
template <class Item>
void gather(const void* items, const u8* flags, u64 first, void* out, u64 place, u64 last) {
    const auto* in = static_cast<const Item*>(items);
    auto* to = static_cast<Item*>(out);
    for (u64 i = first; place < last; ++i) {
        to[place] = in[i];
        place += flags[i] != 0;
    }
}

using Gather = void (*)(const void*, const u8*, u64, void*, u64, u64);

Gather gather_of(unsigned width) {
    switch (width) {
        case 1:
            return gather<u8>;
        case 2:
            return gather<u16>;
        case 4:
            return gather<u32>;
        case 8:
            return gather<u64>;
        case 16:
            return gather<Wide>;
        default:
            throw std::invalid_argument("no such width of items");
    }
}

}  // namespace

void select(const Flagged& input, const std::function<void*(u64)>& room, unsigned threads) {
    const Gather gather_part = gather_of(input.width);
    const unsigned parts = static_cast<unsigned>(std::clamp<u64>(input.count / (1 << 16), 1, threads));
    const auto begin_of = [&](unsigned part) {
        return input.count / parts * part + std::min<u64>(part, input.count % parts);
    };
    std::vector<u64> places(parts + 1);
    run_parallel(parts, [&](unsigned part) {
        u64 selected = 0;
        for (u64 i = begin_of(part); i < begin_of(part + 1); ++i) selected += input.flags[i] != 0;
        places[part + 1] = selected;
    });
    for (unsigned part = 0; part < parts; ++part) places[part + 1] += places[part];
    void* const out = room(places[parts]);
    run_parallel(parts, [&](unsigned part) {
        gather_part(input.items, input.flags, begin_of(part), out, places[part], places[part + 1]);
    });
}

}  // namespace headrace
