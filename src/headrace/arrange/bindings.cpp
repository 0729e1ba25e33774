#include "core/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arrange/bucket/rules.hpp"
#include "arrange/filter/cpu/compute_rows.hpp"
#include "arrange/filter/cpu/filter_rows.hpp"
#include "arrange/filter/cpu/value_range.hpp"
#include "arrange/gather/take_host.hpp"
#include "arrange/histogram/histogram.hpp"
#include "arrange/multisplit/cpu/multisplit.hpp"
#include "arrange/multisplit/gpu/split_task.hpp"
#include "arrange/partition_rows/equal_rows_host.hpp"
#include "arrange/partition_rows/hash_rows_host.hpp"
#include "arrange/search/search.hpp"
#include "arrange/sort/cpu/sort.hpp"
#include "arrange/sort/gpu/common/sort_task.hpp"
#include "arrange/sort/gpu/msd/buckets.hpp"
#include "arrange/sort/gpu/null_partition.hpp"
#include "arrange/sort/sort_key.hpp"
#include "core/cpu/threads/thread_pool.hpp"
#include "core/layouts/layout.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {

template <>
struct Argument<KeysToCount> : TupleArgument<KeysToCount, std::string_view, const void*, u64> {};
template <>
struct Argument<BucketsGiven> : TupleArgument<BucketsGiven, u32, std::string_view, const void*, bool, u64*> {};
template <>
struct Argument<SplitBy>
    : TupleArgument<SplitBy, std::string_view, std::string_view, std::string_view, const void*, u32, u32, u32> {};

namespace {

// Returns the rows of the minimum and the maximum; none if no row has a value.
std::optional<std::pair<u64, u64>> value_range_of(const FilterColumn& column, u64 rows) {
    const ValueRange found = value_range(column, rows);
    if (found.low == ValueRange::no_row) return std::nullopt;
    return std::pair(found.low, found.high);
}

// A contiguous array of one dimension, or of two whose rows are sorted apart, by Python's buffer protocol, which takes
// half a microsecond.
class ItemsOf {
public:
    ItemsOf(nb::handle array, int access) : held_(PyObject_GetBuffer(array.ptr(), &view_, access | PyBUF_ND) == 0) {
        if (!held_) PyErr_Clear();
    }
    ~ItemsOf() {
        if (held_) PyBuffer_Release(&view_);
    }
    ItemsOf(const ItemsOf&) = delete;
    ItemsOf& operator=(const ItemsOf&) = delete;

    // Whether the array has that form, and each item is aligned.
    bool are_there() const {
        return held_ && (view_.ndim == 1 || view_.ndim == 2) && address() % static_cast<u64>(view_.itemsize) == 0;
    }
    u64 rows() const { return view_.ndim == 1 ? 1 : static_cast<u64>(view_.shape[0]); }
    u64 count() const { return static_cast<u64>(view_.shape[view_.ndim - 1]); }
    u8* row(u64 number) const {
        return static_cast<u8*>(view_.buf) + number * count() * static_cast<u64>(view_.itemsize);
    }
    SortedKeys by(u64 row_number, const nb::bytes& rule) const {
        const unsigned width = static_cast<unsigned>(view_.itemsize);
        if (rule.size() != 4 * width) throw std::invalid_argument("not a rule of keys of that width");
        return {row(row_number), count(), width, rule.c_str()};
    }

private:
    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(view_.buf); }

    Py_buffer view_;
    bool held_;
};

// Scratch memory for few keys, aligned to a cache line.
class Spare {
public:
    explicit Spare(u64 bytes) : held_(std::make_unique_for_overwrite<u8[]>(bytes + line)) {
        void* at = held_.get();
        usize space = bytes + line;
        at_ = std::align(line, bytes, at, space);
    }
    u64* words() const { return static_cast<u64*>(at_); }

private:
    static constexpr usize line = 64;

    std::unique_ptr<u8[]> held_;
    void* at_;
};

// Number of keys up to which releasing and reacquiring Python's lock costs more than the sort.
constexpr u64 locked_up_to = 1024;

// Calls sort(row number, scratch memory of a thread) for each row, on `threads` threads. Python's lock is released if
// there are many keys.
template <class Sort>
void sort_each_row(const ItemsOf& keys, u64 scratch_bytes, unsigned threads, const Sort& sort) {
    const u64 rows = keys.rows(), all = rows * keys.count();
    std::optional<GilRelease> release;
    if (all > locked_up_to) release.emplace();
    const unsigned parts = rows == 1 ? 1 : static_cast<unsigned>(std::clamp<u64>(all / locked_up_to, 1, threads));
    run_parallel(parts, [&](unsigned part) {
        const Spare scratch(scratch_bytes);
        for (u64 row = rows * part / parts; row < rows * (part + 1) / parts; ++row) sort(row, scratch.words());
    });
}

// Sorts each row of keys in place. Returns false, having done nothing, if the array is not supported.
bool sort_few(nb::handle array, const nb::bytes& rule, unsigned threads) {
    const ItemsOf keys(array, PyBUF_WRITABLE);
    if (!keys.are_there()) return false;
    const SortedKeys first = keys.by(0, rule);
    const SortWith how{choose_isa(""), 1};
    sort_each_row(keys, spare_for(first.width, first.count, how), threads, [&](u64 row, u64* scratch) {
        SortedKeys by = first;
        by.keys = keys.row(row);
        sort_keys(by, keys.row(row), scratch, how);
    });
    return true;
}

// Writes the indices of sorted keys as 8-byte words, for each row.
bool order_few(nb::handle array, nb::handle places, const nb::bytes& rule, unsigned threads) {
    const ItemsOf keys(array, PyBUF_SIMPLE), target(places, PyBUF_WRITABLE);
    if (!keys.are_there() || !target.are_there()) return false;
    if (target.count() != keys.count() || target.rows() != keys.rows()) return false;
    const SortedKeys first = keys.by(0, rule);
    const SortWith how{choose_isa(""), 1};
    // The order begins at a multiple of a cache line, as does the memory after it.
    const u64 order_words = (first.count + 7) / 8 * 8;
    const u64 scratch_bytes = order_words * sizeof(u64) + spare_for(sizeof(u64), first.count, how);
    sort_each_row(keys, scratch_bytes, threads, [&](u64 row, u64* scratch) {
        SortedKeys by = first;
        by.keys = keys.row(row);
        const unsigned index_bits = sort_order(by, scratch, scratch + order_words, how);
        take_in_order(scratch, index_bits, by.count, {nullptr, target.row(row), sizeof(u64)}, 1);
    });
    return true;
}

template <class Key>
struct RuleStructs {
    using EvenParts = Even<Key>;
    using Any = AnyOf<Key>;
};
template <class Float>
    requires(!Widened<Float>::whole)
struct RuleStructs<Float> {
    using EvenParts = EvenFloat<Float>;
    using Any = AnyOfFloats<Float>;
};

// Registers the structs that describe the buckets of keys of a type.
template <class Key>
void register_rule_layouts(const std::string& key) {
    register_layout<typename RuleStructs<Key>::EvenParts>("Even<" + key + ">");
    register_layout<typename RuleStructs<Key>::Any>("AnyOf<" + key + ">");
    register_layout<BitsOf<Key>>("BitsOf<" + key + ">");
    register_layout<Cells<Key>>("Cells<" + key + ">");
    register_layout<BetweenOf<Key>>("BetweenOf<" + key + ">");
}

}  // namespace

void bind_arrange(nb::module_& m) {
    register_layouts<Disorder, DevicePlan, MovedColumn, SortArrays, PlanInputs, Portion>();
    register_layouts<RankMap, FirstPass, CooperativeMemory, TopKState, TopKChunks>();
    register_layout<KeyRule<u8>>("KeyRule<u8>");
    register_layout<KeyRule<u16>>("KeyRule<u16>");
    register_layout<KeyRule<u32>>("KeyRule<u32>");
    register_layout<KeyRule<u64>>("KeyRule<u64>");
    register_layouts<FilterStep, FilterColumn, FilterProgram, Texts, HashedColumn, ComparedColumn, SearchOptions>();
    register_layouts<ChunkLayout, SplitPlaces, BucketLimit, Columns>();
    register_rule_layouts<u32>("u32");
    register_rule_layouts<u64>("u64");
    register_rule_layouts<float>("f32");
    register_rule_layouts<double>("f64");
    register_layout<HashBitsOf<u32>>("HashBitsOf<u32>");
    register_layout<BitsOf<WideKey>>("BitsOf<WideKey>");
    register_layout<BetweenOf<WideKey>>("BetweenOf<WideKey>");
    register_layout<AnyOf<WideKey>>("AnyOf<WideKey>");
    register_layouts<Leaf, List, ListLengths, Lists, ClassedRows, ClassSplit>();
    m.def("histogram", without_gil(histogram));
    m.def("multisplit", without_gil(multisplit));
    m.def("hash_rows", without_gil(hash_rows));
    m.def("hash_words", without_gil(hash_words));
    m.def("process_secret", process_secret);
    m.def("compare_rows", without_gil(compare_rows));
    m.def("filter_rows", without_gil(filter_rows));
    m.def("compute_rows", without_gil(compute_rows));
    m.def("value_range", without_gil(value_range_of));
    m.def("take_items", without_gil(take_items));
    m.def("take_bits", without_gil(take_bits));
    m.def("place_texts", without_gil(place_texts));
    m.def("take_texts", without_gil(take_texts));
    m.def("find_buckets", without_gil(find_buckets));
    m.def("sort_spare", without_gil(spare_for));
    m.def("sort_keys", without_gil(sort_keys));
    m.def("sort_keys_in_place", without_gil<GilRelease>(sort_keys));
    m.def("sort_few", &sort_few, "array"_a, "rule"_a, "threads"_a = 1);
    m.def("order_few", &order_few, "array"_a, "places"_a, "rule"_a, "threads"_a = 1);
    m.def("sort_order", without_gil(sort_order));
    m.def("is_in_order", without_gil(is_in_order));
    m.def("find_first", without_gil(find_first));
    m.def("take_in_order", without_gil(take_in_order));
    m.def("take_in_order_in_place", without_gil<GilRelease>(take_in_order));
}

}  // namespace headrace
