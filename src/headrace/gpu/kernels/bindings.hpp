// Converts the arguments of kernels from Python, and launches kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/bindings.hpp"
#include "core/cpu/portable.hpp"
#include "gpu/device/driver_functions.hpp"

namespace headrace {

using Address = std::uintptr_t;

template <class T>
T pointer_to(Address address) {
    return reinterpret_cast<T>(address);
}

// A kernel parameter: its offset and size in bytes, and its type as a letter of Python's `struct` ('s': bytes).
struct KernelParameter {
    usize offset, size;
    char kind;
};

// Converts any Python integer; a buffer becomes its address, None becomes 0.
inline nanobind::object whole_number(nanobind::handle value) {
    static PyObject* const address = PyUnicode_InternFromString("address");
    if (PyLong_Check(value.ptr())) return nanobind::borrow(value);
    if (value.is_none()) return nanobind::int_(0);
    PyObject* number = PyObject_GetAttr(value.ptr(), address);
    if (number == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
        PyErr_Clear();
        number = PyNumber_Index(value.ptr());
    }
    if (number == nullptr) nanobind::raise_python_error();
    return nanobind::steal(number);
}

template <class T>
void store(std::byte* place, T value) {
    std::memcpy(place, &value, sizeof value);
}

// Stores the low bytes that the parameter has room for. The bytes left out must be sign or zero extension.
inline void store_whole(std::byte* place, const KernelParameter& parameter, nanobind::handle value) {
    const nanobind::object number = whole_number(value);
    const bool is_signed = parameter.kind >= 'a';  // a lower-case letter of `struct`
    const auto found = is_signed ? static_cast<u64>(PyLong_AsLongLong(number.ptr()))
                                 : static_cast<u64>(PyLong_AsUnsignedLongLong(number.ptr()));
    if (PyErr_Occurred() != nullptr) nanobind::raise_python_error();
    const unsigned bits = static_cast<unsigned>(parameter.size) * 8, unused = 64 - bits;
    const u64 moved = found << unused;
    const u64 back = is_signed ? static_cast<u64>(static_cast<i64>(moved) >> unused) : moved >> unused;
    if (back != found)
        throw std::overflow_error("a kernel's argument does not fit its " + std::to_string(bits) + " bits");
    std::memcpy(place, &found, parameter.size);
}

inline void store_argument(std::byte* place, const KernelParameter& parameter, nanobind::handle value) {
    if (parameter.kind == 's') {
        const BorrowedBytes bytes(value);
        if (bytes.size() != parameter.size)
            throw std::invalid_argument("a structure's size differs from the kernel's parameter");
        std::memcpy(place, bytes.data(), bytes.size());
    } else if (parameter.kind == 'd' || parameter.kind == 'f') {
        const double number = PyFloat_AsDouble(value.ptr());
        if (PyErr_Occurred() != nullptr) nanobind::raise_python_error();
        parameter.kind == 'd' ? store(place, number) : store(place, static_cast<float>(number));
    } else {
        store_whole(place, parameter, value);
    }
}

inline Extent extent_of(nanobind::handle value) {
    if (!PyTuple_Check(value.ptr())) return {nanobind::cast<unsigned>(value), 1, 1};
    const auto [x, y, z] = nanobind::cast<std::tuple<unsigned, unsigned, unsigned>>(value);
    return {x, y, z};
}

// A driver kernel and the layout of its parameters.
class KernelCall {
public:
    KernelCall(const CardCalls& calls, Address kernel, const std::vector<std::tuple<usize, usize, std::string>>& layout,
               int mode)
        : calls_(calls), kernel_{pointer_to<void*>(kernel), static_cast<LaunchMode>(mode)} {
        if (mode < 0 || mode > 2) throw std::invalid_argument("unknown launch mode");
        for (const auto& [offset, size, kind] : layout) {
            parameters_.push_back({offset, size, kind.back()});
            if (kind.back() != 's' && (size == 0 || size > 8)) throw std::invalid_argument("a number has 1 to 8 bytes");
            bytes_ = std::max(bytes_, offset + size);
        }
    }

private:
    friend class PackedLaunch;
    friend class TraceBuilder;
    CardCalls calls_;
    CardKernel kernel_;
    std::vector<KernelParameter> parameters_;
    usize bytes_ = 0;
};

// A packed launch, which needs no Python objects any more.
class PackedLaunch {
public:
    PackedLaunch(const KernelCall& call, nanobind::handle grid, nanobind::handle block, unsigned shared,
                 nanobind::handle arguments)
        : call_(call), shape_{extent_of(grid), extent_of(block), shared}, memory_(call.bytes_) {
        const std::vector<KernelParameter>& parameters = call.parameters_;
        const nanobind::tuple values(arguments);
        const usize count = values.size();
        if (count != parameters.size())
            throw std::invalid_argument("a kernel of " + std::to_string(parameters.size()) + " parameters got " +
                                        std::to_string(count) + " arguments");
        places_.reserve(count);
        for (usize i = 0; i < count; ++i) {
            std::byte* const place = memory_.data() + parameters[i].offset;
            store_argument(place, parameters[i], values[i]);
            places_.push_back(place);
        }
    }

    // The driver's status.
    int run(Address stream) {
        return launch_on_card(call_.calls_, call_.kernel_, shape_, pointer_to<void*>(stream), places_.data());
    }

private:
    friend class TraceBuilder;
    const KernelCall& call_;
    LaunchShape shape_;
    std::vector<std::byte> memory_;
    std::vector<void*> places_;
};

inline int launch(const KernelCall& call, nanobind::handle grid, nanobind::handle block, unsigned shared,
                  Address stream, nanobind::handle arguments) {
    PackedLaunch one(call, grid, block, shared, arguments);
    const GilRelease release;
    return one.run(stream);
}

// Makes launches in a row; each is a tuple of `KernelCall`, grid, block, shared memory in bytes and arguments. Returns
// how many succeeded, and the status of the next one. In a loop a launch costs half of one between other work.
inline std::pair<usize, int> launch_all(const nanobind::list& tuples, Address stream) {
    std::vector<PackedLaunch> launches;
    launches.reserve(tuples.size());
    for (const nanobind::handle each : tuples) {
        const auto one = nanobind::cast<nanobind::tuple>(each);
        launches.emplace_back(nanobind::cast<const KernelCall&>(one[0]), one[1], one[2],
                              nanobind::cast<unsigned>(one[3]), one[4]);
    }
    const GilRelease release;
    for (usize launched = 0; launched < launches.size(); ++launched) {
        const int status = launches[launched].run(stream);
        if (status != 0) return {launched, status};
    }
    return {launches.size(), 0};
}

}  // namespace headrace
