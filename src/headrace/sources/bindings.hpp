// A source as Python hands it over.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "core/bindings.hpp"
#include "sources/source.hpp"

namespace headrace {

// Keeps what the source reads from alive. Made and destroyed with the GIL, read without it.
struct PythonSource {
    std::unique_ptr<BorrowedBytes> bytes;
    std::unique_ptr<Source> source;
};

}  // namespace headrace
