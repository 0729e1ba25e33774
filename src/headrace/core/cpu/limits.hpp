// Finds the threads and memory that this process may use: those of the machine, limited by control groups (containers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace {

// Cores (from the CPU quota) and bytes: the minimum over the process's control group and its ancestors. Covers cgroup
// v2, and v1 if the controllers are mounted under their names. ~0 means no limit.
struct GroupLimits {
    std::uint64_t cores = ~std::uint64_t{0};
    std::uint64_t memory = ~std::uint64_t{0};
};

// `root`: prefix of /proc and /sys.
GroupLimits group_limits(const std::string& root);

// Cores of the affinity mask, limited by the quota.
unsigned hardware_threads(const GroupLimits& limits);
std::size_t usable_memory(const GroupLimits& limits);

// The same with the limits at the start of the process.
unsigned hardware_threads();
std::size_t usable_memory();

}  // namespace headrace
