#include "core/cpu/block_cache.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/cpu/limits.hpp"
#include "core/cpu/mapping_cache.hpp"
#include "core/cpu/threads/detached.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration MAX_IDLE = std::chrono::milliseconds(500);
// malloc keeps smaller blocks itself. Larger ones are rare: those of long records. They are mapped, since malloc would
// keep up to 64 MB of them after they are freed.
constexpr std::size_t CACHED_FROM = std::size_t{16} << 10, CACHED_TO = std::size_t{8} << 20;
// Blocks of a class differ by less than a quarter of their sizes.
constexpr std::size_t STEPS = 4;

#if defined(__has_feature)
#define HR_CLANG_SANITIZES __has_feature(address_sanitizer)
#else
#define HR_CLANG_SANITIZES 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HR_CLANG_SANITIZES
constexpr bool CACHES = false;  // the sanitizer finds accesses to freed blocks, and beyond exact ones
#else
constexpr bool CACHES = true;
#endif

bool is_cached(std::size_t bytes) { return CACHES && bytes >= CACHED_FROM && bytes <= CACHED_TO; }
bool is_mapped(std::size_t bytes) { return CACHES && bytes > CACHED_TO; }

// Return null if the system refuses the memory.
void* allocate(std::size_t size) {
    if (!is_mapped(size)) return std::aligned_alloc(64, size);
    void* const block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
}

void deallocate(std::byte* block, std::size_t size) {
    if (is_mapped(size)) {
        munmap(block, size);
    } else {
        std::free(block);
    }
}

// Return the size of the class of `bytes`: a power of two, or 5, 6 or 7 fourths of one.
std::size_t class_size(std::size_t bytes) {
    if (!is_cached(bytes)) return (bytes + 63) / 64 * 64;
    const std::size_t step = std::bit_floor(bytes - 1) / STEPS;
    return (bytes + step - 1) / step * step;
}

std::size_t class_of(std::size_t size) {
    const auto octave = static_cast<std::size_t>(std::bit_width(size - 1) - std::bit_width(CACHED_FROM - 1));
    return octave * STEPS + (size - 1) / (std::bit_floor(size - 1) / STEPS) % STEPS;
}

class BlockCache {
public:
    std::byte* take(std::size_t size) {
        const std::lock_guard lock(mutex_);
        std::vector<std::byte*>& blocks = classes_[class_of(size)];
        if (blocks.empty()) return nullptr;
        std::byte* const block = blocks.back();
        blocks.pop_back();
        bytes_ -= size;
        return block;
    }

    // Return false if the block cannot be cached: there are enough, or the system refuses memory or a thread.
    bool give(std::byte* block, std::size_t size) noexcept {
        const std::lock_guard lock(mutex_);
        if (bytes_ + size > usable_memory() / 64 || !start_cleaner()) return false;
        try {
            classes_[class_of(size)].push_back(block);
        } catch (const std::bad_alloc&) {
            return false;
        }
        bytes_ += size;
        given_ = Clock::now();
        return true;
    }

    void clear() noexcept { free_all(std::unique_lock(mutex_)); }

    // Locked during fork(), so that the child's copy is not held by a thread that does not exist there.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }
    // A child has no cleaner. Its copies of cached blocks would stay in memory after the parent frees them.
    void unlock_in_child() {
        has_cleaner_ = false;
        free_all(std::unique_lock(mutex_, std::adopt_lock));
    }

private:
    using Classes = std::array<std::vector<std::byte*>, 48>;

    // Release the lock before the blocks are freed: the system calls of many megabytes would delay other threads.
    void free_all(std::unique_lock<std::mutex> lock) noexcept {
        const Classes freed = std::exchange(classes_, {});
        bytes_ = 0;
        lock.unlock();
        for (const std::vector<std::byte*>& blocks : freed) {
            for (std::byte* const block : blocks) std::free(block);
        }
    }

    bool start_cleaner() noexcept {
        return has_cleaner_ = has_cleaner_ || start_detached([this] { clean(); });
    }

    void clean() noexcept {
        std::unique_lock lock(mutex_);
        while (Clock::now() < given_ + MAX_IDLE) {
            const Clock::time_point end = given_ + MAX_IDLE;
            lock.unlock();
            std::this_thread::sleep_until(end);
            lock.lock();
        }
        has_cleaner_ = false;
        free_all(std::move(lock));
    }

    std::mutex mutex_;
    Classes classes_;
    std::size_t bytes_ = 0;
    Clock::time_point given_{};
    bool has_cleaner_ = false;
};

// Never destroyed, since buffers may outlive any static object.
BlockCache& cache = *new BlockCache;

[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { cache.lock(); }, [] { cache.unlock(); }, [] { cache.unlock_in_child(); });

}  // namespace

std::byte* take_block(std::size_t bytes) {
    const std::size_t size = class_size(bytes);
    if (is_cached(size)) {
        if (std::byte* const block = cache.take(size)) return block;
    }
    void* block = allocate(size);
    if (block == nullptr) {
        release_unused_memory();
        block = allocate(size);
    }
    if (block == nullptr) throw OutOfMemory(size);
    return static_cast<std::byte*>(block);
}

void give_block(std::byte* block, std::size_t bytes) noexcept {
    if (block == nullptr) return;
    const std::size_t size = class_size(bytes);
    if (!is_cached(size) || !cache.give(block, size)) deallocate(block, size);
}

void release_blocks() noexcept { cache.clear(); }

void WorkMemory::resize(std::size_t bytes, std::size_t retained) {
    if (bytes <= size_) return;
    if (retained == 0) *this = WorkMemory();  // two large blocks should not be in memory at once
    WorkMemory larger;
    larger.data_ = take_block(bytes);
    larger.size_ = bytes;
    if (retained != 0) std::memcpy(larger.data_, data_, retained);
    swap(larger);
}

}  // namespace headrace
