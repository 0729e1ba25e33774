// Declares what the bindings of all stages share: the GIL, interrupts, buffers, arguments.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cpu/isa.hpp"
#include "core/cpu/memory.hpp"
#include "core/cpu/threads/interrupt.hpp"
#include "core/layouts/layout.hpp"

namespace headrace {

// Block the calling thread until the process ends.
[[noreturn]] void block_forever() noexcept;

// Run `call`, which waits for the GIL or runs Python code. When the interpreter finalizes, CPython before 3.14 ends a
// daemon thread there by pthread_exit, which unwinds its frames. C++ then calls std::terminate at the first noexcept
// function, and workers still use these frames. So the thread blocks here instead, as it does in CPython 3.14.
template <class Call>
auto call_python(const Call& call) {
    try {
        return call();
    } catch (const abi::__forced_unwind&) {
        block_forever();
    }
}

// Releases the GIL for the life of this object.
class GilRelease {
public:
    GilRelease() : state_(PyEval_SaveThread()) {}
    ~GilRelease() {
        call_python([this] { PyEval_RestoreThread(state_); });
    }
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

private:
    PyThreadState* state_;
};

// Holds the GIL for the life of this object, on any thread. Python code has to run through `call_python` as well;
// with_gil does both.
class GilAcquire {
public:
    GilAcquire();
    ~GilAcquire() {
        call_python([this] { PyGILState_Release(state_); });
    }
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;

private:
    PyGILState_STATE state_;
};

// Run `call`, which runs Python code, with the GIL.
template <class Call>
auto with_gil(const Call& call) {
    const GilAcquire acquire;
    return call_python(call);
}

// Return whether the interpreter has ended for the calling thread, which then must not take the GIL.
bool is_interpreter_gone() noexcept;

// Run the Python handlers of pending signals (Ctrl-C), and throw their exceptions.
void check_signals();

// Releases the GIL for a long call. Ctrl-C ends the call if it is `interruptible`; calls that modify their input are
// not.
class LongCall {
public:
    explicit LongCall(bool interruptible = true) {
        if (interruptible) interruptible_.emplace(check_signals);
    }

private:
    GilRelease release_;
    std::optional<Interruptible> interruptible_;
};

// Run `work` without the GIL, and return its result.
template <class Work>
auto released(const Work& work) {
    const GilRelease release;
    return work();
}

// A result's memory as a Python object. Arrow exports share the region and not this object. So their receiver may
// release it on any thread without the GIL, and after the interpreter has ended.
struct HostBuffer {
    std::shared_ptr<const Region> region;
};

nanobind::object make_buffer(Region&& region);

// None for a region without memory.
inline nanobind::object buffer_or_none(Region&& region) {
    return region.data() == nullptr ? nanobind::none() : make_buffer(std::move(region));
}

// Null for None.
inline const Region* region_or_null(nanobind::handle buffer) {
    return buffer.is_none() ? nullptr : nanobind::cast<const HostBuffer&>(buffer).region.get();
}

// Borrows a Python object's bytes, which must be contiguous, for the life of this object. Construct and destroy it with
// the GIL; it can be used without.
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

// Converts an argument of Python to a T that a function in C++ takes. The result may point into the argument.
//
// | T            given as
// | pointer      an address, or bytes, which it then points to; callers in Python check addresses and extents
// | string_view  str or bytes
// | Isa          its name
// | struct       a tuple of its members, in their order; its bytes; or None, which sets all members to zero
// | vector       a sequence
// | function     a callable, which is called with the GIL
template <class T>
struct Argument {
    static decltype(auto) of(nanobind::handle given) {
        if constexpr (std::is_pointer_v<T>) {
            if (PyBytes_Check(given.ptr())) return reinterpret_cast<T>(PyBytes_AsString(given.ptr()));
            return reinterpret_cast<T>(nanobind::cast<std::uintptr_t>(given));
        } else if constexpr (std::is_enum_v<T>) {
            return static_cast<T>(nanobind::cast<std::underlying_type_t<T>>(given));
        } else if constexpr (std::is_aggregate_v<T>) {
            return struct_of(given);
        } else if constexpr (nanobind::detail::is_base_caster_v<nanobind::detail::make_caster<T>>) {
            return nanobind::cast<T&>(given);  // an object of a bound class
        } else {
            return nanobind::cast<T>(given);
        }
    }

private:
    static T struct_of(nanobind::handle given) {
        T value{};
        if (given.is_none()) return value;
        if (PyBytes_Check(given.ptr())) {
            static_assert(std::is_trivially_copyable_v<T>);
            if (PyBytes_Size(given.ptr()) != sizeof(T)) {
                const std::string_view name = layout_detail::last_identifier(layout_detail::type_text<T>());
                throw std::invalid_argument("these are no fields of a " + std::string(name));
            }
            std::memcpy(&value, PyBytes_AsString(given.ptr()), sizeof(T));
            return value;
        }
        const auto fields = nanobind::cast<nanobind::tuple>(given);
        const auto members = layout_detail::members(value);
        if (fields.size() != std::tuple_size_v<decltype(members)>)
            throw std::invalid_argument("the struct of this tuple has another number of members");
        usize next = 0;
        const auto set = [&]<class Member>(Member& member) {
            if constexpr (std::is_array_v<Member>) {
                throw std::invalid_argument("a struct that has an array is given as bytes");
            } else {
                member = Argument<Member>::of(fields[next++]);
            }
        };
        std::apply([&](auto&... member) { (set(member), ...); }, members);
        return value;
    }
};
template <>
struct Argument<std::string_view> {
    static std::string_view of(nanobind::handle given) {
        if (!PyBytes_Check(given.ptr())) return nanobind::cast<const char*>(given);
        return {PyBytes_AsString(given.ptr()), static_cast<usize>(PyBytes_Size(given.ptr()))};
    }
};
template <>
struct Argument<std::string> {
    static std::string of(nanobind::handle given) { return std::string(Argument<std::string_view>::of(given)); }
};
template <>
struct Argument<Isa> {
    static Isa of(nanobind::handle given) { return choose_isa(Argument<std::string_view>::of(given)); }
};
template <class Item>
struct Argument<std::vector<Item>> {
    static std::vector<Item> of(nanobind::handle given) {
        std::vector<Item> items;
        for (const nanobind::handle item : given) items.push_back(Argument<Item>::of(item));
        return items;
    }
};
template <class Result, class... Parameters>
struct Argument<std::function<Result(Parameters...)>> {
    static std::function<Result(Parameters...)> of(nanobind::handle given) {
        return [given](Parameters... parameters) {
            return with_gil([&]() -> Result { return Argument<Result>::of(given(parameters...)); });
        };
    }
};

// Converts a tuple to a struct of these members. Only a struct with texts or lists needs it.
template <class T, class... Members>
struct TupleArgument {
    static T of(nanobind::handle given) {
        const auto fields = nanobind::cast<nanobind::tuple>(given);
        if (fields.size() != sizeof...(Members))
            throw std::invalid_argument("the struct of this tuple has another number of members");
        usize next = 0;
        return T{Argument<Members>::of(fields[next++])...};
    }
};

// Return a function that sets a member from the attribute of this name, a text of C++ or Python. An attribute that is
// None leaves the default.
inline auto reader_of(nanobind::handle given) {
    return [given](auto name, auto& member) {
        const nanobind::object value = given.attr(name);
        if (!value.is_none()) member = Argument<std::remove_reference_t<decltype(member)>>::of(value);
    };
}

// Return a struct whose members are attributes of a Python object.
template <class T>
T from_attributes(nanobind::handle given) {
    T value{};
    static const auto names = [&] {  // Python hashes them once; they are never released
        std::vector<nanobind::handle> interned;
        visit_members(value, [&](std::string_view name, auto&) {
            interned.push_back(PyUnicode_InternFromString(std::string(name).c_str()));
        });
        return interned;
    }();
    const auto read = reader_of(given);
    auto name = names.begin();
    visit_members(value, [&](std::string_view, auto& member) { read(*name++, member); });
    return value;
}

template <class>
using HandleOf = nanobind::handle;

// Return a function for Python that converts its arguments and calls `function` without the GIL. `Guard`: LongCall, or
// GilRelease if Ctrl-C does not end the call.
template <class Guard = LongCall, class Result, class... Parameters>
auto without_gil(Result (*function)(Parameters...)) {
    return [function](HandleOf<Parameters>... given) -> Result {
        std::tuple<decltype(Argument<std::remove_cvref_t<Parameters>>::of(given))...> arguments{
            Argument<std::remove_cvref_t<Parameters>>::of(given)...};
        const Guard guard;
        return std::apply(function, arguments);
    };
}

void bind_core(nanobind::module_& m);
void bind_gpu(nanobind::module_& m);
void bind_primitives(nanobind::module_& m);
void bind_sources(nanobind::module_& m);
void bind_structure(nanobind::module_& m);
void bind_columns(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_export(nanobind::module_& m);
void bind_arrange(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_hash_map(nanobind::module_& m);
void bind_sorted_map(nanobind::module_& m);
void bind_find(nanobind::module_& m);
void bind_match(nanobind::module_& m);
void bind_lines(nanobind::module_& m);
void bind_dictionary(nanobind::module_& m);
void bind_store_files(nanobind::module_& m);

}  // namespace headrace
