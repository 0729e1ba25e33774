#include "core/bindings.hpp"

#include <optional>
#include <vector>

#include "store/dictionary/cpu/dictionary_host.hpp"
#include "store/dictionary/paper/slices.hpp"
#include "store/dictionary/paper/slices_host.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// Returns the distinct items as bytes; None if there are more than `limit`.
nb::object number_items_of(nb::handle items, u64 limit, nb::handle numbers, unsigned threads) {
    const auto given = Argument<NumberArray>::of(items);
    u32* const to = Argument<u32*>::of(numbers);
    std::optional<std::vector<u8>> found;
    {
        const LongCall call;
        found = number_items(given, limit, to, threads);
    }
    return found ? nb::object(nb::bytes(found->data(), found->size())) : nb::none();
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
    m.def("merge_numbers", without_gil(merge_numbers));
    m.def("merge_in_slices", without_gil(merge_in_slices));
    m.def("merge_texts", without_gil(merge_texts));
    m.def("number_sorted", without_gil(number_sorted));
    m.def("translate_codes", without_gil(translate_codes));
    m.def("pack_codes", without_gil(pack_codes));
    m.def("unpack_codes", without_gil(unpack_codes));
    m.def("decode_numbers", without_gil(decode_numbers));
    m.def("decode_texts", without_gil(decode_texts));
    m.def("take_codes", without_gil(take_codes));
    m.def("sort_texts", without_gil<GilRelease>(sort_texts));
    m.def("number_items", &number_items_of);
}

}  // namespace headrace
