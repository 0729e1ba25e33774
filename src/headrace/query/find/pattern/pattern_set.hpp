// Prepares many patterns for one search: their bytes, and the table of their windows.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "query/find/pattern/window.hpp"

namespace headrace {

class FindPatterns {
public:
    // Takes up to 2^24 patterns of 1 to 2^31 bytes.
    FindPatterns(const std::vector<std::string_view>& patterns, bool ignore_case);

    // The table refers to this object's memory.
    PatternTable table() const;

    // 2^slot_bits bits of the slots that fingerprints have.
    std::vector<u32> slots(u32 slot_bits) const;
    std::span<const u32> buckets() const { return buckets_; }
    std::span<const WindowEntry> entries() const { return entries_; }
    std::span<const PatternBytes> patterns() const { return patterns_; }
    std::span<const u8> bytes() const { return bytes_; }

private:
    void choose_windows();
    u32 print_at(u64 begin) const;
    void fill_table();

    std::vector<PatternBytes> patterns_;
    std::vector<u8> bytes_;
    std::vector<WindowEntry> entries_;
    std::vector<u32> bits_, buckets_;
    PatternTable shape_{};  // all but the pointers
};

}  // namespace headrace
