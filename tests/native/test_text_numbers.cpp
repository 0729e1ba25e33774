// Numbers texts whose hashes have few bits, so that most are equal, and compares the numbers with a map's.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "index/hash_map/texts/text_numbers.hpp"

using namespace headrace;

namespace {

struct Texts {
    std::vector<std::string> texts;
    std::string bytes;
    std::vector<u64> offsets{0}, hashes;

    void add(const std::string& text, u64 hash) {
        texts.push_back(text);
        bytes += text;
        offsets.push_back(bytes.size());
        hashes.push_back(hash);
    }
    RowSet rows() const {
        ComparedColumn column{};
        column.column.values = bytes.data();
        column.column.offsets = offsets.data();
        column.column.width = 8;
        return {{column}, hashes.data(), hashes.size(), false};
    }
};

Texts random_texts(check::Random& random, u64 count, u64 hashes) {
    Texts result;
    for (u64 i = 0; i < count; ++i) {
        const u64 number = random.below(3000);
        result.add(std::to_string(number) + std::string(number % 40, 'x'), number % hashes * golden_ratio);
    }
    return result;
}

void test_numbers(u64 hashes, unsigned threads) {
    check::Random random("numbers");
    TextNumbers numbers(std::make_shared<Budget>());
    std::map<std::string, i64> expected;
    for (int step = 0; step < 6; ++step) {
        const Texts given = random_texts(random, 1 + random.below(9000), hashes);
        std::vector<i64> found(given.texts.size());
        numbers.find(given.rows(), found.data(), threads);
        for (u64 i = 0; i < found.size(); ++i) {
            const auto at = expected.find(given.texts[i]);
            CHECK(found[i] == (at == expected.end() ? -1 : at->second));
        }
        numbers.add(given.rows(), found.data(), threads);
        for (u64 i = 0; i < found.size(); ++i) {
            CHECK(found[i] == expected.try_emplace(given.texts[i], static_cast<i64>(expected.size())).first->second);
        }
    }
    const auto copy = numbers.copy();
    CHECK(copy->ends().size() == expected.size() && copy->statistics().size == expected.size());
    for (const auto& [text, number] : expected) {
        const u64 begin = number == 0 ? 0 : copy->ends().items()[number - 1], end = copy->ends().items()[number];
        CHECK(std::string(copy->bytes().items() + begin, copy->bytes().items() + end) == text);
    }
}

// Texts that are removed have no number, and the others keep theirs.
void test_removed(u64 hashes) {
    check::Random random("removed");
    TextNumbers numbers(std::make_shared<Budget>());
    std::map<std::string, i64> expected;
    for (int step = 0; step < 8; ++step) {
        const Texts given = random_texts(random, 2000, hashes);
        std::vector<i64> found(given.texts.size());
        numbers.add(given.rows(), found.data(), 1);
        for (u64 i = 0; i < found.size(); ++i) expected[given.texts[i]] = found[i];
        const i64 end = static_cast<i64>(numbers.ends().size() * 3 / 4);
        if (step % 2 == 0) numbers.remove_from(static_cast<u64>(end));
        std::vector<i64> kept;
        std::erase_if(expected, [&](const auto& item) {
            const bool is_gone = step % 2 == 0 ? item.second >= end : random.below(3) == 0;
            if (!is_gone) kept.push_back(item.second);
            return is_gone;
        });
        if (step % 2 != 0) numbers.keep(kept.data(), kept.size());
        std::sort(kept.begin(), kept.end());
        CHECK(std::unique(kept.begin(), kept.end()) == kept.end());
        CHECK(step % 2 == 0 || numbers.ends().size() == static_cast<u64>(kept.back() + 1));
        numbers.find(given.rows(), found.data(), 1);
        for (u64 i = 0; i < found.size(); ++i) {
            const auto at = expected.find(given.texts[i]);
            CHECK(found[i] == (at == expected.end() ? -1 : at->second));
        }
    }
    numbers.keep(nullptr, 0);
    CHECK(numbers.ends().size() == 0 && numbers.statistics().bytes == 0);
}

// Without memory, no text gets a number.
void test_refused_memory() {
    check::Random random("memory");
    TextNumbers numbers(std::make_shared<Budget>(100'000));
    Texts few;
    few.add("first", 0);
    i64 number = -1;
    numbers.add(few.rows(), &number, 1);
    CHECK(number == 0);
    const Texts given = random_texts(random, 20000, 7);
    std::vector<i64> found(given.texts.size());
    bool is_refused = false;
    try {
        numbers.add(given.rows(), found.data(), 1);
    } catch (const MemoryLimitExceeded&) {
        is_refused = true;
    }
    CHECK(is_refused);
    numbers.find(given.rows(), found.data(), 1);
    CHECK(std::all_of(found.begin(), found.end(), [](i64 one) { return one == -1; }));
    numbers.find(few.rows(), &number, 1);
    CHECK(number == 0 && numbers.ends().size() == 1);
}

}  // namespace

int main() {
    for (const unsigned threads : {1u, 4u}) {
        for (const u64 hashes : {1, 7, 3000}) test_numbers(hashes, threads);
    }
    for (const u64 hashes : {1, 7, 3000}) test_removed(hashes);
    test_refused_memory();
    return check::finish();
}
