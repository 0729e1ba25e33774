// Threads and memory that this process may use: what the machine has, less what a container's control groups take away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace {

// Cores, from the CPU quota, and bytes: the least of the process's control group and its ancestors (cgroup v2, and v1
// where the controllers are mounted by their names). ~0 is no limit.
struct GroupLimits {
    std::uint64_t cores = ~std::uint64_t{0};
    std::uint64_t memory = ~std::uint64_t{0};
};

// `root`: what stands in front of /proc and /sys.
GroupLimits group_limits(const std::string& root);

// Cores of the affinity mask, at most as many as the quota has.
unsigned hardware_threads(const GroupLimits& limits);
std::size_t usable_memory(const GroupLimits& limits);

// With the limits as they were when the process began.
unsigned hardware_threads();
std::size_t usable_memory();

}  // namespace headrace
