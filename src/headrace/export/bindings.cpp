#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "export/arrow.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// `columns`: (name, format, null count, offset, buffers or None) each.
ArrowBatch batch_from(nb::handle columns, std::int64_t length) {
    ArrowBatch batch;
    batch.length = length;
    for (const nb::handle given : columns) {
        ArrowColumn column;
        column.name = nb::cast<std::string>(given[0]);
        column.format = nb::cast<std::string>(given[1]);
        column.null_count = nb::cast<std::int64_t>(given[2]);
        column.offset = nb::cast<std::int64_t>(given[3]);
        for (const nb::handle buffer : given[4])
            column.buffers.push_back(buffer.is_none() ? nullptr : nb::cast<const HostBuffer&>(buffer).region);
        batch.columns.push_back(std::move(column));
    }
    return batch;
}

// A capsule whose structure is released with it, unless a consumer has taken it.
template <class Arrow>
nb::object capsule_of(std::unique_ptr<Arrow> exported, const char* name) {
    PyObject* capsule = PyCapsule_New(exported.get(), name, [](PyObject* self) {
        auto* held = static_cast<Arrow*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
        if (held->release != nullptr) held->release(held);
        delete held;
    });
    if (capsule == nullptr) throw nb::python_error();
    exported.release();
    return nb::steal(capsule);
}

nb::object stream_capsule(nb::handle columns, std::int64_t length) {
    auto stream = std::make_unique<ArrowArrayStream>();
    export_stream(std::make_shared<const ArrowBatch>(batch_from(columns, length)), stream.get());
    return capsule_of(std::move(stream), "arrow_array_stream");
}

nb::object schema_capsule(nb::handle columns) {
    auto schema = std::make_unique<ArrowSchema>();
    export_schema(batch_from(columns, 0), schema.get());
    return capsule_of(std::move(schema), "arrow_schema");
}

nb::tuple column_capsules(nb::handle column, std::int64_t length) {
    const ArrowBatch batch = batch_from(nb::make_tuple(column), length);
    auto schema = std::make_unique<ArrowSchema>();
    auto array = std::make_unique<ArrowArray>();
    export_column_schema(batch.columns.front(), schema.get());
    nb::object schema_held = capsule_of(std::move(schema), "arrow_schema");
    export_column(batch, array.get());
    return nb::make_tuple(schema_held, capsule_of(std::move(array), "arrow_array"));
}

}  // namespace

void bind_export(nb::module_& m) {
    m.def("arrow_stream", &stream_capsule);
    m.def("arrow_schema", &schema_capsule);
    m.def("arrow_column", &column_capsules);
}

}  // namespace headrace
