// Searches for one pattern and for many: every instruction set and number of threads against a comparison of each
// position.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuzz.hpp"
#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_any.hpp"

using namespace headrace;

namespace {

std::string folded(std::string_view text, bool ignore_case) {
    std::string result(text);
    if (!ignore_case) return result;
    for (char& byte : result) byte = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte;
    return result;
}

std::vector<u64> expected(std::string_view text, std::string_view pattern, bool overlapping) {
    std::vector<u64> found;
    for (usize at = text.find(pattern); at != std::string_view::npos;) {
        found.push_back(at);
        at = text.find(pattern, at + (overlapping ? 1 : pattern.size()));
    }
    return found;
}

// A pattern of up to 80 bytes: pieces of the input, repeated. Texts of few values have many hits.
std::string pattern_of(fuzz::Input& input) {
    std::string part;
    for (usize left = 1 + input.below(9); left != 0; --left) part += static_cast<char>(input.take());
    std::string pattern;
    for (usize times = 1 + input.below(9); times != 0; --times) pattern += part;
    for (usize left = input.below(3); left != 0; --left) pattern += static_cast<char>(input.take());
    return pattern;
}

void check_one(const std::string& pattern, std::string_view text, bool ignore_case, bool overlapping,
               unsigned threads) {
    const std::vector<u64> wanted = expected(folded(text, ignore_case), folded(pattern, ignore_case), overlapping);
    const FindPattern prepared(pattern, ignore_case);
    const FindText bytes{reinterpret_cast<const u8*>(text.data()), text.size()};
    for (const Isa isa : available_isas()) {
        std::vector<u64> found;
        const auto allocate = [&](u64 count) {
            found.assign(count, 0);
            return found.data();
        };
        pattern_positions(prepared, bytes, overlapping, allocate, {isa, threads});
        REQUIRE(found == wanted);
        REQUIRE(pattern_count(prepared, bytes, overlapping, {isa, threads}) == wanted.size());
        const std::optional<u64> first = first_pattern(prepared, bytes, {isa, threads});
        REQUIRE(first.has_value() == !wanted.empty() && (wanted.empty() || *first == wanted[0]));
    }
}

void check_many(const std::vector<std::string>& patterns, std::string_view text, bool ignore_case, unsigned threads) {
    std::vector<std::tuple<u64, u32>> wanted, found;
    std::vector<u64> counts(patterns.size()), wanted_counts;
    for (u32 i = 0; i < patterns.size(); ++i) {
        const auto hits = expected(folded(text, ignore_case), folded(patterns[i], ignore_case), true);
        for (const u64 at : hits) wanted.emplace_back(at, i);
        wanted_counts.push_back(hits.size());
    }
    std::sort(wanted.begin(), wanted.end());
    const FindPatterns prepared(std::vector<std::string_view>(patterns.begin(), patterns.end()), ignore_case);
    const FindText bytes{reinterpret_cast<const u8*>(text.data()), text.size()};
    std::vector<u64> positions;
    std::vector<u32> numbers;
    const auto allocate = [&](u64 count) {
        positions.assign(count, 0);
        numbers.assign(count, 0);
        return HitArrays{positions.data(), numbers.data()};
    };
    patterns_positions(prepared, bytes, allocate, threads);
    for (usize i = 0; i < positions.size(); ++i) found.emplace_back(positions[i], numbers[i]);
    REQUIRE(found == wanted);
    patterns_counts(prepared, bytes, counts.data(), threads);
    REQUIRE(counts == wanted_counts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const bool ignore_case = input.flag(), overlapping = input.flag();
    // Threads cost much more than the rest, so few inputs have them.
    const u8 choice = input.take();
    const unsigned threads = choice < 250 ? 1 : choice - 248u;
    const usize values = std::array{2, 3, 26, 256}[input.below(4)];
    std::vector<std::string> patterns;
    for (usize left = 1 + input.below(6); left != 0; --left) patterns.push_back(pattern_of(input));
    for (std::string& pattern : patterns) {
        for (char& byte : pattern) {
            if (values != 256) byte = static_cast<char>((byte < 0 ? 'A' : 'a') + static_cast<u8>(byte) % 128 % values);
        }
    }
    std::string text;
    for (usize at = 0; at < input.size(); ++at) {
        if (input.data()[at] == 255) {
            text += patterns[at % patterns.size()];
        } else {
            const usize byte = input.data()[at];
            text += static_cast<char>(values == 256 ? byte : 'a' + byte % values);
        }
    }
    // The text ends where its memory ends, so that sanitizers see each read after it.
    const std::vector<char> exact(text.begin(), text.end());
    const std::string_view view(exact.data(), exact.size());
    check_one(patterns[0], view, ignore_case, overlapping, threads);
    check_many(patterns, view, ignore_case, threads);
    return 0;
}
