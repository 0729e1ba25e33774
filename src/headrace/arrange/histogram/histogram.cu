// Counts the keys of each bucket: each block counts its keys in shared memory and adds the counts to the result at the
// end. (Dissertation of Ashkiani 2017, section 3.7.3: one histogram per block, added atomically; replicas against
// contention: Gomez-Luna et al. 2013, "An optimized approach to histogram computation on GPU".)
//
// Bytes moved per key of width w: w, and 8 for each block and bucket. At the rate of memory, a multiprocessor of an
// H200 receives 4 keys of 4 bytes per clock, so it has 32 instructions per key. Buckets of equal width take 10 to 14
// and an addition without conflicts, so memory is the bound. 16-bit counters take 34 to 38, so instructions are the
// bound (docs/decisions/0011-histogram.md).
#include "arrange/histogram/between.cuh"
#include "arrange/histogram/count.cuh"

using namespace headrace;

#if defined(HR_BUCKET)
// Evaluates an expression of the caller (expression.py), such as (key >> 24u).
template <bool>
struct BucketRule {
    Even<Key> unused;
    u32 count;
    template <u32 n>
    HR_MEMBER void all(u32 (&b)[n], const Key (&keys)[n]) const {
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            const Key key = keys[k];
            b[k] = at_most(HR_BUCKET, count);
        }
    }
};
#else
template <bool by_shift>
struct BucketRule {
    Even<Key> even;
    u32 count;
    template <u32 n>
    HR_MEMBER void all(u32 (&b)[n], const Key (&keys)[n]) const {
#pragma unroll
        for (u32 k = 0; k < n; ++k) b[k] = Even<Key>::template part<by_shift>(even, keys[k], count);
    }
};
#endif

// Dynamic shared memory: `buckets` + 1 counters of 4 bytes, times replicas.
extern "C" __global__ void __launch_bounds__(threads, resident)
    histogram(const Key* keys, i64 count, u64* result, u32 buckets, u32 replicas, Even<Key> even) {
    HR_DYNAMIC_SHARED(u32, counters);
#if !defined(HR_BUCKET)
    if (Even<Key>::by_shift(even))
        return count_replicated<HR_ROWS>(keys, count, result, counters, buckets, replicas,
                                         BucketRule<true>{even, buckets});
#endif
    count_replicated<HR_ROWS>(keys, count, result, counters, buckets, replicas, BucketRule<false>{even, buckets});
}

// Blocks with the same y count the `window` buckets from y * window. Dynamic shared memory: 2 bytes per bucket of the
// window.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_packed(const Key* keys, i64 count, u64* result, u32 buckets, u32 window, Even<Key> even) {
    HR_DYNAMIC_SHARED(u32, counters);
    const u32 first = blockIdx.y * window;
#if !defined(HR_BUCKET)
    if (Even<Key>::by_shift(even))
        return count_packed(keys, count, result, counters, buckets, first, window, BucketRule<true>{even, buckets});
#endif
    count_packed(keys, count, result, counters, buckets, first, window, BucketRule<false>{even, buckets});
}
