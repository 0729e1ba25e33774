// Declares the driver functions that native code calls as a table of addresses, so that neither the build nor the
// import needs CUDA.
#pragma once

#include <array>

#include "core/cpu/portable.hpp"

namespace headrace {

// The driver's structures for a launch with attributes (CUlaunchConfig, CUlaunchAttribute).
struct LaunchAttribute {
    int id;
    int unused;
    int value;
    char rest[60];
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfig {
    unsigned x, y, z, u, v, w, shared;
    void* stream;
    LaunchAttribute* attributes;
    unsigned count;
};

// Driver functions, in the order in which Python passes their addresses (gpu/device/driver_calls.py). Parameters have
// the sizes of the driver's types. Each function returns a status.
struct CardCalls {
    // cuLaunchKernel
    int (*launch)(void* kernel, unsigned x, unsigned y, unsigned z, unsigned u, unsigned v, unsigned w, unsigned shared,
                  void* stream, void** arguments, void** extra);
    int (*copy_to_card)(u64 target, const void* from, usize n, void* stream);  // cuMemcpyHtoDAsync
    int (*copy_to_host)(void* target, u64 from, usize n, void* stream);        // cuMemcpyDtoHAsync
    int (*record)(void* event, void* stream);                                  // cuEventRecord
    int (*wait)(void* event);                                                  // cuEventSynchronize
    int (*take)(u64* result, usize n, void* pool, void* stream);               // cuMemAllocFromPoolAsync
    int (*give_back)(u64 memory, void* stream);                                // cuMemFreeAsync
    int (*fill)(u64 target, unsigned char byte, usize n, void* stream);        // cuMemsetD8Async
    int (*current)(void** context);                                            // cuCtxGetCurrent
    int (*make_current)(void* context);                                        // cuCtxSetCurrent
    // cuLaunchKernelEx
    int (*launch_with)(const LaunchConfig* config, void* kernel, void** arguments, void** extra);
    int (*query)(void* event);                          // cuEventQuery
    int (*is_capturing)(void* stream, int* capturing);  // cuStreamIsCapturing
    int (*stream_id)(void* stream, u64* id);            // cuStreamGetId
};

// Order of a launch relative to others on the device. The values are those of `LaunchMode` in gpu/kernels/kernel.py.
enum class LaunchMode : int {
    ordered = 0,      // begins when the preceding launch of its stream has ended
    early = 1,        // may begin before that; the kernel itself waits (gpu/block/dependent_launch.cuh)
    cooperative = 2,  // all blocks become resident together, so they may wait for each other
};

struct CardKernel {
    void* handle = nullptr;
    LaunchMode mode = LaunchMode::ordered;
};

using Extent = std::array<unsigned, 3>;

// Number of blocks, threads per block, and bytes of shared memory.
struct LaunchShape {
    Extent grid, block;
    unsigned shared;
};

// Launches a kernel. Returns the driver's status.
inline int launch_on_card(const CardCalls& calls, const CardKernel& kernel, const LaunchShape& shape, void* stream,
                          void** arguments) {
    const auto [x, y, z] = shape.grid;
    const auto [u, v, w] = shape.block;
    if (kernel.mode == LaunchMode::ordered)
        return calls.launch(kernel.handle, x, y, z, u, v, w, shape.shared, stream, arguments, nullptr);
    constexpr int cooperative = 2, programmatic_stream_serialization = 6;  // CUlaunchAttributeID
    const bool is_early = kernel.mode == LaunchMode::early;
    LaunchAttribute attribute = {is_early ? programmatic_stream_serialization : cooperative, 0, 1, {}};
    const LaunchConfig config = {x, y, z, u, v, w, shape.shared, stream, &attribute, 1};
    return calls.launch_with(&config, kernel.handle, arguments, nullptr);
}

}  // namespace headrace
