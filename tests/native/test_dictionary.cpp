// Tests dictionaries of texts by several threads against a map of the standard library. Numbers follow the order of
// first rows. There are few and many distinct texts, short ones and long ones that begin alike, with and without nulls.
#include <string>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "columns/dictionary/dictionary.hpp"

using namespace headrace;

namespace {

struct Case {
    const char* name;
    u64 rows;
    u64 distinct;
    const char* begin;  // of each text
    bool has_nulls;
};

const Case CASES[] = {
    {"few", 150'000, 7, "", false},
    {"few long", 150'000, 7, "a text of more than sixteen bytes ", true},
    {"many", 300'000, 90'000, "", true},                                   // the table grows
    {"all distinct", 200'000, 1'000'000'000, "a long beginning ", false},  // it grows twice
    {"one row", 1, 1, "", false},
    {"none", 0, 1, "", false},
};

// Texts as a column of small strings. A region's slack follows the bytes.
struct Texts {
    std::string bytes;
    std::vector<i32> ends{0};
    std::vector<u64> validity;
    TextColumn column;

    explicit Texts(const Case& made) : validity(made.rows / 64 + 1, ~u64{0}) {
        check::Random random(made.name);
        for (u64 row = 0; row < made.rows; ++row) {
            const u64 number = random.below(made.distinct);
            if (made.has_nulls && random.below(9) == 0) {
                validity[row / 64] &= ~(u64{1} << (row % 64));
            } else if (number != 3) {  // that one is the empty text
                bytes += made.begin + std::to_string(number);
            }
            ends.push_back(static_cast<i32>(bytes.size()));
        }
        bytes.resize(bytes.size() + Region::SLACK);
        column.length = made.rows;
        column.places = reinterpret_cast<const u8*>(ends.data());
        column.validity = made.has_nulls ? validity.data() : nullptr;
        column.bytes = {reinterpret_cast<const u8*>(bytes.data())};
    }
};

void test_dictionary(const Case& made, unsigned threads) {
    const Texts texts(made);
    const TextDictionary found = make_dictionary(texts.column, threads);
    const u32* const codes = found.codes.values.as<u32>();
    const i32* const ends = found.texts.offsets.as<i32>();
    std::unordered_map<std::string_view, u32> numbers;
    bool same_codes = true, same_texts = true;
    for (u64 row = 0; row < made.rows; ++row) {
        if (texts.column.is_null(row)) continue;
        const std::string_view text = texts.column.text(row);
        const auto [at, is_new] = numbers.emplace(text, static_cast<u32>(numbers.size()));
        same_codes &= codes[row] == at->second;
        if (!is_new || at->second >= found.count) continue;
        const usize begin = static_cast<usize>(ends[at->second]), end = static_cast<usize>(ends[at->second + 1]);
        same_texts &= text == std::string_view(found.texts.values.as<char>() + begin, end - begin);
    }
    CHECK_EQ(found.count, numbers.size());
    CHECK(same_codes);
    CHECK(same_texts);
}

}  // namespace

int main() {
    for (const Case& made : CASES) {
        for (const unsigned threads : {1u, 2u, 5u}) test_dictionary(made, threads);
    }
    return check::finish();
}
