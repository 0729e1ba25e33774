// What native code calls of the driver, known by addresses, so that nothing needs CUDA to be built, or to be there.
#pragma once

#include "core/portable.hpp"

namespace headrace {

// In the order in which their addresses are told (core/gpu/driver_calls.py), with the types of the driver as wide; each
// answers a status.
struct CardCalls {
    // cuLaunchKernel
    int (*launch)(void* kernel, unsigned x, unsigned y, unsigned z, unsigned u, unsigned v, unsigned w, unsigned shared,
                  void* stream, void** arguments, void** extra);
    int (*copy_to_card)(u64 target, const void* from, usize n, void* stream);  // cuMemcpyHtoDAsync
    int (*copy_to_host)(void* target, u64 from, usize n, void* stream);        // cuMemcpyDtoHAsync
    int (*record)(void* event, void* stream);                                  // cuEventRecord
    int (*wait)(void* event);                                                  // cuEventSynchronize
    int (*take)(u64* made, usize n, void* pool, void* stream);                 // cuMemAllocFromPoolAsync
    int (*give_back)(u64 memory, void* stream);                                // cuMemFreeAsync
    int (*fill)(u64 target, unsigned char byte, usize n, void* stream);        // cuMemsetD8Async
    int (*current)(void** context);                                            // cuCtxGetCurrent
    int (*make_current)(void* context);                                        // cuCtxSetCurrent
};

}  // namespace headrace
