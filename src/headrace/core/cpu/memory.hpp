// Allocates host memory for results. A Region has an upper bound, and only the bytes used cost memory: a large region
// reserves address space and commits it as it grows. So growth never moves bytes that other threads are writing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "core/cpu/mapping_cache.hpp"

namespace headrace {

// Thrown when an allocation exceeds the budget. Unlike that of std::bad_alloc, its message has the requested size.
class MemoryLimitExceeded : public std::bad_alloc {
public:
    explicit MemoryLimitExceeded(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

// Limits the bytes of one call's results; 0 means no limit. It outlives the regions charged to it.
class Budget {
public:
    explicit Budget(std::size_t limit = 0) : limit_(limit) {}
    void charge(std::size_t bytes);
    bool is_limited() const { return limit_ != 0; }
    void refund(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    const std::size_t limit_;
    std::atomic<std::size_t> used_{0};
};

// Throw MemoryLimitExceeded before the system ends the process: if the control group of the process has not `bytes`
// more and a 16th of its limit. Cached memory is released first. Small allocations are not checked.
void require_group_memory(std::size_t bytes);

// Count bytes of text that become values, over all calls. After each 64th of the group's limit, check that it
// has a 16th left.
void poll_group_memory(std::size_t bytes);

class Region {
public:
    // Content of the memory before it is written.
    enum class Content { any, zero };

    // Bytes after the used end that may be read and written, so that vector code may overshoot.
    static constexpr std::size_t SLACK = 64;
    // Smaller regions come from the heap: two system calls and zeroed pages would cost more than the copy.
    static constexpr std::size_t MAPPED_FROM = std::size_t{1} << 20;

    Region() = default;
    // `use`: purpose of the region, for example the values of a table's third column; 0 for none. Regions of one use
    // need similar sizes, so a cached mapping of the same use has its pages already touched.
    Region(std::size_t bound, std::shared_ptr<Budget> budget, Content content = Content::any, std::uint32_t use = 0);
    ~Region();
    // Wrap memory of another owner, valid while `lender` is referenced. It has `size` bytes, and SLACK after them.
    Region(std::byte* data, std::size_t size, std::shared_ptr<const void> lender)
        : data_(data), used_(size), lender_(std::move(lender)) {}
    Region(Region&& other) noexcept { swap(other); }
    Region& operator=(Region&& other) noexcept {
        swap(other);
        return *this;
    }

    // Make bytes [0, used) readable and writable. Not thread-safe.
    void ensure(std::size_t used);

    // Request huge pages for the whole ones among the used bytes, which will be read in random order. The rest keeps
    // small pages, so that no memory is added.
    void request_huge_pages();

    // Set the size to `used` and free the pages after it, except an eighth, which the next user may need.
    void trim(std::size_t used);

    // Shrink a region that will not grow any more, if there may be many. A small one moves from its mapping to the
    // heap. Unused address space is released if there are too many mappings. `data` may change.
    void fit();
    // Return whether fit() copies.
    bool is_loose() const { return is_mapped() && used_ + SLACK < MAPPED_FROM; }

    std::byte* data() const { return data_; }
    std::size_t size() const { return used_; }
    const std::shared_ptr<Budget>& budget() const { return budget_; }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

private:
    void swap(Region& other) noexcept;
    void charge_to(std::size_t bytes);
    void take_heap(std::size_t size);
    void clear_to(std::size_t end);
    bool is_mapped() const { return mapping_.reserved != 0; }

    std::byte* data_ = nullptr;
    std::size_t used_ = 0;
    std::size_t heap_size_ = 0;
    Mapping mapping_;  // `reserved` is 0 if data_ is on the heap
    Content content_ = Content::any;
    std::size_t cleared_ = 0;  // Content::zero: bytes before this have been cleared or written
    std::size_t charged_ = 0;
    std::shared_ptr<Budget> budget_;
    std::shared_ptr<const void> lender_;
};

// Lends a fixed block of memory, whole or in parts, to regions. It is free again when the last of them is destroyed, on
// any thread.
class LentMemory {
public:
    LentMemory(std::byte* data, std::size_t size) : data_(data), size_(size) {}
    Region lend(std::size_t begin, std::size_t size) const;
    bool is_free() const;
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    std::byte* data_;
    std::size_t size_;
    std::shared_ptr<const char> users_ = std::make_shared<const char>();
};

}  // namespace headrace
