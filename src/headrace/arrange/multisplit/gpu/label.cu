// Writes the bucket of each key as a label of 1, 2 or 4 bytes, and finds the start of each bucket in sorted keys.
//
// Labels serve keys and rules that arrange/multisplit/gpu/split.cu is not compiled for, and functions of more than 256
// buckets. Labels are split as keys, and keys and values move with them. (Dissertation of Ashkiani 2017, section 3.3.3,
// "reduced-bit sort".)
//
// Bytes moved per key of width w: w, and the bytes of the label.
#include "arrange/multisplit/gpu/split_rule.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

template <class Digit, class Label>
HR_FN u32 write_labels(const Key* keys, u64 count, const Digit& digit, Label* labels) {
    u32 strays = 0;
    for (u64 i = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += static_cast<u64>(gridDim.x) * threads) {
        const Key key = keys[i];
        labels[i] = static_cast<Label>(digit.of(key));
        strays += digit.is_stray(key);
    }
    return strays;
}

// Writes labels of 1, 2 or 4 bytes; adds the number of keys in no bucket to `strays`.
template <class Digit>
HR_FN void label(const Key* keys, u64 count, const Digit& digit, void* labels, u32 width, u64* strays) {
    u32 found;
    if (width == 1) {
        found = write_labels(keys, count, digit, static_cast<u8*>(labels));
    } else if (width == 2) {
        found = write_labels(keys, count, digit, static_cast<u16*>(labels));
    } else {
        found = write_labels(keys, count, digit, static_cast<u32*>(labels));
    }
    if (found != 0) atomicAdd(strays, static_cast<u64>(found));
}

// Finds the start of each of `buckets` buckets, and the end, in keys sorted by bucket: one binary search per bucket.
template <class Digit>
HR_FN void find_buckets(const Key* keys, u64 count, const Digit& digit, u32 buckets, u64* starts) {
    for (u32 bucket = blockIdx.x * threads + threadIdx.x; bucket <= buckets; bucket += gridDim.x * threads) {
        u64 low = 0;
        for (u64 left = count; left != 0;) {
            const u64 half = left / 2;
            if (digit.of(keys[low + half]) < bucket) {
                low += half + 1;
                left -= half + 1;
            } else {
                left = half;
            }
        }
        starts[bucket] = low;
    }
}

// The kernels of a rule. One program has those of all rules but Computed, which needs a program for each expression.
#define HR_LABEL_KERNELS(rule)                                                                                     \
    extern "C" __global__ void __launch_bounds__(threads)                                                          \
        label_##rule(const Key* keys, u64 count, DigitBy<rule<Key>> digit, void* labels, u32 width, u64* strays) { \
        label(keys, count, digit, labels, width, strays);                                                          \
    }                                                                                                              \
    extern "C" __global__ void __launch_bounds__(threads)                                                          \
        find_buckets_##rule(const Key* keys, u64 count, DigitBy<rule<Key>> digit, u32 buckets, u64* starts) {      \
        find_buckets(keys, count, digit, buckets, starts);                                                         \
    }

#if defined(HR_BUCKET)
HR_LABEL_KERNELS(Computed)
#else
HR_LABEL_KERNELS(BitsOf)
HR_LABEL_KERNELS(AnyOf)
HR_LABEL_KERNELS(BetweenOf)
#endif
