// What a launch, memory taken or given back, and a small copy through pinned memory come to: one call from Python each.
// The driver is known by addresses of its functions, so nothing here needs CUDA to be built, or to be there. Measured
// beside an H200: a launch of ten arguments takes 3.6 us of the driver, 4.6 through its bindings for Python, and took
// 12 with the packing.
//
// The GIL is let go of while the driver is told something: where its queue is full that waits for the card, which may
// wait for another library's callback in Python. So it is once for several launches, whose arguments are packed before.
#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"
#include "gpu/device/driver_functions.hpp"
#include "gpu/kernels/trace.hpp"
#include "gpu/memory/slabs.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

using Address = std::uintptr_t;

template <class T>
T pointer_to(Address address) {
    return reinterpret_cast<T>(address);
}

CardCalls card_calls(const std::vector<Address>& addresses) {
    CardCalls calls;
    usize next = 0;
    const auto tell = [&](auto& function) {
        function = pointer_to<std::decay_t<decltype(function)>>(addresses.at(next++));
    };
    tell(calls.launch);
    tell(calls.copy_to_card);
    tell(calls.copy_to_host);
    tell(calls.record);
    tell(calls.wait);
    tell(calls.take);
    tell(calls.give_back);
    tell(calls.fill);
    tell(calls.current);
    tell(calls.make_current);
    tell(calls.launch_with);
    tell(calls.query);
    if (next != addresses.size()) throw std::invalid_argument("more functions than are called");
    return calls;
}

// Memory of a pool, in the order of a stream: its first bytes with all bits set, zeros behind them. The driver's
// status, and the address.
std::pair<int, u64> take_memory(const CardCalls& calls, Address pool, usize n, Address stream,
                                std::pair<usize, usize> ones_and_zeros) {
    const GilRelease release;
    const auto [ones, zeros] = ones_and_zeros;
    void* const order = pointer_to<void*>(stream);
    u64 made = 0;
    int status = calls.take(&made, n, pointer_to<void*>(pool), order);
    if (status != 0) return {status, 0};
    if (ones != 0) status = calls.fill(made, 0xFF, ones, order);
    if (status == 0 && zeros != 0) status = calls.fill(made + ones, 0, zeros, order);
    if (status == 0) return {0, made};
    calls.give_back(made, order);
    return {status, 0};
}

// Makes a context current for this thread. Returns the driver's status, and the context that was current if it was
// another one (0 for none), so that the caller can restore it.
std::pair<int, std::optional<Address>> switch_context(const CardCalls& calls, Address context) {
    void* before = nullptr;
    int status = calls.current(&before);
    if (status != 0 || before == pointer_to<void*>(context)) return {status, std::nullopt};
    status = calls.make_current(pointer_to<void*>(context));
    if (status != 0) return {status, std::nullopt};
    return {0, reinterpret_cast<Address>(before)};
}

// Gives memory back, in the order of a stream of this context. Any thread may do so, and the stream may be a default
// one, so the context is made current meanwhile.
int give_memory_back(const CardCalls& calls, u64 memory, Address stream, Address context) {
    const GilRelease release;
    const auto [switched, before] = switch_context(calls, context);
    if (switched != 0) return switched;
    const int status = calls.give_back(memory, pointer_to<void*>(stream));
    if (before) calls.make_current(pointer_to<void*>(*before));
    return status;
}

int fill_memory(const CardCalls& calls, u64 target, unsigned char byte, usize n, Address stream) {
    const GilRelease release;
    return calls.fill(target, byte, n, pointer_to<void*>(stream));
}

// Copies bytes to the card through pinned memory of at least as many; the event stands behind that.
int send_small(const CardCalls& calls, nb::handle source, Address pinned, u64 target, Address stream, Address event) {
    const BorrowedBytes bytes(source);
    const GilRelease release;
    std::memcpy(pointer_to<void*>(pinned), bytes.data(), bytes.size());
    const int status = calls.copy_to_card(target, pointer_to<void*>(pinned), bytes.size(), pointer_to<void*>(stream));
    return status != 0 ? status : calls.record(pointer_to<void*>(event), pointer_to<void*>(stream));
}

// Copies bytes to pinned memory, and waits for them.
int fetch_small(const CardCalls& calls, u64 source, Address pinned, usize n, Address stream, Address event) {
    const GilRelease release;
    int status = calls.copy_to_host(pointer_to<void*>(pinned), source, n, pointer_to<void*>(stream));
    if (status == 0) status = calls.record(pointer_to<void*>(event), pointer_to<void*>(stream));
    return status != 0 ? status : calls.wait(pointer_to<void*>(event));
}

// A parameter's place among a kernel's, and what is put there: a letter of Python's `struct`, or 's' for bytes.
struct Parameter {
    usize offset, size;
    char kind;
};

// Anything that Python takes for a whole number, a room by its address, nothing as 0.
nb::object whole_number(nb::handle value) {
    static PyObject* const address = PyUnicode_InternFromString("address");
    if (PyLong_Check(value.ptr())) return nb::borrow(value);
    if (value.is_none()) return nb::int_(0);
    PyObject* number = PyObject_GetAttr(value.ptr(), address);
    if (number == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
        PyErr_Clear();
        number = PyNumber_Index(value.ptr());
    }
    if (number == nullptr) nb::raise_python_error();
    return nb::steal(number);
}

template <class T>
void store(std::byte* place, T value) {
    std::memcpy(place, &value, sizeof value);
}

// As many of its low bytes as the parameter has; those that are left out say nothing.
void store_whole(std::byte* place, const Parameter& parameter, nb::handle value) {
    const nb::object number = whole_number(value);
    const bool is_signed = parameter.kind >= 'a';  // a small letter of `struct`
    const auto found = is_signed ? static_cast<u64>(PyLong_AsLongLong(number.ptr()))
                                 : static_cast<u64>(PyLong_AsUnsignedLongLong(number.ptr()));
    if (PyErr_Occurred() != nullptr) nb::raise_python_error();
    const unsigned bits = static_cast<unsigned>(parameter.size) * 8, unused = 64 - bits;
    const u64 moved = found << unused;
    const u64 back = is_signed ? static_cast<u64>(static_cast<i64>(moved) >> unused) : moved >> unused;
    if (back != found)
        throw std::overflow_error("a kernel's argument does not fit its " + std::to_string(bits) + " bits");
    std::memcpy(place, &found, parameter.size);
}

void store_argument(std::byte* place, const Parameter& parameter, nb::handle value) {
    if (parameter.kind == 's') {
        const BorrowedBytes bytes(value);
        if (bytes.size() != parameter.size)
            throw std::invalid_argument("a structure of another size than the kernel's");
        std::memcpy(place, bytes.data(), bytes.size());
    } else if (parameter.kind == 'd' || parameter.kind == 'f') {
        const double number = PyFloat_AsDouble(value.ptr());
        if (PyErr_Occurred() != nullptr) nb::raise_python_error();
        parameter.kind == 'd' ? store(place, number) : store(place, static_cast<float>(number));
    } else {
        store_whole(place, parameter, value);
    }
}

Extent extent_of(nb::handle value) {
    if (!PyTuple_Check(value.ptr())) return {nb::cast<unsigned>(value), 1, 1};
    const auto [x, y, z] = nb::cast<std::tuple<unsigned, unsigned, unsigned>>(value);
    return {x, y, z};
}

// A kernel as the driver has it, and where its arguments go.
class KernelCall {
public:
    KernelCall(const CardCalls& calls, Address kernel, const std::vector<std::tuple<usize, usize, std::string>>& layout,
               int mode)
        : calls_(calls), kernel_{pointer_to<void*>(kernel), static_cast<LaunchMode>(mode)} {
        if (mode < 0 || mode > 2) throw std::invalid_argument("unknown launch mode");
        for (const auto& [offset, size, kind] : layout) {
            parameters_.push_back({offset, size, kind.back()});
            if (kind.back() != 's' && (size == 0 || size > 8)) throw std::invalid_argument("a number of no such size");
            bytes_ = std::max(bytes_, offset + size);
        }
    }

private:
    friend class Launch;
    friend class Recorded;
    CardCalls calls_;
    CardKernel kernel_;
    std::vector<Parameter> parameters_;
    usize bytes_ = 0;
};

// A launch that needs nothing of Python any more.
class Launch {
public:
    Launch(const KernelCall& call, nb::handle grid, nb::handle block, unsigned shared, nb::handle arguments)
        : call_(call), shape_{extent_of(grid), extent_of(block), shared}, memory_(call.bytes_) {
        const std::vector<Parameter>& parameters = call.parameters_;
        const nb::object several = nb::steal(PySequence_Fast(arguments.ptr(), "arguments are a list or a tuple"));
        if (!several.is_valid()) nb::raise_python_error();
        const auto count = static_cast<usize>(PySequence_Fast_GET_SIZE(several.ptr()));
        if (count != parameters.size())
            throw std::invalid_argument("a kernel of " + std::to_string(parameters.size()) + " parameters is given " +
                                        std::to_string(count) + " arguments");
        places_.reserve(count);
        PyObject** const values = PySequence_Fast_ITEMS(several.ptr());
        for (usize i = 0; i < count; ++i) {
            std::byte* const place = memory_.data() + parameters[i].offset;
            store_argument(place, parameters[i], values[i]);
            places_.push_back(place);
        }
    }

    // The driver's status.
    int tell(Address stream) {
        return launch_on_card(call_.calls_, call_.kernel_, shape_, pointer_to<void*>(stream), places_.data());
    }

private:
    friend class Recorded;
    const KernelCall& call_;
    LaunchShape shape_;
    std::vector<std::byte> memory_;
    std::vector<void*> places_;
};

int launch(const KernelCall& call, nb::handle grid, nb::handle block, unsigned shared, Address stream,
           nb::handle arguments) {
    Launch one(call, grid, block, shared, arguments);
    const GilRelease release;
    return one.tell(stream);
}

// Launches told together, each a `KernelCall`, its extents, shared memory, arguments and what else: how many were told,
// and the status of the next one, if it failed. In a loop a launch takes half of what it takes between other work.
std::pair<usize, int> launch_all(const nb::list& given, Address stream) {
    std::vector<Launch> launches;
    launches.reserve(given.size());
    for (const nb::handle each : given) {
        const auto one = nb::cast<nb::tuple>(each);
        launches.emplace_back(nb::cast<const KernelCall&>(one[0]), one[1], one[2], nb::cast<unsigned>(one[3]), one[4]);
    }
    const GilRelease release;
    for (usize told = 0; told < launches.size(); ++told) {
        const int status = launches[told].tell(stream);
        if (status != 0) return {told, status};
    }
    return {launches.size(), 0};
}

using Values = std::vector<usize>;
using Patches = std::vector<std::tuple<usize, usize, usize, usize>>;

// Launches worked out of symbols (gpu/kernels/trace.hpp), as Python tells them.
class Recorded {
public:
    // What is worked out: an operation and two values each; `sizes`: values.
    Recorded(const CardCalls& calls, std::vector<i64> constants, usize inputs,
             const std::vector<std::tuple<unsigned, usize, usize>>& made, Values sizes)
        : launches_(calls, figures(std::move(constants), inputs, made), std::move(sizes)) {}

    // A kernel; where an argument is a value, it is told as 0. Patches: parameter, byte of it, bytes (0 for all of a
    // number), value.
    void launch(const KernelCall& call, std::array<usize, 3> grid, nb::handle block, unsigned shared,
                nb::handle arguments, const Patches& patches) {
        Launch known(call, nb::int_(1), block, shared, arguments);
        std::vector<Patch> own;
        for (const auto& [number, byte, size, value] : patches) {
            const Parameter& parameter = call.parameters_.at(number);
            own.push_back({parameter.offset + byte, size == 0 ? parameter.size : size, value});
        }
        RecordedStep step{call.kernel_, grid, known.shape_.block, shared, 0, {}};
        for (const Parameter& one : call.parameters_) step.places.push_back(one.offset);
        launches_.add(std::move(step), known.memory_, own);
    }

    void fill(usize target, unsigned char byte, usize size) {
        launches_.add({{}, {target, size, size}, {}, 0, byte, {}}, {}, {});
    }

    std::vector<u64> sizes(const std::vector<i64>& inputs) const { return launches_.sizes(inputs); }

    std::pair<usize, int> tell(const std::vector<i64>& inputs, Address stream, usize first) const {
        RecordedLaunches::Run run(launches_, inputs);
        const GilRelease release;
        return run.tell(pointer_to<void*>(stream), first);
    }

private:
    static Figures figures(std::vector<i64> constants, usize inputs,
                           const std::vector<std::tuple<unsigned, usize, usize>>& made) {
        std::vector<Figures::Made> found;
        for (const auto& [operation, first, second] : made)
            found.push_back({static_cast<Operation>(operation), first, second});
        return {std::move(constants), inputs, std::move(found)};
    }

    RecordedLaunches launches_;
};

// Of each slab the number behind its last buffer, bytes, ones and zeros; and where each buffer begins.
nb::tuple lay_out_buffers(const std::vector<usize>& sizes, std::pair<usize, usize> ones_and_filled,
                          std::tuple<usize, usize, usize> rule) {
    const auto [ones, filled] = ones_and_filled;
    const auto [alignment, large, slab] = rule;
    const Slabs found = lay_out(sizes, ones, filled, {alignment, large, slab});
    nb::list slabs;
    for (const Slab& one : found.slabs) slabs.append(nb::make_tuple(one.behind, one.bytes, one.ones, one.zeros));
    return nb::make_tuple(slabs, found.begins);
}

}  // namespace

void bind_gpu(nb::module_& m) {
    nb::class_<CardCalls>(m, "CardCalls")
        .def_static("make", &card_calls)
        .def("take", &take_memory)
        .def("give_back", &give_memory_back)
        .def("switch_context", &switch_context)
        .def("fill", &fill_memory)
        .def("send", &send_small)
        .def("fetch", &fetch_small);
    nb::class_<KernelCall>(m, "KernelCall")
        .def(nb::init<const CardCalls&, Address, const std::vector<std::tuple<usize, usize, std::string>>&, int>(),
             nb::arg("calls"), nb::arg("kernel"), nb::arg("layout"), nb::arg("mode") = 0)
        .def("launch", &launch);
    m.def("launch_all", &launch_all);
    m.def("lay_out", &lay_out_buffers);
    nb::class_<Recorded>(m, "RecordedLaunches")
        .def(nb::init<const CardCalls&, std::vector<i64>, usize, const std::vector<std::tuple<unsigned, usize, usize>>&,
                      Values>())
        .def("launch", &Recorded::launch)
        .def("fill", &Recorded::fill)
        .def("sizes", &Recorded::sizes)
        .def("tell", &Recorded::tell);
}

}  // namespace headrace
