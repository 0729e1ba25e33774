// Structure: every instruction set, tile size and number of threads against a walk of the automaton.
#include <algorithm>

#include "dialects.hpp"
#include "fuzz.hpp"
#include "walk.hpp"

using namespace headrace;

namespace {

void compare(const Structure& found, const Structure& expected) {
    REQUIRE(found.record_starts == expected.record_starts);
    REQUIRE(found.field_counts == expected.field_counts);
    REQUIRE(found.field_ends == expected.field_ends);
    REQUIRE(found.strays == expected.strays);
    REQUIRE(found.comments == expected.comments);
    REQUIRE(found.blank_lines == expected.blank_lines);
    REQUIRE(found.unclosed_quote == expected.unclosed_quote);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const Dialect dialect = fuzz::dialect_of(input.take());
    const usize wanted = 1 + input.below(200);
    // Threads cost much more than the rest, so few inputs have them.
    const u8 choice = input.take();
    const unsigned threads = choice < 250 ? 1 : choice - 248u;
    const usize tile = std::max(wanted, input.size() / 16);  // each tile costs much more than its bytes
    const MemorySource source(input.data(), input.size());
    const fuzz::Walk expected(dialect, input.data(), input.size());
    for (const Isa isa : available_isas()) {
        compare(find_structure(source, dialect, isa, threads, tile), expected.structure());
        compare(find_structure(source, dialect, isa, 1, usize{1} << 16), expected.structure());
    }
    return 0;
}
