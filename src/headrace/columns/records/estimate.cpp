#include "columns/records/estimate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headrace {
namespace {

// Return the variance of the mean of `count` sizes, divided by the square of the mean.
double variation(const Sizes& sizes, double count) {
    if (sizes.sum == 0) return 0;
    const double total = static_cast<double>(sizes.sum);
    return std::max(static_cast<double>(sizes.squares) / (total * total) - 1 / count, 0.0);
}

// A mean, its deviations as a part of it, and a constant spare.
struct MeanEstimate {
    double mean, deviations;
    u64 spare;

    u64 with_spare(const SpareRule& rule) const {
        const double times = 1 + rule.min_part + std::min(deviations, rule.max_part);
        return static_cast<u64>(mean * times) + spare;
    }
    // Return whether the spare covers the deviations.
    bool is_enough(const SpareRule& rule) const {
        return mean * deviations <= mean * rule.max_part + static_cast<double>(spare);
    }
};

// Estimate the sizes from a sample. `is_enough` is set to whether the spare covers the deviations of all sizes.
std::optional<SizeEstimate> estimate_from(const PrefixSample& sample, u64 size, const std::vector<usize>& strings,
                                          const SpareRule& rule, bool& is_enough) {
    is_enough = false;
    if (sample.records == 0) return std::nullopt;
    const double times = static_cast<double>(size) / static_cast<double>(sample.bytes);
    const double count = static_cast<double>(sample.records), of_rows = variation(sample.lengths, count);
    const MeanEstimate rows{times * count, rule.deviations * std::sqrt(of_rows), rule.rows};
    SizeEstimate found{rows.with_spare(rule), {}};
    is_enough = sample.records >= rule.min_records && rows.is_enough(rule);
    for (const usize position : strings) {
        const Sizes& field = sample.fields[position];
        const double deviations = rule.deviations * std::sqrt(of_rows + variation(field, count));
        const MeanEstimate bytes{times * static_cast<double>(field.sum), deviations, rule.string_bytes};
        found.strings.push_back(std::min(bytes.with_spare(rule), size));
        is_enough = is_enough && (bytes.with_spare(rule) >= size || bytes.is_enough(rule));
    }
    return found;
}

}  // namespace

std::optional<SizeEstimate> estimate_sizes(const Dialect& dialect, std::string_view prefix, u64 size,
                                           const std::vector<usize>& strings, const SpareRule& rule) {
    usize width = 0;
    for (const usize position : strings) width = std::max(width, position + 1);
    PrefixReader reader(dialect, prefix, width);
    for (usize sample = rule.min_sample;; sample *= rule.growth) {
        bool is_enough;
        const std::optional<SizeEstimate> found = estimate_from(reader.read(sample), size, strings, rule, is_enough);
        if (is_enough || sample >= prefix.size()) return found;
    }
}

std::vector<u64> scale_sizes(std::vector<u64> sizes, double times, u64 spare, u64 limit) {
    for (u64& size : sizes) {
        const u64 scaled = static_cast<u64>(static_cast<double>(size) * times) + spare;
        const u64 grain = std::max(std::bit_floor(scaled) / 64, u64{1});
        size = std::min((scaled + grain - 1) / grain * grain, limit);
    }
    return sizes;
}

}  // namespace headrace
