#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "export/arrow.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// Holds a Python object from C++; consumers may let go of it on any thread, and after the interpreter has ended.
std::shared_ptr<void> keep(nb::handle object) {
    object.inc_ref();
    return std::shared_ptr<void>(object.ptr(), [](void* kept) {
        if (!Py_IsInitialized()) return;
        const nb::gil_scoped_acquire acquire;
        Py_DECREF(static_cast<PyObject*>(kept));
    });
}

// `columns`: (name, format, null count, offset, addresses) each.
ArrowBatch batch_from(nb::handle columns, std::int64_t length, nb::handle keeper) {
    ArrowBatch batch;
    batch.length = length;
    batch.keeper = keep(keeper);
    for (const nb::handle given : columns) {
        ArrowColumn column;
        column.name = nb::cast<std::string>(given[0]);
        column.format = nb::cast<std::string>(given[1]);
        column.null_count = nb::cast<std::int64_t>(given[2]);
        column.offset = nb::cast<std::int64_t>(given[3]);
        column.buffers = nb::cast<std::vector<std::uintptr_t>>(given[4]);
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

nb::object stream_capsule(nb::handle columns, std::int64_t length, nb::handle keeper) {
    auto stream = std::make_unique<ArrowArrayStream>();
    export_stream(std::make_shared<const ArrowBatch>(batch_from(columns, length, keeper)), stream.get());
    return capsule_of(std::move(stream), "arrow_array_stream");
}

nb::object schema_capsule(nb::handle columns) {
    auto schema = std::make_unique<ArrowSchema>();
    export_schema(batch_from(columns, 0, nb::none()), schema.get());
    return capsule_of(std::move(schema), "arrow_schema");
}

nb::tuple column_capsules(nb::handle column, std::int64_t length, nb::handle keeper) {
    const ArrowBatch batch = batch_from(nb::make_tuple(column), length, keeper);
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
