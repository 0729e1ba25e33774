#include "query/find/cpu/probes.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "query/find/pattern/fold.hpp"

namespace headrace {
namespace {

constexpr u64 sample_share = 64, min_samples = 512, max_samples = 4096;  // of a text's bytes
constexpr u64 run_bytes = 64;     // sampled at one place, since each place costs a cache miss, or a page fault in a map
constexpr u64 few_probes = 3;     // up to as many are compared before the first branch, in any order
constexpr double few_left = 0.1;  // positions of a block that the first probes should leave
constexpr u64 compared_all = 256;  // longer patterns have their bytes' last offsets and a few even ones as candidates

struct ByteSample {
    std::array<u32, 256> counts{};  // of each byte
    u64 size = 1;                   // bytes
};

// Counts the bytes of a sample: all bytes of a short text, otherwise runs. Places are not even, so that no period of
// the text hides a byte.
ByteSample sample_of(const FindText& text, bool ignore_case) {
    ByteSample sample;
    const u64 samples = std::clamp(text.size / sample_share, min_samples, max_samples);
    const bool has_all = text.size <= samples;
    const u64 run = has_all ? text.size : run_bytes, runs = has_all ? 1 : samples / run_bytes, step = text.size / runs;
    sample.size = run * runs;
    u64 random = 0x9E3779B97F4A7C15;
    for (u64 i = 0; i < runs; ++i) {
        random = random * 6364136223846793005 + 1442695040888963407;
        const u8* const bytes = text.bytes + i * step + (random >> 33) % (step - run + 1);
        for (u64 k = 0; k < run; ++k) ++sample.counts[ignore_case ? fold_byte(bytes[k]) : bytes[k]];
    }
    return sample;
}

// Offsets of bytes that may be compared, each once.
std::vector<u64> candidate_offsets(const std::vector<u8>& pattern) {
    std::vector<u64> offsets;
    const u64 length = pattern.size();
    if (length <= compared_all) {
        for (u64 i = 0; i < length; ++i) offsets.push_back(i);
        return offsets;
    }
    std::array<u64, 256> last;
    last.fill(length);
    for (u64 i = 0; i < length; ++i) last[pattern[i]] = i;
    std::copy_if(last.begin(), last.end(), std::back_inserter(offsets), [&](u64 at) { return at < length; });
    for (u64 i = 0; i < max_probes; ++i) offsets.push_back(i * (length - 1) / (max_probes - 1));
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    return offsets;
}

// Number of probes that leave few positions of a block, if bytes are independent.
u32 head_of(const FindPlan& plan, const ByteSample& sample) {
    double left = 64;
    u32 head = 0;
    for (; head < plan.probe_count && (head < few_probes || left > few_left); ++head) {
        left *= std::max(sample.counts[plan.probes[head].byte], 1u) / static_cast<double>(sample.size);
    }
    return head;
}

}  // namespace

FindPlan find_plan(const FindPattern& pattern, const FindText& text) {
    const std::vector<u8>& bytes = pattern.bytes;
    const u64 length = bytes.size();
    FindPlan plan{bytes.data(),
                  length,
                  pattern.period,
                  pattern.borders.data(),
                  pattern.ignore_case,
                  static_cast<u32>(std::min<u64>(length, max_probes)),
                  0,
                  {}};
    ByteSample sample;
    if (length > few_probes) sample = sample_of(text, pattern.ignore_case);
    const std::array<u32, 256>& counts = sample.counts;
    std::vector<u64> offsets = candidate_offsets(bytes);
    std::stable_sort(offsets.begin(), offsets.end(), [&](u64 a, u64 b) { return counts[bytes[a]] < counts[bytes[b]]; });
    // The third byte is the middle one, whose distance makes it independent of two rare neighbours.
    if (length > 2) {
        const u64 middle = length / 2;
        const auto found = std::find(offsets.begin(), offsets.end(), middle);
        if (found == offsets.end()) {
            offsets.insert(offsets.begin() + 2, middle);
        } else if (found > offsets.begin() + 2) {
            std::rotate(offsets.begin() + 2, found, found + 1);
        }
    }
    for (u32 i = 0; i < plan.probe_count; ++i) {
        const u8 byte = bytes[offsets[i]];
        plan.probes[i] = {offsets[i], byte, pattern.ignore_case ? other_case(byte) : byte};
    }
    plan.head = head_of(plan, sample);
    return plan;
}

}  // namespace headrace
