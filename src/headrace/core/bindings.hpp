// Declares what the bindings of all stages share: the GIL, interrupts, buffers.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string_view>

#include "core/cpu/interrupt.hpp"
#include "core/cpu/memory.hpp"

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

// A result's memory as a Python object. Arrow exports share the region and not this object. So their receiver may
// release it on any thread without the GIL, and after the interpreter has ended.
struct HostBuffer {
    std::shared_ptr<const Region> region;
};

nanobind::object make_buffer(Region&& region);

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
