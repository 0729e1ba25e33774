#include "core/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

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
#include "core/cpu/thread_pool.hpp"
#include "core/layouts/layout.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Addresses and their extents are those that arrays/arrays.py has checked.
void histogram_at(std::string_view key, std::uintptr_t keys, u64 count, u32 buckets, nb::bytes description,
                  std::uintptr_t edges, bool computed, std::uintptr_t result, unsigned threads, std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const BucketsGiven how{buckets,
                           {description.c_str(), description.size()},
                           reinterpret_cast<const void*>(edges),
                           computed,
                           reinterpret_cast<u64*>(result)};
    const LongCall call;
    histogram({key, reinterpret_cast<const void*>(keys), count}, how, chosen, threads);
}

// Key, rule, description, edges, buckets, and of a digit its lowest bit and mask.
using SplitRule = std::tuple<std::string_view, std::string_view, nb::bytes, std::uintptr_t, u32, u32, u32>;

SplitBy split_by(const SplitRule& rule) {
    const auto& [key, name, description, edges, buckets, shift, mask] = rule;
    return {key,   name, {description.c_str(), description.size()}, reinterpret_cast<const void*>(edges), buckets,
            shift, mask};
}

u64 multisplit_at(const SplitRule& rule, std::uintptr_t keys, u64 count,
                  const std::vector<std::tuple<std::uintptr_t, std::uintptr_t, unsigned>>& columns,
                  std::uintptr_t starts, unsigned threads, std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    std::vector<SplitColumn> moved;
    for (const auto& [from, to, width] : columns) {
        moved.push_back({reinterpret_cast<const void*>(from), reinterpret_cast<void*>(to), width});
    }
    const SplitBy by = split_by(rule);
    const LongCall call;
    return multisplit(by, reinterpret_cast<const void*>(keys), count, moved, reinterpret_cast<u64*>(starts), chosen,
                      threads);
}

void find_buckets_at(const SplitRule& rule, std::uintptr_t keys, u64 count, std::uintptr_t starts, unsigned threads,
                     std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const SplitBy by = split_by(rule);
    const LongCall call;
    find_buckets(by, reinterpret_cast<const void*>(keys), count, reinterpret_cast<u64*>(starts), chosen, threads);
}

// Addresses of values, offsets, validity, buffers of views and words of a dictionary (0 for none). Then the first row,
// the bytes of a value or an offset, and whether values are floats.
using RowsColumn =
    std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, u64, u32, bool>;

HashedColumn hashed_column(const RowsColumn& column) {
    const auto& [values, offsets, validity, data, words, first, width, is_float] = column;
    return {reinterpret_cast<const void*>(values),
            reinterpret_cast<const void*>(offsets),
            reinterpret_cast<const u8*>(validity),
            reinterpret_cast<const u8* const*>(data),
            reinterpret_cast<const u64*>(words),
            first,
            width,
            is_float};
}

void hash_rows_at(const RowsColumn& column, u64 count, std::uintptr_t hashes, bool alone, unsigned threads) {
    const HashedColumn hashed = hashed_column(column);
    const LongCall call;
    (alone ? hash_words : hash_rows)(hashed, count, reinterpret_cast<u64*>(hashes), threads);
}

// Columns, and for dictionaries the columns of their texts. `pairs`: addresses of the rows of both, their number, and
// whether nulls are equal.
using ComparedAt = std::pair<RowsColumn, std::optional<RowsColumn>>;

void compare_rows_at(const ComparedAt& one, const ComparedAt& other,
                     const std::tuple<std::uintptr_t, std::uintptr_t, u64, bool>& pairs, std::uintptr_t equal,
                     unsigned threads) {
    const auto compared = [](const ComparedAt& column) {
        return ComparedColumn{hashed_column(column.first),
                              column.second ? hashed_column(*column.second) : HashedColumn{}};
    };
    const ComparedColumn first = compared(one), second = compared(other);
    const auto& [rows, others, count, are_nulls_equal] = pairs;
    const RowPairs given{reinterpret_cast<const i64*>(rows), reinterpret_cast<const i64*>(others), count,
                         are_nulls_equal};
    const LongCall call;
    compare_rows(first, second, given, reinterpret_cast<u8*>(equal), threads);
}

// Bytes of FilterStep, bytes of FilterColumn, constants, and the depth of the stack.
using ProgramAt = std::tuple<nb::bytes, nb::bytes, nb::bytes, u32>;

FilterProgram program_at(const ProgramAt& program) {
    const auto& [steps, columns, constants, depth] = program;
    return {reinterpret_cast<const FilterStep*>(steps.c_str()), reinterpret_cast<const FilterColumn*>(columns.c_str()),
            reinterpret_cast<const u8*>(constants.c_str()), static_cast<u32>(steps.size() / sizeof(FilterStep)), depth};
}

// `allocate`: as for select.
u64 filter_rows_at(const ProgramAt& program, u64 rows, const nb::callable& allocate, unsigned threads,
                   std::string_view isa) {
    const FilterProgram chosen = program_at(program);
    const Isa with = choose_isa(isa);
    const LongCall call;
    const auto address = [&](u64 count) {
        return with_gil([&] { return reinterpret_cast<u64*>(nb::cast<std::uintptr_t>(allocate(count))); });
    };
    return filter_rows(chosen, rows, address, with, threads);
}

// `results`: addresses of the values and of a byte a row, and the bytes of a value.
void compute_rows_at(const ProgramAt& program, u64 rows, const std::tuple<std::uintptr_t, std::uintptr_t, u32>& results,
                     unsigned threads, std::string_view isa) {
    const FilterProgram chosen = program_at(program);
    const auto& [values, valid, width] = results;
    const Isa with = choose_isa(isa);
    const LongCall call;
    compute_rows(chosen, rows, {reinterpret_cast<u8*>(values), reinterpret_cast<u8*>(valid), width}, with, threads);
}

// `column`: bytes of a FilterColumn. Returns the rows of the minimum and the maximum; none if no row has a value.
std::optional<std::pair<u64, u64>> value_range_at(const nb::bytes& column, u64 rows) {
    const LongCall call;
    const ValueRange found = value_range(*reinterpret_cast<const FilterColumn*>(column.c_str()), rows);
    if (found.low == ValueRange::no_row) return std::nullopt;
    return std::pair(found.low, found.high);
}

// Address of the rows' numbers, and how many they are.
using RowsAt = std::pair<std::uintptr_t, u64>;

RowNumbers row_numbers(const RowsAt& rows) { return {reinterpret_cast<const u64*>(rows.first), rows.second}; }

void take_items_at(const RowsAt& rows, std::uintptr_t from, std::uintptr_t to, unsigned width, unsigned threads) {
    const LongCall call;
    take_items(row_numbers(rows), reinterpret_cast<const void*>(from), reinterpret_cast<void*>(to), width, threads);
}

u64 take_bits_at(const RowsAt& rows, std::uintptr_t bits, u64 first, std::uintptr_t to, unsigned threads) {
    const LongCall call;
    return take_bits(row_numbers(rows), reinterpret_cast<const u8*>(bits), first, reinterpret_cast<u8*>(to), threads);
}

// Addresses of offsets and of bytes, the first row, bytes of an offset.
using TextsAt = std::tuple<std::uintptr_t, std::uintptr_t, u64, u32>;

Texts texts_at(const TextsAt& texts) {
    const auto& [offsets, bytes, first, width] = texts;
    return {reinterpret_cast<const void*>(offsets), reinterpret_cast<const u8*>(bytes), first, width, 0};
}

u64 place_texts_at(const RowsAt& rows, const TextsAt& texts, std::uintptr_t offsets, unsigned threads) {
    const LongCall call;
    return place_texts(row_numbers(rows), texts_at(texts), reinterpret_cast<void*>(offsets), threads);
}

void take_texts_at(const RowsAt& rows, const TextsAt& texts, std::uintptr_t offsets, std::uintptr_t to,
                   unsigned threads) {
    const LongCall call;
    take_texts(row_numbers(rows), texts_at(texts), reinterpret_cast<const void*>(offsets), reinterpret_cast<u8*>(to),
               threads);
}

// Address, number and width of keys, and the bytes of their KeyRule.
using KeysGiven = std::tuple<std::uintptr_t, u64, unsigned, nb::bytes>;

SortedKeys sorted_keys(const KeysGiven& given) {
    const auto& [keys, count, width, rule] = given;
    if (rule.size() != 4 * width) throw std::invalid_argument("not a rule of keys of that width");
    return {reinterpret_cast<const void*>(keys), count, width, rule.c_str()};
}

void sort_keys_at(const KeysGiven& keys, std::uintptr_t to, std::uintptr_t spare, unsigned threads,
                  std::string_view isa, bool interruptible) {
    const SortedKeys by = sorted_keys(keys);
    const SortWith how{choose_isa(isa), threads};
    const LongCall call(interruptible);
    sort_keys(by, reinterpret_cast<void*>(to), reinterpret_cast<void*>(spare), how);
}

unsigned sort_order_at(const KeysGiven& keys, std::uintptr_t order, std::uintptr_t spare, unsigned threads,
                       std::string_view isa) {
    const SortedKeys by = sorted_keys(keys);
    const SortWith how{choose_isa(isa), threads};
    const LongCall call;
    return sort_order(by, reinterpret_cast<u64*>(order), reinterpret_cast<u64*>(spare), how);
}

bool is_in_order_at(const KeysGiven& keys, unsigned threads, std::string_view isa) {
    const SortedKeys by = sorted_keys(keys);
    const SortWith how{choose_isa(isa), threads};
    const LongCall call;
    return is_in_order(by, how);
}

void find_first_at(const KeysGiven& keys, u64 k, std::uintptr_t found, unsigned threads, std::string_view isa) {
    const SortedKeys by = sorted_keys(keys);
    const SortWith how{choose_isa(isa), threads};
    const LongCall call;
    find_first(by, k, reinterpret_cast<u64*>(found), how);
}

void take_in_order_at(std::uintptr_t order, unsigned index_bits, u64 count,
                      const std::tuple<std::uintptr_t, std::uintptr_t, unsigned>& items, unsigned threads,
                      bool interruptible) {
    const auto& [from, to, width] = items;
    const MovedItems moved{reinterpret_cast<const void*>(from), reinterpret_cast<void*>(to), width};
    const LongCall call(interruptible);
    take_in_order(reinterpret_cast<const u64*>(order), index_bits, count, moved, threads);
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
    m.def("histogram", &histogram_at, "key"_a, "keys"_a, "count"_a, "buckets"_a, "description"_a, "edges"_a,
          "computed"_a, "result"_a, "threads"_a, "isa"_a = "");
    m.def("multisplit", &multisplit_at, "rule"_a, "keys"_a, "count"_a, "columns"_a, "starts"_a, "threads"_a,
          "isa"_a = "");
    m.def("hash_rows", &hash_rows_at, "column"_a, "count"_a, "hashes"_a, "alone"_a, "threads"_a);
    m.def("compare_rows", &compare_rows_at, "one"_a, "other"_a, "pairs"_a, "equal"_a, "threads"_a);
    m.def("filter_rows", &filter_rows_at, "program"_a, "rows"_a, "allocate"_a, "threads"_a, "isa"_a = "");
    m.def("compute_rows", &compute_rows_at, "program"_a, "rows"_a, "results"_a, "threads"_a, "isa"_a = "");
    m.def("value_range", &value_range_at, "column"_a, "rows"_a);
    m.def("take_items", &take_items_at, "rows"_a, "source"_a, "target"_a, "width"_a, "threads"_a);
    m.def("take_bits", &take_bits_at, "rows"_a, "bits"_a, "first"_a, "target"_a, "threads"_a);
    m.def("place_texts", &place_texts_at, "rows"_a, "texts"_a, "offsets"_a, "threads"_a);
    m.def("take_texts", &take_texts_at, "rows"_a, "texts"_a, "offsets"_a, "target"_a, "threads"_a);
    m.def("find_buckets", &find_buckets_at, "rule"_a, "keys"_a, "count"_a, "starts"_a, "threads"_a, "isa"_a = "");
    m.def(
        "sort_spare",
        [](unsigned width, u64 count, unsigned threads, std::string_view isa) {
            return spare_for(width, count, {choose_isa(isa), threads});
        },
        "width"_a, "count"_a, "threads"_a, "isa"_a = "");
    m.def("sort_keys", &sort_keys_at, "keys"_a, "to"_a, "spare"_a, "threads"_a, "isa"_a = "", "interruptible"_a = true);
    m.def("sort_few", &sort_few, "array"_a, "rule"_a, "threads"_a = 1);
    m.def("order_few", &order_few, "array"_a, "places"_a, "rule"_a, "threads"_a = 1);
    m.def("sort_order", &sort_order_at, "keys"_a, "order"_a, "spare"_a, "threads"_a, "isa"_a = "");
    m.def("is_in_order", &is_in_order_at, "keys"_a, "threads"_a, "isa"_a = "");
    m.def("find_first", &find_first_at, "keys"_a, "k"_a, "found"_a, "threads"_a, "isa"_a = "");
    m.def("take_in_order", &take_in_order_at, "order"_a, "index_bits"_a, "count"_a, "items"_a, "threads"_a,
          "interruptible"_a = true);
}

}  // namespace headrace
