// Converts keys to codes and back, inspects them, and sorts codes in cache; compiled once for each instruction set.
// Keys become codes a few KB at a time in the L1 cache. So compilers vectorise each loop, and each loop is written once
// for all orders.
#include "arrange/sort/cpu/sort_kernels.hpp"

#include "arrange/sort/cpu/quick_sort.hpp"
#include "arrange/sort/cpu/radix_sort.hpp"
#include "arrange/sort/sort_key.hpp"

HR_BEGIN_NAMESPACE
namespace {

constexpr u64 batch_keys = 1024;

template <class T>
KeyRule<T> rule_at(const void* description) {
    KeyRule<T> rule;
    __builtin_memcpy(&rule, description, sizeof(rule));
    return rule;
}

template <class T>
void decode(const void* codes, u64 n, const void* description, void* keys) {
    const KeyRule<T> rule = rule_at<T>(description);
    const T* const in = static_cast<const T*>(codes);
    T* const out = static_cast<T*>(keys);
    for (u64 i = 0; i < n; ++i) out[i] = rule.key(in[i]);
}

template <class T>
void equal_codes(const KeyRule<T>& rule, const T* in, u64 n, T* out) {
    if (rule.infinity == 0) {
        for (u64 i = 0; i < n; ++i) out[i] = rule.code(in[i]);
    } else {
        for (u64 i = 0; i < n; ++i) out[i] = rule.equal_code(in[i]);
    }
}

// Calls work(codes, first, n) for keys as codes, `batch_keys` at a time. Codes are written to `out` if it is given.
template <class T, class Work>
void each_batch(const void* keys, u64 n, const KeyRule<T>& rule, bool by_equal, void* out, const Work& work) {
    alignas(64) T own[batch_keys];
    for (u64 first = 0; first < n; first += batch_keys) {
        const u64 found = n - first < batch_keys ? n - first : batch_keys;
        const T* const in = static_cast<const T*>(keys) + first;
        T* const codes = out == nullptr ? own : static_cast<T*>(out) + first;
        if (by_equal) {
            equal_codes(rule, in, found, codes);
        } else {
            for (u64 i = 0; i < found; ++i) codes[i] = rule.code(in[i]);
        }
        work(static_cast<const T*>(codes), first, found);
    }
}

// Separate loops with one sum in a register each, which compilers vectorise.
template <class T>
T any_of(const T* codes, u64 n) {
    T any = 0;
    for (u64 i = 0; i < n; ++i) any |= codes[i];
    return any;
}
template <class T>
T all_of(const T* codes, u64 n) {
    T all = static_cast<T>(~T{0});
    for (u64 i = 0; i < n; ++i) all &= codes[i];
    return all;
}
template <class T>
bool falls_anywhere(const T* codes, u64 n) {
    T found = 0;
    for (u64 i = 0; i + 1 < n; ++i) found |= codes[i + 1] < codes[i] ? T{1} : T{0};
    return found != 0;
}
template <class T>
bool rises_anywhere(const T* codes, u64 n) {
    T found = 0;
    for (u64 i = 0; i + 1 < n; ++i) found |= codes[i + 1] > codes[i] ? T{1} : T{0};
    return found != 0;
}
template <class T>
void count_digits(const T* codes, u64 n, KeyDigit digit, u64* counts) {
    for (u64 i = 0; i < n; ++i) ++counts[static_cast<u32>(codes[i] >> digit.shift) & digit.mask];
}

template <class T>
void look(const void* keys, u64 n, const void* description, const KeyLook& how, KeysSeen* seen) {
    T any = 0, all = static_cast<T>(~T{0}), first_code = 0, last = 0;
    bool rises = true, falls = true;
    each_batch<T>(keys, n, rule_at<T>(description), how.by_equal, how.codes, [&](const T* codes, u64 first, u64 found) {
        if (first == 0) first_code = last = codes[0];
        any |= any_of(codes, found);
        all &= all_of(codes, found);
        rises = rises && codes[0] >= last && !falls_anywhere(codes, found);
        falls = falls && codes[0] <= last && !rises_anywhere(codes, found);
        last = codes[found - 1];
        if (how.counts != nullptr) count_digits(codes, found, how.digit, how.counts);
    });
    *seen = {any, all, first_code, last, rises, falls};
}

template <class T>
void pack(const void* keys, u64 n, const void* description, KeyPacking how, u64 first, u64* packed) {
    const KeyRule<T> rule = rule_at<T>(description);
    each_batch<T>(keys, n, rule, true, nullptr, [&](const T* codes, u64 begin, u64 found) {
        for (u64 i = 0; i < found; ++i) {
            packed[begin + i] = (codes[i] & how.span) >> how.drop << how.index_bits | (first + begin + i);
        }
    });
}

template <class T>
void number(const void* keys, u64 n, const void* description, KeyDigit digit, u64* places, u64 first, u64* order) {
    const KeyRule<T> rule = rule_at<T>(description);
    each_batch<T>(keys, n, rule, true, nullptr, [&](const T* codes, u64 begin, u64 found) {
        for (u64 i = 0; i < found; ++i) {
            order[places[static_cast<u32>(codes[i] >> digit.shift) & digit.mask]++] = first + begin + i;
        }
    });
}

// Collects codes in cache lines of `to`: position 5 of a digit whose line begins at position 3 is item 2 of the line.
// A full line is written whole. The first line of a digit, which another digit may share, and the rest at the end are
// not.
template <class T>
void scatter(const void* keys, u64 n, const void* description, KeyDigit digit, u64* places, void* lines, void* to) {
    constexpr u64 per_line = line_bytes / sizeof(T);
    const u64 past = reinterpret_cast<u64>(to) / sizeof(T) % per_line;
    T* const out = static_cast<T*>(to) - past;
    T* const line = static_cast<T*>(lines);
    u32* const begins = reinterpret_cast<u32*>(line + (u64{digit.mask} + 1) * per_line);
    for (u64 d = 0; d <= digit.mask; ++d) {
        places[d] += past;
        begins[d] = static_cast<u32>(places[d] % per_line);
    }
    each_batch<T>(keys, n, rule_at<T>(description), false, nullptr, [&](const T* codes, u64, u64 found) {
        for (u64 i = 0; i < found; ++i) {
            const u32 d = static_cast<u32>(codes[i] >> digit.shift) & digit.mask;
            const u64 place = places[d]++;
            T* const own = line + d * per_line;
            own[place % per_line] = codes[i];
            if (place % per_line < per_line - 1) continue;
            T* const target = out + (place - (per_line - 1));
            if (begins[d] == 0) {
                for (u64 part = 0; part < per_line; part += lanes<T>) stream(target + part, load(own + part));
            } else {
                for (u64 k = begins[d]; k < per_line; ++k) target[k] = own[k];
                begins[d] = 0;
            }
        }
    });
    for (u64 d = 0; d <= digit.mask; ++d) {
        const u64 left = places[d] % per_line;
        for (u64 k = begins[d]; k < left; ++k) out[places[d] - left + k] = line[d * per_line + k];
    }
    stream_end();
}

template <class T>
void sort(void* from, void* to, [[maybe_unused]] void* spare, u64 n, [[maybe_unused]] int ordered) {
#if defined(HR_ISA_AVX512)
    QuickSort<T>::sort(static_cast<T*>(from), static_cast<T*>(to), n);
#else
    const bool is_home = from == to;
    radix_sort<T>(static_cast<T*>(to), static_cast<T*>(is_home ? spare : from), n, is_home, ordered);
#endif
}

#if defined(HR_ISA_AVX512)
template <class T>
bool halve(void* items, QuickPiece* piece, QuickPiece* lower) {
    return QuickSort<T>::halve(static_cast<T*>(items), *piece, *lower);
}
#endif

template <class T>
void count_among(const void* keys, u64 n, const void* description, u64 prefix, u64 prefix_mask, KeyDigit digit,
                 u64* counts) {
    each_batch<T>(keys, n, rule_at<T>(description), true, nullptr, [&](const T* codes, u64, u64 found) {
        for (u64 i = 0; i < found; ++i) {
            counts[static_cast<u32>(codes[i] >> digit.shift) & digit.mask] += ((codes[i] ^ prefix) & prefix_mask) == 0;
        }
    });
}

template <class T>
u64 collect(const void* keys, u64 n, const void* description, u64 bound, u64 equals, u64 first, u64* found) {
    u64 number = 0, met = 0;
    each_batch<T>(keys, n, rule_at<T>(description), true, nullptr, [&](const T* codes, u64 begin, u64 here) {
        u64 any = 0;
        for (u64 i = 0; i < here; ++i) any |= codes[i] <= bound;
        if (any == 0) return;
        for (u64 i = 0; i < here; ++i) {
            const bool is_first = codes[i] < bound || (codes[i] == bound && met++ < equals);
            if (is_first && found != nullptr) found[number] = first + begin + i;
            number += is_first;
        }
    });
    return number;
}

}  // namespace

const SortKernels& sort_kernels() {
    static constexpr SortKernels kernels = {
#if defined(HR_ISA_AVX512)
        true,
#else
        false,
#endif
        {look<u8>, look<u16>, look<u32>, look<u64>},
        {decode<u8>, decode<u16>, decode<u32>, decode<u64>},
        {pack<u8>, pack<u16>, pack<u32>, pack<u64>},
        {number<u8>, number<u16>, number<u32>, number<u64>},
        {scatter<u8>, scatter<u16>, scatter<u32>, scatter<u64>},
        {nullptr, sort<u16>, sort<u32>, sort<u64>},
#if defined(HR_ISA_AVX512)
        {nullptr, halve<u16>, halve<u32>, halve<u64>},
#else
        {},
#endif
        {count_among<u8>, count_among<u16>, count_among<u32>, count_among<u64>},
        {collect<u8>, collect<u16>, collect<u32>, collect<u64>}};
    return kernels;
}

HR_END_NAMESPACE
