// Scans and reduces one piece; compiled once per instruction set.
//
// Scan: inside a vector each lane is combined with the lane 1, 2, 4, ... lanes before it (Hillis and Steele 1986, "Data
// parallel algorithms"). The total of preceding vectors is combined last, so that each vector waits for a single
// operation of the preceding vector. Reduction: four vectors accumulate lane by lane, in any order, which only matters
// for equal floats with different bits. NaNs are searched separately, so that minimum and maximum are one instruction.
// Cost per item of width w: 2 w for a scan, w for a reduction, at the rate at which one core copies and reads.
#include "primitives/cpu/scan_kernels.hpp"

#include "core/cpu/vectors.hpp"

HR_BEGIN_NAMESPACE
namespace {

// True if items fill the lanes of a vector; maps are pairs, and are combined one by one.
template <class Op>
constexpr bool has_lanes = true;
template <class T>
constexpr bool has_lanes<Compose<T>> = false;

// Combines lanes if `b` has no NaN: of equal values, and of unordered ones, the first is taken. This is one
// instruction.
template <class T>
HR_HOT Vector<T> join_numbers(Sum<T>, Vector<T> a, Vector<T> b) {
    return a + b;
}

template <class T>
HR_HOT Vector<T> join_numbers(Min<T>, Vector<T> a, Vector<T> b) {
    return b < a ? b : a;
}

template <class T>
HR_HOT Vector<T> join_numbers(Max<T>, Vector<T> a, Vector<T> b) {
    return b > a ? b : a;
}

// Combines lanes if `b` may have NaNs.
template <class Op, class T>
HR_HOT Vector<T> join_any(Vector<T> a, Vector<T> b) {
    return (a == a) & (b != b) ? b : join_numbers(Op(), a, b);
}

template <class Item>
HR_HOT u64 word_of(Item item) {
    u64 word = 0;
    __builtin_memcpy(&word, &item, sizeof(Item));
    return word;
}

template <class Item>
HR_HOT Item item_of(u64 word) {
    Item item;
    __builtin_memcpy(&item, &word, sizeof(Item));
    return item;
}

// Combines each lane with the lanes before it, for distances of `by` lanes and more.
template <class Op, bool nans, int by = 1, class T>
HR_HOT Vector<T> joined_within(Vector<T> v, Vector<T> identity) {
    if constexpr (by >= static_cast<int>(lanes<T>)) {
        return v;
    } else {
        const Vector<T> before = moved_up<by, T>(identity, v);
        if constexpr (nans) {
            return joined_within<Op, nans, 2 * by, T>(join_any<Op, T>(before, v), identity);
        } else {
            return joined_within<Op, nans, 2 * by, T>(join_numbers(Op(), before, v), identity);
        }
    }
}

template <class Op, bool exclusive>
HR_HOT typename Op::Item scan_plainly(const typename Op::Item* in, typename Op::Item* out, u64 count,
                                      typename Op::Item before) {
    for (u64 i = 0; i < count; ++i) {
        const auto after = Op::join(before, item_at(in + i));
        put_item(out + i, exclusive ? before : after);
        before = after;
    }
    return before;
}

template <class Op, bool exclusive, bool streamed>
typename Op::Item scan_vectors(const typename Op::Item* in, typename Op::Item* out, u64 count,
                               typename Op::Item before) {
    using T = typename Op::Item;
    const Vector<T> identity = broadcast<T>(Op::identity());
    Vector<T> carry = broadcast<T>(before);
    u64 i = 0;
    for (; i + lanes<T> <= count; i += lanes<T>) {
        read_ahead(in + i);
        const Vector<T> v = load(in + i);
        Vector<T> before = carry, joined;
        if (has_nan<T>(v)) [[unlikely]] {
            joined = join_any<Op, T>(carry, joined_within<Op, true, 1, T>(v, identity));
            carry = last_everywhere<T>(joined);
        } else {
            const Vector<T> own = joined_within<Op, false, 1, T>(v, identity);
            joined = join_numbers(Op(), carry, own);
            carry = join_numbers(Op(), carry, last_everywhere<T>(own));
        }
        if constexpr (exclusive) joined = moved_up<1, T>(before, joined);
        if constexpr (streamed) {
            stream(out + i, joined);
        } else {
            store(out + i, joined);
        }
    }
    if constexpr (streamed) stream_end();
    return scan_plainly<Op, exclusive>(in + i, out + i, count - i, carry[0]);
}

template <class Op, bool exclusive>
u64 scan(const void* source, void* target, u64 count, u64 word, Stores stores) {
    using T = typename Op::Item;
    const T* in = static_cast<const T*>(source);
    T* out = static_cast<T*>(target);
    T before = item_of<T>(word);
    if constexpr (has_lanes<Op>) {
        const u64 past = reinterpret_cast<u64>(out) % vector_bytes;
        if (stores == Stores::cached || past % sizeof(T) != 0) {
            return word_of(scan_vectors<Op, exclusive, false>(in, out, count, before));
        }
        u64 head = (vector_bytes - past) % vector_bytes / sizeof(T);
        if (head > count) head = count;
        before = scan_plainly<Op, exclusive>(in, out, head, before);
        return word_of(scan_vectors<Op, exclusive, true>(in + head, out + head, count - head, before));
    } else {
        return word_of(scan_plainly<Op, exclusive>(in, out, count, before));
    }
}

// Equal floats with different bits are zeros of two signs, and NaNs: of those the first must be found.
template <class T>
HR_FN T first_zero(const T* in) {
    while (item_at(in) != 0) ++in;
    return item_at(in);
}

template <class T>
HR_FN T first_nan(const T* in) {
    while (item_at(in) == item_at(in)) ++in;
    return item_at(in);
}

template <class Op>
u64 reduce_lanes(const void* source, u64 count) {
    using T = typename Op::Item;
    constexpr u64 step = 4 * lanes<T>;
    const T* in = static_cast<const T*>(source);
    T joined = Op::identity();
    u64 i = 0;
    if (count >= step) {
        Vector<T> gathered[4];
        Lanes<T> nans = {};
        for (auto& one : gathered) one = broadcast<T>(joined);
        for (; i + step <= count; i += step) {
            for (u64 line = 0; line < step; line += 64 / sizeof(T)) read_ahead(in + i + line);
            for (u64 k = 0; k < 4; ++k) {
                const Vector<T> v = load(in + i + k * lanes<T>);
                gathered[k] = join_numbers(Op(), gathered[k], v);
                if constexpr (!is_integer<T>) nans |= v != v;
            }
        }
        if (any(nans)) return word_of(first_nan(in));
        for (const auto& one : gathered) {
            for (u64 lane = 0; lane < lanes<T>; ++lane) joined = Op::join(joined, one[lane]);
        }
    }
    for (; i < count; ++i) joined = Op::join(joined, item_at(in + i));
    if constexpr (!is_integer<T>) {
        if (joined == 0) joined = first_zero(in);
    }
    return word_of(joined);
}

// If the operator does not commute, several runs of items are combined concurrently, so that a step does not wait for
// the preceding step.
template <class Op>
u64 reduce_runs(const void* source, u64 count) {
    constexpr u64 runs = 8;
    const auto* in = static_cast<const typename Op::Item*>(source);
    const u64 length = count / runs;
    typename Op::Item joined[runs];
    for (auto& one : joined) one = Op::identity();
    for (u64 i = 0; i < length; ++i) {
        for (u64 run = 0; run < runs; ++run) joined[run] = Op::join(joined[run], item_at(in + run * length + i));
    }
    auto all = joined[0];
    for (u64 run = 1; run < runs; ++run) all = Op::join(all, joined[run]);
    for (u64 i = runs * length; i < count; ++i) all = Op::join(all, item_at(in + i));
    return word_of(all);
}

template <class Op>
u64 reduce(const void* in, u64 count) {
    if constexpr (has_lanes<Op>) {
        return reduce_lanes<Op>(in, count);
    } else {
        return reduce_runs<Op>(in, count);
    }
}

template <class Op>
u64 identity() {
    return word_of(Op::identity());
}

template <class Op>
u64 join(u64 a, u64 b) {
    return word_of(Op::join(item_of<typename Op::Item>(a), item_of<typename Op::Item>(b)));
}

template <class Op>
const ScanKernels* kernels_of() {
    static constexpr ScanKernels kernels = {sizeof(typename Op::Item), identity<Op>,  join<Op>, reduce<Op>,
                                            scan<Op, false>,           scan<Op, true>};
    return &kernels;
}

template <class T>
HR_FN u64 widened_sum_of(const void* source, u64 count) {
    const T* in = static_cast<const T*>(source);
    u64 sum = 0;
    for (u64 i = 0; i < count; ++i) sum += static_cast<u64>(static_cast<i64>(item_at(in + i)));
    return sum;
}

template <class T>
const ScanKernels* kernels_of(Join join) {
    if (join == Join::min) return kernels_of<Min<T>>();
    if (join == Join::max) return kernels_of<Max<T>>();
    if constexpr (is_integer<T> && !is_signed<T>) {
        return join == Join::sum ? kernels_of<Sum<T>>() : kernels_of<Compose<T>>();
    } else {
        return nullptr;
    }
}

}  // namespace

const ScanKernels* scan_kernels(Join join, ItemType item) {
    switch (item) {
        case ItemType::u32:
            return kernels_of<u32>(join);
        case ItemType::i32:
            return kernels_of<i32>(join);
        case ItemType::u64:
            return kernels_of<u64>(join);
        case ItemType::i64:
            return kernels_of<i64>(join);
        case ItemType::f32:
            return kernels_of<float>(join);
        case ItemType::f64:
            return kernels_of<double>(join);
    }
    return nullptr;
}

// Null for items that do not have 32 bits.
WidenedSum widened_sum(ItemType item) {
    if (item == ItemType::u32) return widened_sum_of<u32>;
    return item == ItemType::i32 ? widened_sum_of<i32> : nullptr;
}

HR_END_NAMESPACE
