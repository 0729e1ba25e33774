#include "core/bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "core/cpu/isa.hpp"
#include "core/cpu/limits.hpp"
#include "core/cpu/portable.hpp"
#include "core/cpu/streaming_stores.hpp"
#include "core/cpu/threads/thread_pool.hpp"
#include "core/layouts/layout.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    auto* buffer = nb::inst_ptr<HostBuffer>(nb::handle(self));
    // Some consumers treat a null pointer as an error, so an empty buffer has an address, too.
    static char nothing = 0;
    const Region& region = *buffer->region;
    void* data = region.data() != nullptr ? static_cast<void*>(region.data()) : &nothing;
    return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(region.size()), 1, flags);
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

void raise_memory_limit_error(const char* message) {
    const nb::object type = nb::module_::import_("headrace.core.errors").attr("MemoryLimitError");
    PyErr_SetString(type.ptr(), message);
}

// The message of an error derived from std::bad_alloc names the refused allocation. That of std::bad_alloc itself is
// "std::bad_alloc". Forced unwinding (see `call_python`) has no exception object, and must not end in a handler. It
// began in Python code that a binding runs without `call_python`, such as a property or a finalizer.
void translate_exception(const std::exception_ptr& error, void*) {
    if (error == nullptr) block_forever();
    try {
        std::rethrow_exception(error);
    } catch (const MemoryLimitExceeded& exceeded) {
        raise_memory_limit_error(exceeded.what());
    } catch (const OutOfMemory& refused) {
        raise_memory_limit_error(refused.what());
    } catch (const std::bad_alloc&) {
        raise_memory_limit_error("the system refused memory");
    }
}

// Bytes of a copy that lets other threads of Python run.
constexpr usize LONG_COPY = usize{1} << 20;

// Allocate a buffer with undefined content.
Region new_region(usize bytes) {
    require_group_memory(bytes);
    Region region(bytes, nullptr);
    region.ensure(bytes);
    return region;
}

nb::object copy_of(nb::handle source) {
    const BorrowedBytes bytes(source);
    Region region = new_region(bytes.size());
    std::optional<GilRelease> release;
    if (bytes.size() >= LONG_COPY) release.emplace();
    if (bytes.size() != 0) std::memcpy(region.data(), bytes.data(), bytes.size());
    release.reset();
    return make_buffer(std::move(region));
}

// Return the bytes of a memoryview: without a copy if it views a buffer, which then lives on, whole.
nb::object part_of(nb::handle view) {
    if (!PyMemoryView_Check(view.ptr())) throw nb::type_error("a memoryview is expected");
    const Py_buffer* const found = PyMemoryView_GET_BUFFER(view.ptr());
    const nb::handle viewed(found->obj);
    if (viewed.ptr() == nullptr || !nb::isinstance<HostBuffer>(viewed) || PyBuffer_IsContiguous(found, 'C') == 0)
        return copy_of(view);
    auto* const data = static_cast<std::byte*>(found->buf);
    return make_buffer(Region(data, static_cast<usize>(found->len), nb::cast<const HostBuffer&>(viewed).region));
}

// Return the address of an array's items by the C side of NumPy's array interface, in a tenth of the time of the other.
u64 address_of_array(nb::handle array) {
    struct ArrayInterface {
        int two, dimensions;
        char kind;
        int item_bytes, flags;
        const Py_ssize_t* shape;
        const Py_ssize_t* strides;
        const void* data;
    };
    const nb::object capsule = array.attr("__array_struct__");
    const auto* const found = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
    if (found == nullptr) throw nb::python_error();
    return reinterpret_cast<u64>(found->data);
}

// Return the address of a contiguous view's bytes, which the view keeps.
u64 address_of_view(nb::handle view) { return reinterpret_cast<u64>(BorrowedBytes(view).data()); }

// Export a buffer as a writable array of bytes, which NumPy can view as any type.
nb::object new_bytes(u64 count) {
    auto region = std::make_unique<Region>(new_region(count));
    std::byte* const data = region->data();
    const nb::capsule owner(region.get(), [](void* result) noexcept { delete static_cast<Region*>(result); });
    region.release();
    return nb::cast(nb::ndarray<nb::numpy, u8, nb::ndim<1>>(data, {count}, owner));
}

// The creator fills it by its address before the buffer is shared.
nb::object empty_buffer(usize bytes) { return make_buffer(new_region(bytes)); }

// Copy parts, each (from, to, bytes), piece by piece on several threads. `streamed`: bypass the cache.
void copy_parts(const std::vector<std::tuple<std::uintptr_t, std::uintptr_t, usize>>& parts, unsigned threads,
                bool streamed) {
    constexpr usize PIECE = usize{1} << 20;
    std::vector<std::tuple<std::uintptr_t, std::uintptr_t, usize>> pieces;
    for (const auto& [from, to, bytes] : parts) {
        for (usize at = 0; at < bytes; at += PIECE)
            pieces.emplace_back(from + at, to + at, std::min(PIECE, bytes - at));
    }
    const GilRelease release;
    std::atomic<usize> next{0};
    run_parallel(static_cast<unsigned>(std::min<usize>(threads, pieces.size())), [&](unsigned) {
        for (usize i = next++; i < pieces.size(); i = next++) {
            const auto& [from, to, bytes] = pieces[i];
            if (streamed) {
                copy_streamed(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), bytes);
            } else {
                std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
            }
        }
    });
}

// (size, [(name, format, shape, offset, the same of a nested struct or None)])
nb::tuple layout_tuple(const StructLayout& layout) {
    nb::list fields;
    for (const FieldLayout& field : layout.fields) {
        const nb::object inner =
            field.inner.empty() ? nb::object(nb::none()) : nb::object(layout_tuple(field.inner[0]));
        fields.append(nb::make_tuple(field.name, field.format, nb::tuple(nb::cast(field.shape)), field.offset, inner));
    }
    return nb::make_tuple(layout.size, fields);
}

nb::tuple layout_named(std::string_view name) {
    const auto found = struct_layouts().find(name);
    if (found == struct_layouts().end()) throw nb::key_error(("no layout: " + std::string(name)).c_str());
    return layout_tuple(found->second);
}

// (name, bits, letters of the Arrow format, letters of its units)
std::vector<std::tuple<std::string, unsigned, std::string, std::string>> type_list() {
    return {
#define HR_TYPE(id, name, bits, family, Value, arrow, units) {name, bits, arrow, units},
#include "core/types.def"
    };
}

std::vector<std::string> isas() {
    std::vector<std::string> names;
    for (const Isa isa : available_isas()) names.emplace_back(isa_name(isa));
    return names;
}

// Return the items of `values` that are not identical to those of `usual`, where a missing item counts as None.
nb::dict changed_items(const nb::dict& values, const nb::dict& usual) {
    nb::dict changed;
    PyObject *key, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(values.ptr(), &place, &key, &value) != 0) {
        PyObject* const known = PyDict_GetItemWithError(usual.ptr(), key);
        if (known == nullptr && PyErr_Occurred() != nullptr) nb::raise_python_error();
        if (value != (known == nullptr ? Py_None : known)) changed[nb::handle(key)] = nb::handle(value);
    }
    return changed;
}

}  // namespace

void block_forever() noexcept {
    while (true) pause();
}

// The finalizing thread keeps its Python state to the end.
bool is_interpreter_gone() noexcept { return Py_IsInitialized() == 0 && PyGILState_GetThisThreadState() == nullptr; }

GilAcquire::GilAcquire() {
    if (is_interpreter_gone()) block_forever();
    state_ = call_python([] { return PyGILState_Ensure(); });
}

void check_signals() {
    with_gil([] {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
}

nb::object make_buffer(Region&& region) {
    return nb::cast(HostBuffer{std::make_shared<const Region>(std::move(region))});
}

BorrowedBytes::BorrowedBytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
}

BorrowedBytes::~BorrowedBytes() { PyBuffer_Release(&view_); }

void bind_core(nb::module_& m) {
    nb::class_<HostBuffer>(m, "Buffer", nb::type_slots(buffer_slots))
        .def_prop_ro("address", [](const HostBuffer& b) { return reinterpret_cast<std::uintptr_t>(b.region->data()); })
        .def_prop_ro("device", [](const HostBuffer&) { return "cpu"; })
        .def_prop_ro("nbytes", [](const HostBuffer& b) { return b.region->size(); });
    m.def("copy_of", &copy_of);
    m.def("part_of", &part_of, "view"_a);
    m.def("empty_buffer", &empty_buffer);
    m.def("copy_parts", &copy_parts, "parts"_a, "threads"_a, "streamed"_a = false);
    nb::class_<LentMemory>(m, "LentMemory")
        .def("__init__", [](LentMemory* self, std::uintptr_t address,
                            usize nbytes) { new (self) LentMemory(reinterpret_cast<std::byte*>(address), nbytes); })
        .def("lend", [](const LentMemory& m, usize begin, usize nbytes) { return make_buffer(m.lend(begin, nbytes)); })
        .def_prop_ro("is_free", &LentMemory::is_free)
        .def_prop_ro("address", [](const LentMemory& m) { return reinterpret_cast<std::uintptr_t>(m.data()); })
        .def_prop_ro("nbytes", &LentMemory::size);
    m.def("type_list", &type_list);
    m.def("layout", &layout_named);
    m.def("isas", &isas);
    m.def("choose_isa", [](std::string_view name) { return std::string(isa_name(choose_isa(name))); });
    m.def("release_unused_memory", &release_unused_memory,
          "Return memory of released tables to the system now.\n\n"
          "The memory of released tables and arrays is reused by the next ones, because the first touch of new memory\n"
          "costs more than parsing. After half a second without use it is returned to the system.");
    m.def("changed_items", &changed_items);
    m.def("new_bytes", &new_bytes);
    m.def("address_of_array", &address_of_array);
    m.def("address_of_view", &address_of_view);
    m.def("hardware_threads", [] { return hardware_threads(); });
    m.def("usable_memory", [] { return usable_memory(); });
    m.def("limits_below", [](const std::string& root) {
        const GroupLimits limits = group_limits(root);
        return std::make_tuple(hardware_threads(limits), usable_memory(limits), free_group_memory(limits));
    });
    m.def("use_limits_below", &use_limits_below);
    m.def("poll_group_memory", &poll_group_memory);
}

}  // namespace headrace

NB_MODULE(_native, m) {
    // Objects exported through Arrow may legitimately outlive the interpreter, so nanobind must not report them as
    // leaks.
    nanobind::set_leak_warnings(false);
    headrace::bind_core(m);
    headrace::bind_gpu(m);
    headrace::bind_primitives(m);
    headrace::bind_sources(m);
    headrace::bind_structure(m);
    headrace::bind_columns(m);
    headrace::bind_encode(m);
    headrace::bind_export(m);
    headrace::bind_arrange(m);
    headrace::bind_search(m);
    headrace::bind_hash_map(m);
    headrace::bind_sorted_map(m);
    headrace::bind_find(m);
    headrace::bind_match(m);
    headrace::bind_lines(m);
    headrace::bind_dictionary(m);
    headrace::bind_store_files(m);
    nanobind::register_exception_translator(&headrace::translate_exception);  // the last one is asked first
}
