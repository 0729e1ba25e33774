// Host memory of results. A Region is made for at most `bound` bytes of which only what is used costs memory: a large
// one reserves address space and commits it as it grows, so that growing never moves what other threads are writing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace headrace {

// Running out of a budget, apart from std::bad_alloc so that the message can say what was asked for.
class MemoryLimitExceeded : public std::bad_alloc {
public:
    explicit MemoryLimitExceeded(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

// The system refused memory or address space.
class OutOfMemory : public std::bad_alloc {
public:
    explicit OutOfMemory(std::size_t bytes);
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

// Bytes that the results of one call may take; 0 means no limit. Outlives the regions it is charged for.
class Budget {
public:
    explicit Budget(std::size_t limit = 0) : limit_(limit) {}
    void charge(std::size_t bytes);
    void refund(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    const std::size_t limit_;
    std::atomic<std::size_t> used_{0};
};

// Address space with memory in it that a region has given back. It waits for the next region: the kernel may take the
// pages if it needs them (MADV_FREE; but for a little that is kept as it is), and until then the next user saves their
// first touch, which costs more than parsing does.
struct Mapping {
    std::byte* data = nullptr;
    std::size_t reserved = 0;
    std::size_t committed = 0;
    std::size_t dirty = 0;  // bytes from here on are zero
    bool is_kept = false;   // while it waits: the kernel may not take its pages
    std::uint32_t use = 0;  // of the region that had it last
};

// Gives waiting memory back to the system.
void release_unused_memory();

class Region {
public:
    // What memory holds before it is written.
    enum class Content { any, zero };

    // Bytes past the used end that may be read and written, so that vector code may overshoot.
    static constexpr std::size_t SLACK = 64;
    // Below this a region comes from the heap: two system calls and a page's zeroing would cost more than the copy.
    static constexpr std::size_t MAPPED_FROM = std::size_t{1} << 20;

    Region() = default;
    // `use`: regions of one use, the values of a table's third column, say, need about as much of their bound each
    // time, so one finds memory that was touched as far as it goes; 0 is none in particular.
    Region(std::size_t bound, std::shared_ptr<Budget> budget, Content content = Content::any, std::uint32_t use = 0);
    ~Region();
    // Memory that somebody else gives and takes back: nobody does while `lender` is held. It has its size, and SLACK.
    Region(std::byte* data, std::size_t size, std::shared_ptr<const void> lender)
        : data_(data), used_(size), lender_(std::move(lender)) {}
    Region(Region&& other) noexcept { swap(other); }
    Region& operator=(Region&& other) noexcept {
        swap(other);
        return *this;
    }

    // Makes bytes [0, used) readable and writable. Not for two threads at once.
    void ensure(std::size_t used);

    // Gives back everything past `used`, which becomes the size; but for an eighth, since the next user may need it.
    void trim(std::size_t used);

    // For regions that grow no more and are many: moves what is small from a mapping to the heap, or to less of it, and
    // gives back address space where there are too many mappings. `data` may change.
    void fit();
    // Whether that copies.
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
    Mapping mapping_;  // reserved 0: data_ came from the heap
    Content content_ = Content::any;
    std::size_t cleared_ = 0;  // of content zero: bytes before this are as the region's user left them
    std::size_t charged_ = 0;
    std::shared_ptr<Budget> budget_;
    std::shared_ptr<const void> lender_;
};

// Memory of a fixed place that lends itself, whole or in parts, to regions, and is free again when the last of them is
// gone, on whatever thread.
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
