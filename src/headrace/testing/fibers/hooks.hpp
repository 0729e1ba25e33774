// Defines the compiler's instrumentation hooks, in place of its libraries. g++ calls them
// - before each access to memory (-fsanitize=thread; volatile ones apart by --param tsan-distinguish-volatile=1),
// - at undefined behaviour (-fsanitize=undefined): an index past a declared array, a misaligned vector, ...
// - at each basic block (-fsanitize-coverage=trace-pc), so that a loop without memory accesses is noticed as well.
#pragma once
#include "testing/fibers/accesses.hpp"

#define FIBERS_HERE __builtin_return_address(0)

extern "C" {
using headrace::fibers::Access;

#define FIBERS_ACCESS(size)                                                                                            \
    void __tsan_read##size(void* p) { headrace::fibers::touch(p, size, Access::READ, true, FIBERS_HERE); }             \
    void __tsan_write##size(void* p) { headrace::fibers::touch(p, size, Access::WRITE, true, FIBERS_HERE); }           \
    void __tsan_unaligned_read##size(void* p) { headrace::fibers::touch(p, size, Access::READ, true, FIBERS_HERE); }   \
    void __tsan_unaligned_write##size(void* p) { headrace::fibers::touch(p, size, Access::WRITE, true, FIBERS_HERE); } \
    void __tsan_volatile_read##size(void* p) { headrace::fibers::touch_volatile(p, size, false, FIBERS_HERE); }        \
    void __tsan_volatile_write##size(void* p) { headrace::fibers::touch_volatile(p, size, true, FIBERS_HERE); }        \
    void __tsan_unaligned_volatile_read##size(void* p) {                                                               \
        headrace::fibers::touch_volatile(p, size, false, FIBERS_HERE);                                                 \
    }                                                                                                                  \
    void __tsan_unaligned_volatile_write##size(void* p) {                                                              \
        headrace::fibers::touch_volatile(p, size, true, FIBERS_HERE);                                                  \
    }
FIBERS_ACCESS(1)
FIBERS_ACCESS(2)
FIBERS_ACCESS(4)
FIBERS_ACCESS(8)
FIBERS_ACCESS(16)
#undef FIBERS_ACCESS

void __tsan_read_range(void* p, unsigned long n) { headrace::fibers::touch(p, n, Access::READ, false, FIBERS_HERE); }
void __tsan_write_range(void* p, unsigned long n) { headrace::fibers::touch(p, n, Access::WRITE, false, FIBERS_HERE); }

// memcpy and the like, which compilers generate for loops that copy or fill, and which kernels call. The builder
// renames the calls.
void* fibers_memcpy(void* to, const void* from, unsigned long n) {
    headrace::fibers::touch(from, n, Access::READ, false, FIBERS_HERE);
    headrace::fibers::touch(to, n, Access::WRITE, false, FIBERS_HERE);
    return memcpy(to, from, n);
}
void* fibers_memmove(void* to, const void* from, unsigned long n) {
    headrace::fibers::touch(from, n, Access::READ, false, FIBERS_HERE);
    headrace::fibers::touch(to, n, Access::WRITE, false, FIBERS_HERE);
    return memmove(to, from, n);
}
void* fibers_memset(void* to, int byte, unsigned long n) {
    headrace::fibers::touch(to, n, Access::WRITE, false, FIBERS_HERE);
    return memset(to, byte, n);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}

void __sanitizer_cov_trace_pc() {
    using namespace headrace::fibers;
    // While a program is loaded, no thread runs and `stack` is null.
    if (static_cast<char*>(__builtin_frame_address(0)) < device.stack + STACK_LEFT) stop(FaultKind::STACK, FIBERS_HERE);
    ++device.alone;
#if defined(FIBERS_NO_ACCESS_HOOKS)
    if (device.alone % 64 == 0 && device.running) interleave(FIBERS_HERE);
#else
    if (device.alone % (1u << 20) == 0 && device.running) {
        if (device.alone >= 1u << 28) stop(FaultKind::ENDLESS, FIBERS_HERE);
        if (now() > device.deadline) stop(FaultKind::TIME, FIBERS_HERE);
    }
#endif
}

// Each handler gets a description that begins with the source position: file, line, column.
struct FibersPlace {
    const char* file;
    unsigned line, column;
};

void __ubsan_handle_type_mismatch_v1(FibersPlace*, unsigned long p) {
    using namespace headrace::fibers;
    device.finding.address = p;
    stop(FaultKind::UNDEFINED, FIBERS_HERE, "a misaligned access");
}
void __ubsan_handle_out_of_bounds(FibersPlace*, unsigned long index) {
    using namespace headrace::fibers;
    device.finding.offset = static_cast<long long>(index);
    char text[64] = "index ";
    long long rest = static_cast<long long>(index);
    char digits[24];
    int n = 0;
    unsigned long long size =
        rest < 0 ? 0ull - static_cast<unsigned long long>(rest) : static_cast<unsigned long long>(rest);
    do digits[n++] = static_cast<char>('0' + size % 10);
    while (size /= 10);
    if (rest < 0) digits[n++] = '-';
    char* to = text + 6;
    while (n) *to++ = digits[--n];
    strcpy(to, " is outside the array");
    stop(FaultKind::OUT_OF_BOUNDS, FIBERS_HERE, text);
}
#define FIBERS_UNDEFINED(name, text) \
    void __ubsan_handle_##name() { headrace::fibers::stop(headrace::fibers::FaultKind::UNDEFINED, FIBERS_HERE, text); }
FIBERS_UNDEFINED(shift_out_of_bounds, "a shift by more than the type's width, or by a negative count")
FIBERS_UNDEFINED(add_overflow, "a sum overflows its signed type")
FIBERS_UNDEFINED(sub_overflow, "a difference overflows its signed type")
FIBERS_UNDEFINED(mul_overflow, "a product overflows its signed type")
FIBERS_UNDEFINED(negate_overflow, "a negation overflows its signed type")
FIBERS_UNDEFINED(divrem_overflow, "a division by zero, or one that overflows")
FIBERS_UNDEFINED(load_invalid_value, "a value that its type does not have")
FIBERS_UNDEFINED(missing_return, "the end of a function that returns a value")
FIBERS_UNDEFINED(builtin_unreachable, "code that was declared unreachable")
FIBERS_UNDEFINED(invalid_builtin, "a builtin's argument is 0")
FIBERS_UNDEFINED(nonnull_arg, "a null pointer for a parameter that must not be null")
FIBERS_UNDEFINED(nonnull_return_v1, "a null pointer where one must not be returned")
FIBERS_UNDEFINED(vla_bound_not_positive, "an array with no elements")
#undef FIBERS_UNDEFINED
}
#undef FIBERS_HERE
