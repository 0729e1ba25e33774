// Converts types and columns between C++ and Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/faults/faults.hpp"
#include "core/bindings.hpp"

namespace headrace {

void bind_convert();
void bind_faults(nanobind::module_& m);
void bind_finish(nanobind::module_& m);
void bind_infer(nanobind::module_& m);
void bind_load(nanobind::module_& m);

inline TypeId type_id(std::string_view name) {
#define HR_TYPE(id, text, ...) \
    if (name == text) return TypeId::id;
#include "core/types.def"
    throw std::invalid_argument("no such column type: " + std::string(name));
}

inline i64 units_per_second(nanobind::handle unit) {
    if (unit.is_none()) return 0;
    const auto name = nanobind::cast<std::string>(unit);
    return name == "s" ? 1 : name == "ms" ? 1'000 : name == "us" ? 1'000'000 : 1'000'000'000;
}

// `given`: a DataType.
inline ColumnType column_type(nanobind::handle given) {
    ColumnType type;
    type.id = type_id(nanobind::cast<std::string>(given.attr("name")));
    type.units_per_second = units_per_second(given.attr("unit"));
    type.utc = !given.attr("tz").is_none();
    if (type.id != TypeId::decimal128) return type;
    type.precision = nanobind::cast<u8>(given.attr("precision"));
    type.scale = nanobind::cast<u8>(given.attr("scale"));
    return type;
}

// (type name, null count, values, validity or None, offsets or None). Views have a buffer of long texts in addition,
// and dictionaries the values, offsets and number of their texts.
inline nanobind::tuple column_tuple(LoadedColumn& column) {
    if (column.views) {
        const nanobind::object views = make_buffer(std::move(column.offsets));
        const nanobind::object validity = buffer_or_none(std::move(column.validity));
        const auto tuple = nanobind::make_tuple("string_view", column.null_count, views, validity, nanobind::none());
        if (column.values.size() == 0) return tuple;
        return nanobind::tuple(tuple + nanobind::make_tuple(make_buffer(std::move(column.values))));
    }
    if (column.dictionary) {
        LoadedTexts& texts = *column.dictionary;
        return nanobind::make_tuple("dictionary", column.null_count, make_buffer(std::move(column.values)),
                                    buffer_or_none(std::move(column.validity)), nanobind::none(),
                                    make_buffer(std::move(texts.values)), make_buffer(std::move(texts.offsets)),
                                    texts.count);
    }
    nanobind::object offsets = nanobind::none();
    if (is_string(column.type)) offsets = make_buffer(std::move(column.offsets));
    return nanobind::make_tuple(type_name(column.type), column.null_count, make_buffer(std::move(column.values)),
                                buffer_or_none(std::move(column.validity)), offsets);
}

// A list of (name, column_tuple).
inline nanobind::list columns_list(std::vector<NamedColumn>& columns) {
    nanobind::list result;
    for (NamedColumn& column : columns) result.append(nanobind::make_tuple(column.name, column_tuple(column.column)));
    return result;
}

// (record, byte, text, number of the file, the same of a rounded integer or None) or None
inline nanobind::object evidence_or_none(const std::optional<Evidence>& found,
                                         const std::optional<Evidence>& rounded = std::nullopt) {
    if (!found) return nanobind::none();
    return nanobind::make_tuple(found->record, found->at, nanobind::bytes(found->text.data(), found->text.size()),
                                found->file, rounded ? evidence_or_none(rounded) : nanobind::none());
}

}  // namespace headrace
