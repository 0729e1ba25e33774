#include "columns/records/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace headrace {
namespace {

// The variance of a mean of so many sizes, in parts of its square.
double variation(const Sizes& sizes, double count) {
    if (sizes.sum == 0) return 0;
    const double total = static_cast<double>(sizes.sum);
    return std::max(static_cast<double>(sizes.squares) / (total * total) - 1 / count, 0.0);
}

// A mean, some standard deviations of it in parts of it, and what is spare in any case.
struct Estimate {
    double mean, deviations;
    u64 spare;

    u64 room(const SpareRule& rule) const {
        const double times = 1 + rule.least_part + std::min(deviations, rule.most_part);
        return static_cast<u64>(mean * times) + spare;
    }
    bool is_enough(const SpareRule& rule) const {
        return mean * deviations <= mean * rule.most_part + static_cast<double>(spare);
    }
};

// What so many first bytes show; and whether there is room for the deviations that they let one expect.
std::optional<Expected> expected_by(const Beginning& seen, u64 size, const std::vector<usize>& strings,
                                    const SpareRule& rule, bool& is_enough) {
    is_enough = false;
    if (seen.records == 0) return std::nullopt;
    const double times = static_cast<double>(size) / static_cast<double>(seen.bytes);
    const double count = static_cast<double>(seen.records), of_rows = variation(seen.lengths, count);
    const Estimate rows{times * count, rule.deviations * std::sqrt(of_rows), rule.rows};
    Expected found{rows.room(rule), {}};
    is_enough = seen.records >= rule.least_records && rows.is_enough(rule);
    for (const usize place : strings) {
        const Sizes& field = seen.fields[place];
        const double deviations = rule.deviations * std::sqrt(of_rows + variation(field, count));
        const Estimate bytes{times * static_cast<double>(field.sum), deviations, rule.string_bytes};
        found.strings.push_back(std::min(bytes.room(rule), size));
        is_enough = is_enough && (bytes.room(rule) >= size || bytes.is_enough(rule));
    }
    return found;
}

}  // namespace

std::optional<Expected> expect(const Dialect& dialect, std::string_view beginning, u64 size,
                               const std::vector<usize>& strings, const SpareRule& rule) {
    usize width = 0;
    for (const usize place : strings) width = std::max(width, place + 1);
    BeginningReader reader(dialect, beginning, width);
    for (usize known = rule.least_sample;; known *= rule.growth) {
        bool is_enough;
        const std::optional<Expected> found = expected_by(reader.read(known), size, strings, rule, is_enough);
        if (is_enough || known >= beginning.size()) return found;
    }
}

}  // namespace headrace
