#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "export/arrow/arrow.hpp"
#include "export/arrow/wrong_rows.hpp"
#include "export/text/write_csv.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// Converts (name, format, null count, offset, buffers or None, dictionary or None). A dictionary is a pair of such a
// tuple and its length.
ArrowColumn column_from(nb::handle given) {
    ArrowColumn column;
    column.name = nb::cast<std::string>(given[0]);
    column.format = nb::cast<std::string>(given[1]);
    column.null_count = nb::cast<std::int64_t>(given[2]);
    column.offset = nb::cast<std::int64_t>(given[3]);
    for (const nb::handle buffer : given[4])
        column.buffers.push_back(buffer.is_none() ? nullptr : nb::cast<const HostBuffer&>(buffer).region);
    const nb::object dictionary = given[5];
    if (!dictionary.is_none()) {
        column.dictionary = std::make_shared<const ArrowColumn>(column_from(dictionary[0]));
        column.dictionary_length = nb::cast<std::int64_t>(dictionary[1]);
    }
    return column;
}

ArrowBatch batch_from(nb::handle columns, std::int64_t length) {
    ArrowBatch batch;
    batch.length = length;
    for (const nb::handle given : columns) batch.columns.push_back(column_from(given));
    return batch;
}

// Returns a capsule that releases its structure, unless a consumer has moved the structure out.
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

// Returns a Python object that any thread may release. After the end of the interpreter it is not deallocated.
std::shared_ptr<nb::object> shared_object(nb::object object) {
    return {new nb::object(std::move(object)), [](nb::object* held) {
                if (is_interpreter_gone()) return;
                with_gil([&] { Py_DECREF(held->release().ptr()); });
                delete held;
            }};
}

// Returns a stream. `next` returns (columns, length), or None after the last batch; `columns` have the types of each
// batch.
nb::object batches_capsule(nb::handle columns, nb::object next) {
    auto stream = std::make_unique<ArrowArrayStream>();
    const auto call = shared_object(std::move(next));
    NextBatch next_batch = [call]() -> std::shared_ptr<const ArrowBatch> {
        return with_gil([&]() -> std::shared_ptr<const ArrowBatch> {
            const nb::object given = (*call)();
            if (given.is_none()) return nullptr;
            return std::make_shared<const ArrowBatch>(batch_from(given[0], nb::cast<std::int64_t>(given[1])));
        });
    };
    export_stream(std::make_shared<const ArrowBatch>(batch_from(columns, 0)), std::move(next_batch), stream.get());
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

// Converts the TextOptions of export/text/text_options.py.
TextOptions text_options(nb::handle given) {
    TextOptions options;
    const auto read = reader_of(given);
    read("sep", options.sep);
    read("line_end", options.line_end);
    read("null", options.null);
    read("comment", options.comment);
    read("escape_sequences", options.escape_sequences);
    read("header", options.header);
    read("plain_nan", options.plain_nan);
    const auto quote = Argument<std::string>::of(given.attr("quote"));
    options.has_quote = !quote.empty();
    options.quote = quote.empty() ? u8{0} : static_cast<u8>(quote[0]);
    const auto quoting = nb::cast<std::string>(given.attr("quoting"));
    options.quoting = quoting == "all" ? Quoting::all : quoting == "none" ? Quoting::none : Quoting::minimal;
    const auto escape = Argument<std::string>::of(given.attr("escape"));
    options.escape = escape.empty() ? -1 : static_cast<u8>(escape[0]);
    return options;
}

// Returns a writer of the stream in `capsule`; as the interface requires, the stream is moved out of the capsule.
std::unique_ptr<CsvWriter> csv_writer(nb::handle capsule, nb::handle options) {
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (stream == nullptr) throw nb::python_error();
    TextOptions text = text_options(options);
    const GilRelease release;  // a stream may compute its first batch to determine its schema
    return std::make_unique<CsvWriter>(stream, std::move(text));
}

void write_to_file(CsvWriter& writer, int descriptor, unsigned threads) {
    int code = 0;
    {
        const GilRelease release;
        try {
            writer.write_to_file(descriptor, threads, check_signals);
        } catch (const WriteFailure& failure) {
            code = failure.code;
        }
    }
    if (code == 0) return;
    errno = code;
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
}

nb::object write_to_bytes(CsvWriter& writer, unsigned threads) {
    auto blocks = released([&] { return writer.all_blocks(threads, check_signals); });
    std::size_t size = 0;
    for (const TextBlock& block : blocks) size += block.size;
    PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
    if (bytes == nullptr) throw nb::python_error();
    nb::object result = nb::steal(bytes);
    auto* out = reinterpret_cast<u8*>(PyBytes_AsString(bytes));
    const GilRelease release;
    for (TextBlock& block : blocks) {
        std::copy_n(block.bytes.get(), block.size, out);
        out += block.size;
        block.bytes.reset();
    }
    return result;
}

nb::list next_blocks(CsvWriter& writer, unsigned threads) {
    const auto blocks = released([&] { return writer.next_blocks(threads); });
    nb::list result;
    for (const TextBlock& block : blocks) result.append(nb::bytes(block.bytes.get(), block.size));
    return result;
}

}  // namespace

void bind_export(nb::module_& m) {
    nb::exception<StreamFailure>(m, "StreamFailure");
    nb::class_<CsvWriter>(m, "CsvWriter")
        .def_static("make", &csv_writer)
        .def("write_to_file", &write_to_file)
        .def("write_to_bytes", &write_to_bytes)
        .def("next_blocks", &next_blocks);
    m.def("arrow_stream", &stream_capsule);
    m.def("arrow_batches", &batches_capsule);
    m.def("arrow_schema", &schema_capsule);
    m.def("arrow_column", &column_capsules);
    m.def("wrong_offset", without_gil(wrong_offset));
    m.def("wrong_code", without_gil(wrong_code));
    m.def("wrong_view", without_gil(wrong_view));
    m.def("clear_nulls", without_gil(clear_nulls));
}

}  // namespace headrace
