#include "sources/bindings.hpp"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace headrace {
namespace {

PythonSource from_bytes(nb::handle object) {
    PythonSource made;
    made.bytes = std::make_unique<BorrowedBytes>(object);
    made.source = std::make_unique<MemorySource>(made.bytes->data(), made.bytes->size());
    return made;
}

PythonSource from_file(int fd, std::string name) {
    return {nullptr, std::make_unique<FileSource>(fd, std::move(name))};
}

nb::bytes read(const PythonSource& source, std::uint64_t offset, std::size_t n) {
    const std::uint64_t size = source.source->size();
    n = offset >= size ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(n, size - offset));
    std::string text(n, '\0');
    source.source->read(offset, n, reinterpret_cast<std::uint8_t*>(text.data()));
    return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_sources(nb::module_& m) {
    nb::exception<SourceFailure>(m, "SourceFailure");
    nb::class_<PythonSource>(m, "Source")
        .def_static("from_bytes", &from_bytes)
        .def_static("from_file", &from_file)
        .def_prop_ro("size", [](const PythonSource& s) { return s.source->size(); })
        .def("read", &read);
}

}  // namespace headrace
