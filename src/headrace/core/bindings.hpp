// What the stages' bindings share.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>

#include "core/memory.hpp"

namespace headrace {

// A result's memory as Python holds it. What is handed over through Arrow shares the region, not this object, so that
// its receiver may let go on any thread without the GIL, and after the interpreter has ended.
struct HostBuffer {
    std::shared_ptr<const Region> region;
};

nanobind::object make_buffer(Region&& region);

// A Python object's bytes for as long as this lives; the object must lend them contiguous. Held without the GIL, made
// and given back with it.
class BorrowedBytes {
public:
    explicit BorrowedBytes(nanobind::handle object);
    ~BorrowedBytes();
    BorrowedBytes(const BorrowedBytes&) = delete;
    BorrowedBytes& operator=(const BorrowedBytes&) = delete;
    const void* data() const { return view_.buf; }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }

private:
    Py_buffer view_{};
};

void bind_core(nanobind::module_& m);
void bind_gpu(nanobind::module_& m);
void bind_sources(nanobind::module_& m);
void bind_structure(nanobind::module_& m);
void bind_columns(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_export(nanobind::module_& m);
void bind_arrange(nanobind::module_& m);

}  // namespace headrace
