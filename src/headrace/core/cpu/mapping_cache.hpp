// Maps the memory of regions, and caches freed mappings for a short time. A new mapping has page faults at its first
// touch, which cost more than parsing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

namespace headrace {

// Thrown when the system refuses memory or address space.
class OutOfMemory : public std::bad_alloc {
public:
    explicit OutOfMemory(std::size_t bytes);
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

struct Mapping {
    std::byte* data = nullptr;
    std::size_t reserved = 0;
    std::size_t committed = 0;
    std::size_t dirty = 0;                          // bytes after the first `dirty` are zero
    std::uint32_t use = 0;                          // `use` of its last region
    bool is_kept = false;                           // while cached: the kernel may not reclaim its pages
    std::chrono::steady_clock::time_point freed{};  // while cached
};

// Return a cached mapping of at least `bytes`, preferably of the same use, or a new one, with huge pages if `is_huge`.
Mapping take_mapping(std::size_t bytes, std::uint32_t use, bool is_huge);

// Cache a mapping that is not used any more. If no region takes it within half a second, a thread unmaps it. Until then
// the kernel may reclaim its pages (MADV_FREE), except those of the most recent mappings.
void give_mapping(const Mapping& mapping) noexcept;

// Return whether the process is near the system's limit of mappings. Then none is cached, and regions release unused
// address space.
bool has_many_mappings();

// Return cached memory to the system.
void release_unused_memory();

}  // namespace headrace
