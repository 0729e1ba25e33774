// Replays a batch's kernels as a captured graph with updated kernel parameters, and measures the host's time and the
// time until the GPU is done. The driver is a table of addresses, so the build needs no CUDA.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using Handle = void*;

// CUDA_KERNEL_NODE_PARAMS, version 2.
struct NodeParams {
    Handle function;
    unsigned grid[3], block[3], shared;
    void** arguments;
    void** extra;
    Handle kernel, context;
};

// The driver functions, in the order of bench/read/small_batches.py.
struct Calls {
    int (*nodes)(Handle graph, Handle* nodes, std::size_t* n);
    int (*type)(Handle node, int* type);
    int (*params)(Handle node, NodeParams* params);
    int (*set)(Handle exec, Handle node, const NodeParams* params);
    int (*launch)(Handle exec, Handle stream);
    int (*wait)(Handle stream);
};

constexpr int KERNEL_NODE = 0;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

extern "C" {

// Measures microseconds, as medians of `runs` runs: of the host, and until the GPU is done. `updated`: parameters are
// set before each replay.
int replay(const Calls* calls, Handle graph, Handle exec, Handle stream, int updated, unsigned runs, double* told) {
    std::size_t n = 0;
    if (const int status = calls->nodes(graph, nullptr, &n)) return status;
    std::vector<Handle> nodes(n), kernels;
    if (const int status = calls->nodes(graph, nodes.data(), &n)) return status;
    std::vector<NodeParams> params;
    for (Handle node : nodes) {
        int type = 0;
        if (const int status = calls->type(node, &type)) return status;
        if (type != KERNEL_NODE) continue;
        kernels.push_back(node);
        if (const int status = calls->params(node, &params.emplace_back())) return status;
    }
    std::vector<double> host, all;
    for (unsigned run = 0; run < runs; run++) {
        const double begun = now();
        for (std::size_t i = 0; updated != 0 && i < kernels.size(); i++) {
            if (const int status = calls->set(exec, kernels[i], &params[i])) return status;
        }
        if (const int status = calls->launch(exec, stream)) return status;
        const double launched = now();
        if (const int status = calls->wait(stream)) return status;
        host.push_back((launched - begun) * 1e6);
        all.push_back((now() - begun) * 1e6);
    }
    std::sort(host.begin(), host.end());
    std::sort(all.begin(), all.end());
    told[0] = host[runs / 2];
    told[1] = all[runs / 2];
    told[2] = static_cast<double>(kernels.size());
    return 0;
}
}
