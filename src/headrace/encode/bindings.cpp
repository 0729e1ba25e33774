#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "columns/dictionary/dictionary.hpp"
#include "core/layouts/layout.hpp"
#include "encode/texts.hpp"
#include "encode/texts_task.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// `column` is a Column of string, large_string or string_view.
TextColumn text_column(nb::handle column) {
    const auto name = nb::cast<std::string>(column.attr("type").attr("name"));
    TextColumn texts;
    texts.form = name == "string" ? TextForm::small : name == "large_string" ? TextForm::large : TextForm::view;
    texts.length = nb::cast<u64>(column.attr("length"));
    texts.offset = nb::cast<u64>(column.attr("offset"));
    const Region* values = region_or_null(column.attr("values"));
    const Region* offsets = region_or_null(column.attr("offsets"));
    const Region* validity = region_or_null(column.attr("validity"));
    texts.places = (offsets != nullptr ? offsets : values)->as<u8>();
    if (validity != nullptr) texts.validity = validity->as<u64>();
    if (offsets != nullptr) texts.bytes.push_back(values->as<u8>());
    for (const nb::handle buffer : column.attr("data")) texts.bytes.push_back(region_or_null(buffer)->as<u8>());
    texts.budget = values->budget();
    return texts;
}

// (name of the type, values, validity or None, offsets or None, buffers of views)
nb::tuple parts_of(EncodedTexts& result, const char* name) {
    nb::list data;
    for (Region& region : result.data) data.append(make_buffer(std::move(region)));
    return nb::make_tuple(name, make_buffer(std::move(result.values)), buffer_or_none(std::move(result.validity)),
                          buffer_or_none(std::move(result.offsets)), nb::tuple(data));
}

const char* form_name(TextForm form) {
    return form == TextForm::small ? "string" : form == TextForm::large ? "large_string" : "string_view";
}

// Returns None if a text is too long for a view.
nb::object string_views(nb::handle column, unsigned threads, u64 max_bytes) {
    const TextColumn texts = text_column(column);
    EncodedTexts result;
    {
        const GilRelease release;
        if (longest_text(texts, threads, max_bytes) > max_bytes) return nb::none();
        result = make_views(texts, threads, max_bytes);
    }
    return parts_of(result, form_name(result.form));
}

nb::tuple plain_strings(nb::handle column, unsigned threads, u64 max_small) {
    const TextColumn texts = text_column(column);
    auto result = released([&] { return make_plain(texts, threads, max_small); });
    return parts_of(result, form_name(result.form));
}

// (parts of the codes, parts of the texts, number of texts)
nb::tuple text_dictionary(nb::handle column, unsigned threads) {
    const TextColumn texts = text_column(column);
    auto result = released([&] { return make_dictionary(texts, threads); });
    return nb::make_tuple(parts_of(result.codes, "dictionary"), parts_of(result.texts, form_name(result.texts.form)),
                          result.count);
}

}  // namespace

void bind_encode(nb::module_& m) {
    register_layouts<PlainTexts, DistinctTexts, GatheredTexts>();
    m.def("string_views", &string_views);
    m.def("plain_strings", &plain_strings);
    m.def("text_dictionary", &text_dictionary);
}

}  // namespace headrace
