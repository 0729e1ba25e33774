// Calls a kernel with an array of pointers to its arguments, like cuLaunchKernel. After the program's text, the builder
// (build.py) appends `fibers_entry_NAME = entry_of<&NAME>()` for each extern "C" kernel.
#pragma once
#include "testing/fibers/atomics.cuh"

namespace headrace::fibers {

template <class T>
constexpr ParameterKind kind_of() {
    if constexpr (__is_class(T) || __is_union(T)) {
        return ParameterKind::BYTES;
    } else if constexpr (one_of<T, float, double>) {
        return ParameterKind::FLOATING;
    } else if constexpr (__is_enum(T)) {
        return ParameterKind::UNSIGNED;
    } else {
        return static_cast<T>(-1) < static_cast<T>(0) ? ParameterKind::SIGNED : ParameterKind::UNSIGNED;
    }
}

template <class T>
struct EntryParameter {
    static constexpr ParameterKind kind = kind_of<T>();
};
template <class T>
struct EntryParameter<T*> {
    static constexpr ParameterKind kind = ParameterKind::POINTER;
};

template <unsigned... I>
struct ParameterIndices {};

template <auto kernel, class Signature>
struct Caller;

template <auto kernel, class... T>
struct Caller<kernel, void (*)(T...)> {
    // One element more, so that neither array is empty.
    static constexpr ParameterKind kinds[] = {EntryParameter<T>::kind..., ParameterKind::BYTES};
    static constexpr u32 sizes[] = {static_cast<u32>(sizeof(T))..., 0};

    template <unsigned... I>
    [[gnu::always_inline]] static inline void call_with([[maybe_unused]] void** arguments, ParameterIndices<I...>) {
        kernel(*static_cast<T*>(arguments[I])...);
    }
    // The arguments are in the caller's memory, which kernels may not access, so this function is not instrumented.
    [[gnu::no_sanitize("thread", "address", "undefined"), gnu::no_sanitize_coverage]] static void call(
        void** arguments) {
        call_with(arguments, ParameterIndices<__integer_pack(sizeof...(T))...>());
    }
};

template <auto kernel>
constexpr Entry entry_of() {
    using Its = Caller<kernel, decltype(kernel)>;
    return {Its::call, sizeof(Its::sizes) / sizeof(u32) - 1, Its::kinds, Its::sizes};
}

}  // namespace headrace::fibers
