// Finds the threads and memory that this process may use: those of the machine, limited by control groups (containers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

// A control group with a memory limit.
struct MemoryGroup {
    std::string folder;
    bool is_first_version = false;
    std::uint64_t limit = 0;
};

// Limits of the process's control group and its ancestors. Covers cgroup v2, and v1 if the controllers are mounted
// under their names.
struct GroupLimits {
    std::uint64_t cores = ~std::uint64_t{0};  // minimum of the CPU quotas; ~0: no quota
    std::vector<MemoryGroup> memory;
};

// `root`: prefix of /proc and /sys.
GroupLimits group_limits(const std::string& root);

// Cores of the affinity mask, limited by the quota.
unsigned hardware_threads(const GroupLimits& limits);
// Bytes of the machine's memory, limited by the groups.
std::size_t usable_memory(const GroupLimits& limits);
// Bytes that the groups have left: the limit, less what is used and cannot be reclaimed. ~0: no limit.
std::size_t free_group_memory(const GroupLimits& limits);

// The same with the limits at the start of the process.
unsigned hardware_threads();
std::size_t usable_memory();
std::size_t free_group_memory();

// Replace the limits of the process by those below `root`, for tests. Not thread-safe.
void use_limits_below(const std::string& root);

}  // namespace headrace
