// Whether a text holds a byte that has a meaning in a dialect: sixteen bytes at a time by GCC's vectors, which are there
// for every processor; four comparisons each, as most dialects have four such bytes (separator, quote, CR, LF).
#pragma once

#include <string_view>

#include "core/portable.hpp"

HR_BEGIN_NAMESPACE

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
        for (usize i = 0; i < 4; ++i) each_[i] = Vector{} + distinct[i < count_ ? i : 0];
    }

    bool listed(u8 byte) const { return listed_[byte]; }

    bool any_in(const u8* p, usize n) const {
        if (count_ > 4 || count_ == 0) return any_listed(p, n);
        if (n > 16) {
            for (usize at = 0; at + 16 < n; at += 16) {
                if (hit(load(p + at))) return true;
            }
            return hit(load(p + n - 16));  // overlaps what was looked at
        }
        return hit(load_short(p, n));
    }

private:
    typedef u8 Vector __attribute__((vector_size(16)));
    typedef u64 Words __attribute__((vector_size(16)));

    static Vector load(const u8* p) {
        Vector bytes;
        __builtin_memcpy(&bytes, p, 16);
        return bytes;
    }

    // n <= 16 bytes, some of them several times and nothing else, so that no byte beside the text is looked at.
    static Vector load_short(const u8* p, usize n) {
        if (n >= 8) return reinterpret_cast<Vector>(Words{load_part<u64>(p), load_part<u64>(p + n - 8)});
        u64 word;
        if (n >= 4) {
            word = load_part<u32>(p) | static_cast<u64>(load_part<u32>(p + n - 4)) << 32;
        } else {
            word = (p[0] | u64{p[n / 2]} << 8 | u64{p[n - 1]} << 16 | u64{p[0]} << 24) * 0x0000000100000001;
        }
        return reinterpret_cast<Vector>(Words{word, word});
    }

    template <class T>
    static T load_part(const u8* p) {
        T part;
        __builtin_memcpy(&part, p, sizeof part);
        return part;
    }

    bool hit(Vector bytes) const {
        const auto found = (bytes == each_[0]) | (bytes == each_[1]) | (bytes == each_[2]) | (bytes == each_[3]);
        const Words words = reinterpret_cast<Words>(found);
        return (words[0] | words[1]) != 0;
    }

    bool any_listed(const u8* p, usize n) const {
        for (usize i = 0; i < n; ++i) {
            if (listed_[p[i]]) return true;
        }
        return false;
    }

    Vector each_[4];
    usize count_ = 0;
    bool listed_[256] = {};
};

HR_END_NAMESPACE
