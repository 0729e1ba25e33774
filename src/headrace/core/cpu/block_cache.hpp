// Caches freed blocks of the heap for a short time. malloc returns a load's memory to the system after the load. The
// page faults of the next one then take longer than the parsing of a text of 50 KB to 1 MB.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace headrace {

// Return a block of at least `bytes` at a multiple of 64, with any content. Throws OutOfMemory.
std::byte* take_block(std::size_t bytes);

// Give a block back that was taken with the same `bytes`; null is ignored. It is freed half a second after the last one
// was given back, at the latest.
void give_block(std::byte* block, std::size_t bytes) noexcept;

// Free the cached blocks.
void release_blocks() noexcept;

// Memory for work. It is not cleared.
class WorkMemory {
public:
    WorkMemory() = default;
    ~WorkMemory() { give_block(data_, size_); }
    WorkMemory(WorkMemory&& other) noexcept { swap(other); }
    WorkMemory& operator=(WorkMemory&& other) noexcept {
        swap(other);
        return *this;
    }

    // Make `bytes` usable, of which the first `retained` keep their content.
    void resize(std::size_t bytes, std::size_t retained = 0);

    std::size_t size() const { return size_; }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

private:
    void swap(WorkMemory& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

// Allocates the items of a standard container as blocks.
template <class T>
struct BlockAllocator {
    using value_type = T;

    BlockAllocator() = default;
    template <class U>
    BlockAllocator(const BlockAllocator<U>&) {}

    T* allocate(std::size_t count) { return reinterpret_cast<T*>(take_block(count * sizeof(T))); }
    void deallocate(T* items, std::size_t count) noexcept {
        give_block(reinterpret_cast<std::byte*>(items), count * sizeof(T));
    }
    bool operator==(const BlockAllocator&) const = default;
};

// A vector that takes and gives back cached blocks: for many items of a load.
template <class T>
using BlockVector = std::vector<T, BlockAllocator<T>>;

}  // namespace headrace
