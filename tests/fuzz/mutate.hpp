// Random changes of an input. Only sizes are bounded: whatever bytes come out are inputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

using Bytes = std::string;
using Random = std::mt19937_64;

class Mutator {
public:
    Mutator(std::uint64_t seed, std::size_t longest) : random_(seed), longest_(longest) {}

    void add_token(Bytes token) { tokens_.push_back(std::move(token)); }
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

    // One to eight changes, mostly few; `other` is an input to take parts of.
    void mutate(Bytes& input, const Bytes& other) {
        const std::size_t changes = std::size_t{1} << below(4);
        for (std::size_t i = 0; i < changes; ++i) change(input, other);
        if (input.size() > longest_) input.resize(longest_);
    }

private:
    static constexpr std::size_t LONGEST_RANGE = 80;  // longer than the 64 bytes that kernels look at together

    void change(Bytes& input, const Bytes& other) {
        if (input.empty()) return insert_bytes(input);
        switch (below(11)) {
            case 0:
                input[below(input.size())] ^= static_cast<char>(1 << below(8));
                break;
            case 1:
                input[below(input.size())] = static_cast<char>(below(256));
                break;
            case 2:
                input[below(input.size())] += static_cast<char>(below(2) ? 1 + below(8) : 255 - below(8));
                break;
            case 3:
                insert_bytes(input);
                break;
            case 4: {
                const auto [at, size] = range(input);
                input.erase(at, size);
                break;
            }
            case 5: {
                const auto [at, size] = range(input);
                input.insert(place(input), input.substr(at, size));
                break;
            }
            case 6: {
                const auto [at, size] = range(input);
                input.insert(place(input), repeated(input.substr(at, size)));
                break;
            }
            case 7:
                swap_ranges(input);
                break;
            case 8:
                splice(input, other);
                break;
            default:
                put_token(input);
        }
    }

    void insert_bytes(Bytes& input) {
        Bytes bytes(1 + below(4), '\0');
        for (char& byte : bytes) byte = static_cast<char>(below(256));
        input.insert(place(input), bytes);
    }

    Bytes repeated(const Bytes& part) {
        Bytes bytes;
        for (std::size_t times = 1 + below(8); times > 0 && bytes.size() < LONGEST_RANGE; --times) bytes += part;
        return bytes;
    }

    void swap_ranges(Bytes& input) {
        const auto [at, size] = range(input);
        const Bytes part = input.substr(at, size);
        input.erase(at, size);
        input.insert(place(input), part);
    }

    // A part of the other input instead of a part of this one, or the front of one and the back of the other.
    void splice(Bytes& input, const Bytes& other) {
        if (other.empty()) return;
        const auto [at, size] = range(input);
        const auto [from, count] = range(other);
        if (below(3) != 0) {
            input.replace(at, size, other, from, count);
        } else {
            input.replace(at, Bytes::npos, other, from, Bytes::npos);
        }
    }

    // Puts a token over existing bytes, or between them.
    void put_token(Bytes& input) {
        if (tokens_.empty()) return insert_bytes(input);
        const Bytes& token = tokens_[below(tokens_.size())];
        const std::size_t at = place(input);
        input.replace(at, below(2) ? std::min(token.size(), input.size() - at) : 0, token);
    }

    std::size_t place(const Bytes& input) { return below(input.size() + 1); }

    struct Range {
        std::size_t at, size;
    };
    Range range(const Bytes& input) {
        const std::size_t at = below(input.size());
        return {at, 1 + below(std::min(LONGEST_RANGE, input.size() - at))};
    }

    Random random_;
    std::size_t longest_;
    std::vector<Bytes> tokens_;
};

}  // namespace fuzz
