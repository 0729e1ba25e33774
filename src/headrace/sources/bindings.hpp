// Defines the Python object of a source.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "core/bindings.hpp"
#include "sources/source.hpp"

namespace headrace {

// A source and the object whose bytes it reads. Created and destroyed with the GIL, read without it.
struct PythonSource {
    std::unique_ptr<BorrowedBytes> bytes;
    std::unique_ptr<Source> source;
};

}  // namespace headrace
