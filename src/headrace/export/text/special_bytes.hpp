// Copies text and searches it for the special bytes of a dialect in one pass. It handles sixteen bytes at a time with
// GCC's vectors, which every processor supports. Each step makes four comparisons, because most dialects have four
// special bytes (separator, quote, CR, LF).
#pragma once

#include <string_view>

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

typedef u8 Bytes16 __attribute__((vector_size(16)));

HR_FN Bytes16 load_bytes(const u8* p) {
    Bytes16 bytes;
    __builtin_memcpy(&bytes, p, 16);
    return bytes;
}

HR_FN void store_bytes(u8* out, Bytes16 bytes) { __builtin_memcpy(out, &bytes, 16); }

// Returns 0xFF in the first n <= 16 bytes, else 0.
HR_FN Bytes16 first_bytes(usize n) {
    alignas(32) static constexpr u8 ones_and_zeros[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                          255, 255, 255, 255, 255, 255, 255, 255};
    return load_bytes(ones_and_zeros + 16 - n);
}

HR_FN bool any_set(Bytes16 bytes) {
    u64 words[2];
    __builtin_memcpy(words, &bytes, 16);
    return (words[0] | words[1]) != 0;
}

class SpecialBytes {
public:
    explicit SpecialBytes(std::string_view bytes) {
        u8 distinct[4] = {};
        for (const char c : bytes) {
            const u8 byte = static_cast<u8>(c);
            if (listed_[byte]) continue;
            listed_[byte] = true;
            if (count_ < 4) distinct[count_] = byte;
            ++count_;
        }
        for (usize i = 0; i < 4; ++i) each_[i] = Bytes16{} + distinct[i < count_ ? i : 0];
    }

    bool listed(u8 byte) const { return listed_[byte]; }

    // Copies p[0, n) and returns whether no byte is special. It may read p[0, readable) and write out[0, n + 16).
    bool copy_plain(const u8* p, usize n, usize readable, u8* out) const {
        if (!few()) return copy_listed(p, n, out);
        Bytes16 found{};
        usize at = 0;
        for (; at + 16 <= n; at += 16) {
            const Bytes16 bytes = load_bytes(p + at);
            store_bytes(out + at, bytes);
            found |= special_in(bytes);
        }
        if (at + 16 > readable) return copy_listed(p + at, n - at, out + at) && !any_set(found);
        const Bytes16 bytes = load_bytes(p + at);
        store_bytes(out + at, bytes);
        return !any_set(found | (special_in(bytes) & first_bytes(n - at)));
    }

    // Returns whether one of the first n <= 16 bytes is special; only for dialects with `few` special bytes.
    bool any_in(Bytes16 bytes, usize n) const { return any_set(special_in(bytes) & first_bytes(n)); }
    bool few() const { return count_ <= 4; }

private:
    Bytes16 special_in(Bytes16 bytes) const {
        return (bytes == each_[0]) | (bytes == each_[1]) | (bytes == each_[2]) | (bytes == each_[3]);
    }

    bool copy_listed(const u8* p, usize n, u8* out) const {
        bool found = false;
        for (usize i = 0; i < n; ++i) {
            found |= listed_[p[i]];
            out[i] = p[i];
        }
        return !found;
    }

    Bytes16 each_[4];
    usize count_ = 0;
    bool listed_[256] = {};
};

// Copies p[0, n) with every `quote` doubled, and returns the end. Room as for copy_plain, with 2 n bytes of output.
HR_FN u8* copy_doubled(const u8* p, usize n, usize readable, u8 quote, u8* out) {
    usize at = 0;
    const Bytes16 quotes = Bytes16{} + quote;
    while (at < n) {
        if (at + 16 <= readable) {
            const Bytes16 bytes = load_bytes(p + at);
            const usize step = n - at < 16 ? n - at : 16;
            if (!any_set((bytes == quotes) & first_bytes(step))) {
                store_bytes(out, bytes);
                out += step;
                at += step;
                continue;
            }
        }
        for (const usize until = n - at < 16 ? n : at + 16; at < until; ++at) {
            *out++ = p[at];
            if (p[at] == quote) *out++ = quote;
        }
    }
    return out;
}

HR_END_NAMESPACE
