#include "core/cpu/limits.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>
#include <thread>

namespace headrace {
namespace {

constexpr std::uint64_t NONE = ~std::uint64_t{0};

// Return a limit; "max", a negative number and a missing file mean no limit.
std::uint64_t limit_of(const std::string& word) {
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos || word.size() > 19) return NONE;
    return std::stoull(word);
}

// Return the content of a small file; empty if it cannot be read. It does not use standard library streams. If this
// module used one while it is loaded, later imports of PyTorch or CuPy would crash if they bring another libstdc++.
std::string text_of(const std::string& path) {
    constexpr std::size_t LONGEST = std::size_t{64} << 10;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::string text(LONGEST, '\0');
    std::size_t size = 0;
    for (ssize_t found = 1; found > 0 && size < LONGEST; size += static_cast<std::size_t>(std::max<ssize_t>(found, 0)))
        found = read(file, text.data() + size, LONGEST - size);
    close(file);
    text.resize(size);
    return text;
}

std::string next_word(std::string_view& text) {
    constexpr std::string_view spaces = " \t\n";
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    const std::size_t end = std::min(text.find_first_of(spaces), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(end);
    return word;
}

std::uint64_t limit_in(const std::string& path) {
    const std::string text = text_of(path);
    std::string_view left = text;
    return limit_of(next_word(left));
}

// A fraction of a core counts as one.
std::uint64_t cores_of(std::uint64_t quota, std::uint64_t period) {
    if (quota == NONE || period == NONE || period == 0) return NONE;
    return std::max<std::uint64_t>(1, (quota + period - 1) / period);
}

std::uint64_t cores_of_group(const std::string& group, bool is_first_version) {
    if (is_first_version)
        return cores_of(limit_in(group + "/cpu.cfs_quota_us"), limit_in(group + "/cpu.cfs_period_us"));
    const std::string text = text_of(group + "/cpu.max");
    std::string_view left = text;
    const std::uint64_t quota = limit_of(next_word(left));
    return cores_of(quota, limit_of(next_word(left)));
}

// Above memory.high a group is not ended but stopped again and again.
std::uint64_t memory_of_group(const std::string& group, bool is_first_version) {
    if (is_first_version) return limit_in(group + "/memory.limit_in_bytes");
    return std::min(limit_in(group + "/memory.max"), limit_in(group + "/memory.high"));
}

// Sum the lines of memory.stat whose pages the system reclaims: caches of files, pages of MADV_FREE, and the kernel's
// own caches. In version 1 lines that begin with "total_" include the groups below.
std::uint64_t reclaimable_bytes(const MemoryGroup& group) {
    const std::string text = text_of(group.folder + "/memory.stat");
    const std::string prefix = group.is_first_version ? "total_" : "";
    std::uint64_t sum = 0;
    for (std::string_view left = text; !left.empty();) {
        const std::string name = next_word(left), value = next_word(left);
        for (const char* const counted : {"inactive_file", "active_file", "slab_reclaimable"}) {
            if (name == prefix + counted && limit_of(value) != NONE) sum += limit_of(value);
        }
    }
    return sum;
}

std::uint64_t free_bytes(const MemoryGroup& group) {
    const std::string usage = group.is_first_version ? "/memory.usage_in_bytes" : "/memory.current";
    const std::uint64_t used = limit_in(group.folder + usage);
    if (used == NONE) return NONE;
    const std::uint64_t bound = used - std::min(used, reclaimable_bytes(group));
    return group.limit - std::min(group.limit, bound);
}

// Call each(folder) for a group and its ancestors below a mount. In a container, the group's path may be that of the
// host, which does not exist there; then the mount itself is the container's group.
template <class Each>
void for_each_group(const std::string& mount, std::string path, const Each& each) {
    while (!path.empty()) {
        each(mount + path);
        path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
    each(mount);
}

std::atomic<std::uint64_t> known_machine_memory{0};  // no static local, for the reason given at process_limits

// Read once: the call costs more than a small allocation.
std::uint64_t machine_memory() {
    std::uint64_t bytes = known_machine_memory.load(std::memory_order_relaxed);
    if (bytes == 0) {
        bytes =
            static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
        known_machine_memory.store(bytes, std::memory_order_relaxed);
    }
    return bytes;
}

// Return whether a list such as "cpu,cpuacct" contains a word.
bool has_word(std::string_view list, std::string_view word) {
    while (true) {
        const std::size_t end = list.find(',');
        if (list.substr(0, end) == word) return true;
        if (end == std::string_view::npos) return false;
        list.remove_prefix(end + 1);
    }
}

}  // namespace

// Lines of /proc/self/cgroup: "4:cpu,cpuacct:/docker/3f" in version 1, "0::/user.slice" in version 2.
GroupLimits group_limits(const std::string& root) {
    GroupLimits limits;
    const std::string groups = text_of(root + "/proc/self/cgroup");
    for (std::size_t begin = 0; begin < groups.size();) {
        const std::string line = groups.substr(begin, groups.find('\n', begin) - begin);
        begin += line.size() + 1;
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string names = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        const bool is_first_version = !names.empty();
        const std::string mount = root + "/sys/fs/cgroup" + (is_first_version ? "/" + names : "");
        for_each_group(mount, path == "/" ? "" : path, [&](const std::string& group) {
            if (!is_first_version || has_word(names, "cpu"))
                limits.cores = std::min(limits.cores, cores_of_group(group, is_first_version));
            if (is_first_version && !has_word(names, "memory")) return;
            const std::uint64_t limit = memory_of_group(group, is_first_version);
            if (limit < machine_memory()) limits.memory.push_back({group, is_first_version, limit});
        });
    }
    return limits;
}

unsigned hardware_threads(const GroupLimits& limits) {
    cpu_set_t allowed;
    const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    const unsigned cores = is_known ? static_cast<unsigned>(CPU_COUNT(&allowed)) : std::thread::hardware_concurrency();
    return static_cast<unsigned>(std::min<std::uint64_t>(std::max(1u, cores), limits.cores));
}

std::size_t usable_memory(const GroupLimits& limits) {
    std::uint64_t usable = machine_memory();
    for (const MemoryGroup& group : limits.memory) usable = std::min(usable, group.limit);
    return usable;
}

std::size_t free_group_memory(const GroupLimits& limits) {
    std::uint64_t free = NONE;
    for (const MemoryGroup& group : limits.memory) free = std::min(free, free_bytes(group));
    return free;
}

namespace {

std::atomic<GroupLimits*> known_limits{nullptr};

// Each thread that finds no limits reads them, and the first to end publishes its own. A static local would lock the
// others out instead. A child that is forked meanwhile would inherit the lock without the thread that releases it.
GroupLimits& process_limits() {
    GroupLimits* known = known_limits.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto read = std::make_unique<GroupLimits>(group_limits(""));
    if (!known_limits.compare_exchange_strong(known, read.get(), std::memory_order_acq_rel)) return *known;
    return *read.release();
}

}  // namespace

unsigned hardware_threads() { return hardware_threads(process_limits()); }

std::size_t usable_memory() { return usable_memory(process_limits()); }

std::size_t free_group_memory() { return free_group_memory(process_limits()); }

void use_limits_below(const std::string& root) { process_limits() = group_limits(root); }

}  // namespace headrace
