#include "query/find/pattern/pattern.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "query/find/pattern/fold.hpp"

namespace headrace {

FindPattern::FindPattern(std::string_view pattern, bool folds_case)
    : bytes(pattern.begin(), pattern.end()), ignore_case(folds_case), borders(pattern.size() + 1) {
    if (bytes.empty() || bytes.size() > u64{1} << 31) throw std::invalid_argument("no such length of a pattern");
    if (ignore_case) {
        for (u8& byte : bytes) byte = fold_byte(byte);
    }
    u32 border = 0;
    for (usize i = 1; i < bytes.size(); ++i) {
        while (border > 0 && bytes[border] != bytes[i]) border = borders[border];
        if (bytes[border] == bytes[i]) ++border;
        borders[i + 1] = border;
    }
    period = bytes.size() - borders.back();
}

u64 FindPattern::varied_window(u64 width, u64 begin, u64 end) const {
    constexpr u64 windows_tried = 4096;
    const u64 windows = std::min<u64>(bytes.size() - width + 1, windows_tried), part = end - begin;
    std::array<u32, 256> counts{};
    u64 distinct = 0, best = 0, most = 0;
    for (u64 i = 0; i < windows + part - 1; ++i) {
        distinct += counts[bytes[begin + i]]++ == 0;
        if (i + 1 < part) continue;
        const u64 window = i + 1 - part;
        if (distinct > most) {
            most = distinct;
            best = window;
        }
        distinct -= --counts[bytes[begin + window]] == 0;
    }
    return best;
}

}  // namespace headrace
