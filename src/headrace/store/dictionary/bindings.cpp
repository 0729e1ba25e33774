#include "core/bindings.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <optional>
#include <tuple>

#include "core/layouts/layout.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"
#include "store/dictionary/paper/slices.hpp"
#include "store/dictionary/paper/slices_host.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Addresses and extents are checked by the callers in Python.

// Address and number of numbers or codes.
using ItemsGiven = std::tuple<std::uintptr_t, u64>;

// Addresses of the tables of main and delta.
using TablesGiven = std::tuple<std::uintptr_t, std::uintptr_t>;

// Addresses of offsets and bytes, and the number of texts.
using TextsGiven = std::tuple<std::uintptr_t, std::uintptr_t, u64>;

// Addresses of offsets and bytes that are written, and the bytes of an offset.
using NewTextsGiven = std::tuple<std::uintptr_t, std::uintptr_t, unsigned>;

// Address of words, and bits of a code.
using PackedGiven = std::tuple<std::uintptr_t, u32>;

CodeTables tables_at(const TablesGiven& tables) {
    return {reinterpret_cast<u32*>(std::get<0>(tables)), reinterpret_cast<u32*>(std::get<1>(tables))};
}

TextValues texts_at(const TextsGiven& texts) {
    return {reinterpret_cast<const i64*>(std::get<0>(texts)), reinterpret_cast<const u8*>(std::get<1>(texts))};
}

// Returns texts that a callable of Python makes.
template <class... Extents>
NewTexts new_texts(const nb::callable& allocate, Extents... extents) {
    return with_gil([&] {
        const auto [offsets, data, width] = nb::cast<NewTextsGiven>(allocate(extents...));
        return NewTexts{reinterpret_cast<void*>(offsets), reinterpret_cast<u8*>(data), width};
    });
}

CodeSource source_of(const nb::bytes& packed) {
    CodeSource source;
    if (packed.size() != sizeof source) throw std::invalid_argument("the bytes are no source of codes");
    std::memcpy(&source, packed.c_str(), sizeof source);
    if (source.bits > max_code_bits) throw std::invalid_argument("codes have at most 32 bits");
    return source;
}

PackedCodes packed_at(const PackedGiven& packed) {
    const auto& [words, bits] = packed;
    if (bits > max_code_bits) throw std::invalid_argument("codes have at most 32 bits");
    return {reinterpret_cast<u64*>(words), bits};
}

NumberDictionaries numbers_at(const ItemsGiven& main, const ItemsGiven& delta, const nb::bytes& rule) {
    return {reinterpret_cast<const void*>(std::get<0>(main)),
            reinterpret_cast<const void*>(std::get<0>(delta)),
            {std::get<1>(main), std::get<1>(delta)},
            static_cast<unsigned>(rule.size() / 4),
            rule.c_str()};
}

u64 merge_numbers_at(const ItemsGiven& main, const ItemsGiven& delta, const nb::bytes& rule, std::uintptr_t merged,
                     const TablesGiven& tables, unsigned threads) {
    const NumberDictionaries given = numbers_at(main, delta, rule);
    const LongCall call;
    return merge_numbers(given, reinterpret_cast<void*>(merged), tables_at(tables), threads);
}

// `sliced`: address of the sections of the slices, and number of slices.
u64 merge_in_slices_at(const ItemsGiven& main, const ItemsGiven& delta, const nb::bytes& rule, const ItemsGiven& sliced,
                       std::uintptr_t merged, const TablesGiven& tables, unsigned threads) {
    const NumberDictionaries given = numbers_at(main, delta, rule);
    const auto [sections, slices] = sliced;
    const LongCall call;
    return merge_in_slices(given, slices, reinterpret_cast<void*>(sections), reinterpret_cast<void*>(merged),
                           tables_at(tables), threads);
}

void merge_texts_at(const TextsGiven& main, const TextsGiven& delta, const TablesGiven& tables,
                    const nb::callable& allocate, unsigned threads) {
    const TextDictionaries given{{texts_at(main), texts_at(delta)}, {std::get<2>(main), std::get<2>(delta)}};
    const std::function<NewTexts(u64, u64)> allocated = [&](u64 count, u64 bytes) {
        return new_texts(allocate, count, bytes);
    };
    const LongCall call;
    merge_texts(given, tables_at(tables), allocated, threads);
}

void sort_texts_at(const TextsGiven& texts, std::uintptr_t order, unsigned threads) {
    const GilRelease release;
    sort_texts(texts_at(texts), std::get<2>(texts), reinterpret_cast<u32*>(order), threads);
}

// Returns the distinct items as bytes; None if there are more than `limit`.
std::optional<nb::bytes> number_items_at(const ItemsGiven& items, unsigned width, u64 limit, std::uintptr_t numbers,
                                         unsigned threads) {
    const NumberArray given{reinterpret_cast<const void*>(std::get<0>(items)), std::get<1>(items), width};
    std::optional<std::vector<u8>> found;
    {
        const LongCall call;
        found = number_items(given, limit, reinterpret_cast<u32*>(numbers), threads);
    }
    if (!found) return std::nullopt;
    return nb::bytes(found->data(), found->size());
}

// `sorted`: addresses of keys and places, their number, and the width of a key. `to`: addresses of the distinct keys
// and the numbers.
u64 number_sorted_at(const std::tuple<std::uintptr_t, std::uintptr_t, u64, unsigned>& sorted, const TablesGiven& to,
                     unsigned threads) {
    const auto [keys, places, count, width] = sorted;
    const auto [distinct, numbers] = to;
    const SortedNumbers given{reinterpret_cast<const void*>(keys), reinterpret_cast<const u32*>(places), count, width};
    const LongCall call;
    return number_sorted(given, reinterpret_cast<void*>(distinct), reinterpret_cast<u32*>(numbers), threads);
}

void translate_codes_at(const nb::bytes& first, const nb::bytes& second, const PackedGiven& to, unsigned threads) {
    const CodeSource main = source_of(first), delta = source_of(second);
    const PackedCodes packed = packed_at(to);
    const LongCall call;
    translate_codes(main, delta, packed, threads);
}

void pack_codes_at(const ItemsGiven& codes, const PackedGiven& to, unsigned threads) {
    const PackedCodes packed = packed_at(to);
    const LongCall call;
    pack_codes(reinterpret_cast<const u32*>(std::get<0>(codes)), std::get<1>(codes), packed, threads);
}

void unpack_codes_at(const nb::bytes& codes, std::uintptr_t to, unsigned threads) {
    const CodeSource source = source_of(codes);
    const LongCall call;
    unpack_codes(source, reinterpret_cast<u32*>(to), threads);
}

// `values`: address, number and width of the values.
u64 decode_numbers_at(const nb::bytes& codes, const std::tuple<std::uintptr_t, u64, unsigned>& values,
                      std::uintptr_t to, unsigned threads) {
    const CodeSource source = source_of(codes);
    const NumberArray given{reinterpret_cast<const void*>(std::get<0>(values)), std::get<1>(values),
                            std::get<2>(values)};
    const LongCall call;
    return decode_numbers(source, given, reinterpret_cast<void*>(to), threads);
}

// `extents`: number of texts, bytes, and bytes of an offset. `allocate` returns the addresses of offsets and bytes, and
// the bytes of an offset.
u64 decode_texts_at(const nb::bytes& codes, const TablesGiven& texts, const std::tuple<u64, u64, unsigned>& extents,
                    const nb::callable& allocate, unsigned threads) {
    const CodeSource source = source_of(codes);
    const auto [count, bytes, width] = extents;
    const EncodedTextValues given{reinterpret_cast<const void*>(std::get<0>(texts)),
                                  reinterpret_cast<const u8*>(std::get<1>(texts)), count, bytes, width};
    const std::function<NewTexts(u64)> allocated = [&](u64 needed) { return new_texts(allocate, needed); };
    const LongCall call;
    return decode_texts(source, given, allocated, threads);
}

void take_codes_at(const nb::bytes& codes, const ItemsGiven& rows, std::uintptr_t to, unsigned threads) {
    const CodeSource source = source_of(codes);
    const LongCall call;
    take_codes(source, reinterpret_cast<const i64*>(std::get<0>(rows)), std::get<1>(rows), reinterpret_cast<u32*>(to),
               threads);
}

}  // namespace

void bind_dictionary(nb::module_& m) {
    register_layouts<CodeSource, CodeBlocks, TextValues, TextPair>();
    register_layout<NumberPair<u32>>("NumberPair<u32>");
    register_layout<NumberPair<u64>>("NumberPair<u64>");
    register_layout<SlicedPair<u32>>("SlicedPair<u32>");
    register_layout<SlicedPair<u64>>("SlicedPair<u64>");
    register_layout<SliceTarget<u32>>("SliceTarget<u32>");
    register_layout<SliceTarget<u64>>("SliceTarget<u64>");
    m.def("merge_numbers", &merge_numbers_at, "main"_a, "delta"_a, "rule"_a, "merged"_a, "tables"_a, "threads"_a);
    m.def("merge_in_slices", &merge_in_slices_at, "main"_a, "delta"_a, "rule"_a, "sliced"_a, "merged"_a, "tables"_a,
          "threads"_a);
    m.def("merge_texts", &merge_texts_at, "main"_a, "delta"_a, "tables"_a, "allocate"_a, "threads"_a);
    m.def("sort_texts", &sort_texts_at, "texts"_a, "order"_a, "threads"_a);
    m.def("number_items", &number_items_at, "items"_a, "width"_a, "limit"_a, "numbers"_a, "threads"_a);
    m.def("number_sorted", &number_sorted_at, "ascending"_a, "to"_a, "threads"_a);
    m.def("translate_codes", &translate_codes_at, "first"_a, "second"_a, "to"_a, "threads"_a);
    m.def("pack_codes", &pack_codes_at, "codes"_a, "to"_a, "threads"_a);
    m.def("unpack_codes", &unpack_codes_at, "codes"_a, "to"_a, "threads"_a);
    m.def("decode_numbers", &decode_numbers_at, "codes"_a, "values"_a, "to"_a, "threads"_a);
    m.def("decode_texts", &decode_texts_at, "codes"_a, "texts"_a, "extents"_a, "allocate"_a, "threads"_a);
    m.def("take_codes", &take_codes_at, "codes"_a, "rows"_a, "to"_a, "threads"_a);
}

}  // namespace headrace
