// Code that the targets share. A target is one file fuzz_*.cpp with LLVMFuzzerTestOneInput: the input's first bytes
// choose options, the others are the text. It ends in REQUIRE (or a sanitizer) where something is wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "core/cpu/portable.hpp"

// Prints the failed condition and its place, and ends the process. The driver of the target keeps the input.
#define REQUIRE(condition)                                                                        \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            std::fprintf(stderr, "\n%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                         \
        }                                                                                         \
    } while (false)

namespace fuzz {

using headrace::u8;
using headrace::usize;

// The input, taken from its front. After its end there are zeros.
class Input {
public:
    Input(const u8* data, usize size) : data_(data), size_(size) {}

    u8 take() {
        if (size_ == 0) return 0;
        --size_;
        return *data_++;
    }

    // 0 .. bound - 1, for bounds up to 256
    usize below(usize bound) { return take() % bound; }
    bool flag() { return take() & 1; }

    template <class T, usize N>
    const T& one_of(const T (&choices)[N]) {
        return choices[below(N)];
    }

    // The rest of the input. It ends where the input's memory ends, so that sanitizers see each read after it.
    const u8* data() const { return data_; }
    usize size() const { return size_; }

private:
    const u8* data_;
    usize size_;
};

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
