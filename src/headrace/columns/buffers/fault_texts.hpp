// Raw texts of faulty records, which stay where they are until the load's result goes. One allocation holds many texts:
// a text may fail in every record, and a string of its own would take more than the record.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

class FaultTexts {
public:
    // A copy of the text.
    std::string_view keep(std::string_view text) {
        if (text.size() > left_) grow(text.size());
        char* const begin = next_;
        if (!text.empty()) std::memcpy(begin, text.data(), text.size());
        next_ += text.size();
        left_ -= text.size();
        return {begin, text.size()};
    }

    // Takes over the texts of another.
    void take(FaultTexts&& other) {
        std::move(other.chunks_.begin(), other.chunks_.end(), std::back_inserter(chunks_));
        other.chunks_.clear();
        other.left_ = 0;
    }

private:
    static constexpr usize LEAST = usize{4} << 10, MOST = usize{1} << 20;

    void grow(usize least) {
        size_ = std::min(std::max(2 * size_, LEAST), MOST);
        left_ = std::max(least, size_);
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
        next_ = chunks_.back().get();
    }

    std::vector<std::unique_ptr<char[]>> chunks_;
    char* next_ = nullptr;
    usize left_ = 0, size_ = 0;
};

}  // namespace headrace
