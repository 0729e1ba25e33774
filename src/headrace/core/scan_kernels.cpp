// Scan and reduction of one piece, compiled once for each instruction set.
//
// Scan: within a vector each lane joins the one 1, 2, 4, ... lanes before it (Hillis and Steele 1986, "Data parallel
// algorithms"). What came before is joined last, so that from one vector to the next there is a single join to wait
// for. Reduction: four vectors gather lane by lane, whatever the order; the order shows only in floats, of which see
// first_of_equals. Cost per item of width w: 2 w by scan, w by reduce, as fast as one core copies and reads.
#include "core/scan_kernels.hpp"

#include "core/vectors.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Whether items fill the lanes of a vector; maps are pairs, and are joined one by one.
template <class Op>
constexpr bool has_lanes = true;
template <class T>
constexpr bool has_lanes<Compose<T>> = false;

template <class T>
HR_HOT Vector<T> join_lanes(Sum<T>, Vector<T> a, Vector<T> b) {
    return a + b;
}

template <class T>
HR_HOT Vector<T> join_lanes(Min<T>, Vector<T> a, Vector<T> b) {
    if constexpr (is_integer<T>) {
        return b < a ? b : a;
    } else {
        return ~(a <= b) & (a == a) ? b : a;  // of unordered ones the NaN, and the first
    }
}

template <class T>
HR_HOT Vector<T> join_lanes(Max<T>, Vector<T> a, Vector<T> b) {
    if constexpr (is_integer<T>) {
        return a < b ? b : a;
    } else {
        return ~(a >= b) & (a == a) ? b : a;
    }
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

// Each lane joined with those before it, from `by` lanes apart on.
template <class Op, int by = 1, class T>
HR_HOT Vector<T> joined_within(Vector<T> v, Vector<T> identity) {
    if constexpr (by < static_cast<int>(lanes<T>)) {
        return joined_within<Op, 2 * by, T>(join_lanes(Op(), moved_up<by, T>(identity, v), v), identity);
    } else {
        return v;
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
        const Vector<T> own = joined_within<Op, 1, T>(load(in + i), identity);
        Vector<T> joined = join_lanes(Op(), carry, own);
        if constexpr (exclusive) joined = moved_up<1, T>(carry, joined);
        carry = join_lanes(Op(), carry, last_everywhere<T>(own));
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

// Equal floats of different bits are zeros of two signs, and NaNs: the first such item is what an ordered reduction
// gives.
template <class T>
HR_FN T first_of_equals(const T* in, T joined) {
    const bool is_nan = joined != joined;
    if (!is_nan && joined != 0) return joined;  // also where there are no items
    for (u64 i = 0;; ++i) {
        const T item = item_at(in + i);
        if (is_nan ? item != item : item == 0) return item;
    }
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
        for (auto& one : gathered) one = broadcast<T>(joined);
        for (; i + step <= count; i += step) {
            for (u64 k = 0; k < 4; ++k) {
                gathered[k] = join_lanes(Op(), gathered[k], load(in + i + k * lanes<T>));
            }
        }
        for (const auto& one : gathered) {
            for (u64 lane = 0; lane < lanes<T>; ++lane) joined = Op::join(joined, one[lane]);
        }
    }
    for (; i < count; ++i) joined = Op::join(joined, item_at(in + i));
    if constexpr (!is_integer<T>) joined = first_of_equals(static_cast<const T*>(source), joined);
    return word_of(joined);
}

// Where items may not change their order, runs of them are joined side by side, so that a step need not wait for the
// one before it.
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
    static constexpr ScanKernels kernels = {sizeof(typename Op::Item), identity<Op>,    join<Op>,
                                            reduce<Op>,                scan<Op, false>, scan<Op, true>};
    return &kernels;
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

HR_END_NAMESPACE
