// A table of 64-bit words, some of which are addresses that are known only when it is copied to the device.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

class AddressedWords {
public:
    // `relative`: indices of words that are offsets from the first word. `buffers`: pairs of the index of a word and
    // the number of the buffer whose address it receives. `strided`: indices of words that receive equally spaced
    // addresses.
    AddressedWords(std::vector<u64> words, std::vector<usize> relative, std::vector<std::pair<usize, usize>> buffers,
                   std::vector<usize> strided)
        : words_(std::move(words)),
          relative_(std::move(relative)),
          buffers_(std::move(buffers)),
          strided_(std::move(strided)) {
        const auto check = [&](usize index) {
            if (index >= words_.size()) throw std::invalid_argument("an index exceeds the number of words");
        };
        for (const usize index : relative_) check(index);
        for (const auto& [index, buffer] : buffers_) check(index);
        for (const usize index : strided_) check(index);
    }

    usize size() const { return words_.size(); }

    // Writes the words to `words` as they are to lie at address `begin`, followed by `suffix`. `addresses`: of the
    // buffers, or none. `strided`: the first of the equally spaced addresses, or 0, and their distance.
    void write(u64* words, u64 begin, const std::vector<u64>& addresses, std::pair<u64, u64> strided,
               const std::vector<u64>& suffix) const {
        std::copy(words_.begin(), words_.end(), words);
        for (const usize index : relative_) words[index] += begin;
        if (!addresses.empty()) {
            for (const auto& [index, buffer] : buffers_) words[index] = addresses.at(buffer);
        }
        if (strided.first != 0) {
            for (usize i = 0; i < strided_.size(); ++i) words[strided_[i]] = strided.first + i * strided.second;
        }
        std::copy(suffix.begin(), suffix.end(), words + size());
    }

private:
    std::vector<u64> words_;
    std::vector<usize> relative_;
    std::vector<std::pair<usize, usize>> buffers_;
    std::vector<usize> strided_;
};

}  // namespace headrace
