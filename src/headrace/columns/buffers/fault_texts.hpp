// Stores the raw texts of faulty records, which do not move while the load's result exists. One allocation contains
// many texts: a fault may occur in every record, and one allocation each would take more memory than the record.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cpu/block_cache.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

class FaultTexts {
public:
    // Return a stored copy of the text.
    std::string_view keep(std::string_view text) {
        if (text.size() > left_) grow(text.size());
        char* const begin = next_;
        if (!text.empty()) std::memcpy(begin, text.data(), text.size());
        next_ += text.size();
        left_ -= text.size();
        bytes_ += text.size();
        return {begin, text.size()};
    }

    // Allocate memory for texts of `bytes` in total, and no more.
    void reserve(usize bytes) {
        if (bytes > left_) add_chunk(bytes);
    }

    // Take the texts of another store.
    void take(FaultTexts&& other) {
        std::move(other.chunks_.begin(), other.chunks_.end(), std::back_inserter(chunks_));
        other.chunks_.clear();
        other.left_ = 0;
        bytes_ += std::exchange(other.bytes_, 0);
    }

    usize bytes() const { return bytes_; }  // of all texts

private:
    static constexpr usize MIN_CHUNK = usize{4} << 10, MAX_CHUNK = usize{1} << 20;

    void grow(usize min_bytes) {
        size_ = std::min(std::max(2 * size_, MIN_CHUNK), MAX_CHUNK);
        add_chunk(std::max(min_bytes, size_));
    }

    void add_chunk(usize bytes) {
        chunks_.emplace_back().resize(bytes);
        next_ = chunks_.back().as<char>();
        left_ = bytes;
    }

    std::vector<WorkMemory> chunks_;
    char* next_ = nullptr;
    usize left_ = 0, size_ = 0, bytes_ = 0;
};

}  // namespace headrace
