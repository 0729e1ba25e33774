#include "columns/dictionary/joined_codes.hpp"

#include <algorithm>

#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

// A text of a thread.
struct ThreadText {
    u64 row;
    usize part;
    u32 code;
};

// Return the texts of all threads by their first rows. Equal texts of two threads are both there.
std::vector<ThreadText> texts_by_row(const std::vector<ThreadCodes>& parts, usize column) {
    std::vector<ThreadText> found;
    for (usize part = 0; part < parts.size(); ++part) {
        const ThreadTexts* const texts = parts[part].columns[column].get();
        const usize count = texts == nullptr ? 0 : texts->count();
        for (usize code = 0; code < count; ++code) {
            found.push_back({texts->first_row(code), part, static_cast<u32>(code)});
        }
    }
    std::sort(found.begin(), found.end(), [](const ThreadText& a, const ThreadText& b) { return a.row < b.row; });
    return found;
}

// The texts as a column of large strings.
struct FoundTexts {
    std::vector<i64> ends{0};
    std::vector<u8> bytes;
    TextColumn column;

    FoundTexts(const std::vector<ThreadCodes>& parts, const CodeColumn& of, const std::vector<ThreadText>& found) {
        ends.reserve(found.size() + 1);
        for (const ThreadText& one : found) {
            const std::string_view text = parts[one.part].columns[of.column]->text(one.code);
            bytes.insert(bytes.end(), text.begin(), text.end());
            ends.push_back(static_cast<i64>(bytes.size()));
        }
        bytes.resize(bytes.size() + Region::SLACK);
        column.form = TextForm::large;
        column.length = found.size();
        column.places = reinterpret_cast<const u8*>(ends.data());
        column.bytes = {bytes.data()};
        column.budget = of.budget;
    }
};

void renumber(const CodedRows& rows, const std::vector<u32>& numbers, const CodeColumn& column) {
    for (u64 row = rows.begin; row < rows.begin + rows.count; ++row) {
        const bool is_null = column.nulls != nullptr && (column.nulls[row / 64] >> (row % 64) & 1) != 0;
        column.codes[row] = is_null ? 0 : numbers[column.codes[row]];
    }
}

}  // namespace

TextDictionary join_codes(const std::vector<ThreadCodes>& parts, const CodeColumn& column, unsigned threads) {
    const std::vector<ThreadText> found = texts_by_row(parts, column.column);
    TextDictionary result = make_dictionary(FoundTexts(parts, column, found).column, threads);
    if (parts.size() == 1) return result;  // its texts are in this order, and differ
    std::vector<std::vector<u32>> numbers(parts.size());
    for (usize part = 0; part < parts.size(); ++part) {
        const ThreadTexts* const texts = parts[part].columns[column.column].get();
        if (texts != nullptr) numbers[part].resize(texts->count());
    }
    for (usize i = 0; i < found.size(); ++i) {
        numbers[found[i].part][found[i].code] = result.codes.values.as<u32>()[i];
    }
    run_each(parts.size(), threads, [&](usize part) {
        if (numbers[part].empty()) return;
        for (const CodedRows& rows : parts[part].tiles) renumber(rows, numbers[part], column);
    });
    return result;
}

}  // namespace headrace
