#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>

#include <stdexcept>

#include "core/cpu/memory.hpp"

namespace headrace {

void bind_columns(nanobind::module_& m) {
    nanobind::exception<std::length_error>(m, "RecordTooLong");
    bind_convert();
    bind_infer(m);
    bind_load(m);
    bind_faults(m);
    bind_finish(m);
}

}  // namespace headrace
