// The width of a window and the stride follow from the shortest pattern. Each pattern has as many windows as the
// stride, at adjacent offsets. Of the first offsets, the one whose windows the patterns before use least is taken. So
// patterns with a common prefix do not share a bucket.
#include "query/find/pattern/pattern_set.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "query/find/pattern/fold.hpp"

namespace headrace {
namespace {

constexpr u64 offsets_tried = 16;
// Slots: 2^10 per entry where the table then fits 16 KiB of a processor's L1 cache, and at least 2^4.
constexpr u32 roomy_bits = 10, cached_bits = 17, min_bits = 4;

struct WindowShape {
    u64 from;  // least length of the shortest pattern
    u32 width, stride;
};
constexpr WindowShape shapes[] = {{19, 16, 4}, {11, 8, 4}, {10, 7, 4}, {9, 6, 4}, {8, 5, 4}, {7, 4, 4},
                                  {5, 4, 2},   {4, 4, 1},  {3, 3, 1},  {2, 2, 1}, {1, 1, 1}};

}  // namespace

FindPatterns::FindPatterns(const std::vector<std::string_view>& patterns, bool ignore_case) {
    u64 shortest = ~u64{0};
    for (const std::string_view pattern : patterns) {
        if (pattern.empty()) throw std::invalid_argument("a pattern is empty");
        patterns_.push_back({bytes_.size(), pattern.size()});
        shortest = std::min<u64>(shortest, pattern.size());
        for (const char each : pattern) {
            const u8 byte = static_cast<u8>(each);
            bytes_.push_back(ignore_case ? fold_byte(byte) : byte);
        }
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
    }
    bytes_.resize(bytes_.size() + 16);  // a window may be read past the last pattern
    const WindowShape& shape =
        *std::find_if(std::begin(shapes), std::end(shapes), [&](const WindowShape& s) { return shortest >= s.from; });
    shape_.width = shape.width;
    shape_.stride = shape.stride;
    shape_.mask = low_mask(((shape.width - 1) % 4 + 1) * 8);
    shape_.letter_bits = ignore_case ? 0x20202020 : 0;
    shape_.ignore_case = ignore_case;
    choose_windows();
    fill_table();
}

u32 FindPatterns::print_at(u64 begin) const {
    u32 print = 0;
    for (u64 i = 0; i < shape_.width; i += 4) {
        const u32 word = static_cast<u32>(load_bytes(bytes_.data() + begin + i, 4)) | shape_.letter_bits;
        print = next_print(print, i + 4 < shape_.width ? word : word & shape_.mask);
    }
    return print;
}

void FindPatterns::choose_windows() {
    std::unordered_map<u32, u32> uses;
    uses.reserve(patterns_.size() * shape_.stride);
    for (u32 i = 0; i < patterns_.size(); ++i) {
        const PatternBytes& pattern = patterns_[i];
        const u64 offsets = std::min(pattern.length - shape_.width - shape_.stride + 2, offsets_tried);
        u64 best = 0;
        u32 least = ~0u;
        for (u64 offset = 0; offset < offsets && least != 0; ++offset) {
            u32 used = 0;
            for (u64 j = 0; j < shape_.stride; ++j) {
                const auto found = uses.find(print_at(pattern.begin + offset + j));
                if (found != uses.end()) used = std::max(used, found->second);
            }
            if (used < least) {
                least = used;
                best = offset;
            }
        }
        for (u64 j = 0; j < shape_.stride; ++j) {
            const u32 print = print_at(pattern.begin + best + j);
            ++uses[print];
            entries_.push_back({print, i, static_cast<u32>(best + j), 0});
            shape_.max_offset = std::max(shape_.max_offset, static_cast<u32>(best + j));
        }
    }
}

void FindPatterns::fill_table() {
    shape_.bucket_bits = std::max(1u, static_cast<u32>(std::bit_width(entries_.size())));
    const u32 roomy = std::min(shape_.bucket_bits + roomy_bits, cached_bits);
    shape_.slot_bits = std::max(roomy, shape_.bucket_bits + min_bits);
    bits_ = slots(shape_.slot_bits);
    const auto bucket = [&](const WindowEntry& entry) { return slot_of(entry.print, shape_.bucket_bits); };
    std::stable_sort(entries_.begin(), entries_.end(),
                     [&](const WindowEntry& a, const WindowEntry& b) { return bucket(a) < bucket(b); });
    buckets_.resize((usize{1} << shape_.bucket_bits) + 1);
    for (const WindowEntry& entry : entries_) ++buckets_[bucket(entry) + 1];
    for (usize i = 1; i < buckets_.size(); ++i) buckets_[i] += buckets_[i - 1];
}

std::vector<u32> FindPatterns::slots(u32 slot_bits) const {
    std::vector<u32> bits(usize{1} << slot_bits >> 5);
    for (const WindowEntry& entry : entries_) {
        const u32 slot = slot_of(entry.print, slot_bits);
        bits[slot / 32] |= 1u << (slot % 32);
    }
    return bits;
}

PatternTable FindPatterns::table() const {
    PatternTable table = shape_;
    table.bits = bits_.data();
    table.buckets = buckets_.data();
    table.entries = entries_.data();
    table.patterns = patterns_.data();
    table.bytes = bytes_.data();
    return table;
}

}  // namespace headrace
