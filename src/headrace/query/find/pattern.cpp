#include "query/find/pattern.hpp"

#include <stdexcept>

#include "query/find/fold.hpp"

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

}  // namespace headrace
