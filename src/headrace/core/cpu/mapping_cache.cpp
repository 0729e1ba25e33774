#include "core/cpu/mapping_cache.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/cpu/block_cache.hpp"
#include "core/cpu/limits.hpp"
#include "core/cpu/threads/detached.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration MAX_IDLE = std::chrono::milliseconds(500);
// Linux allows 65,530 mappings a process. A region takes two: its memory, and the address space that it may grow into.
// With more regions than this, fit() releases the address space, and mappings are not cached.
constexpr std::size_t MANY_MAPPINGS = 8192;
std::atomic<std::size_t> mappings{0};

void unmap(const Mapping& mapping) {
    munmap(mapping.data, mapping.reserved);
    mappings.fetch_sub(1, std::memory_order_relaxed);
}

// Cache of free mappings, the most recent last. It holds at most a quarter of the memory that the process may use.
class MappingCache {
public:
    // Take a mapping of at least `bytes`; `reserved` is 0 if there is none. The most recent one of the same use is
    // preferred, because its pages are present as far as needed. The next choice is the smallest, the oldest of equal
    // ones.
    Mapping take(std::size_t bytes, std::uint32_t use) {
        const std::lock_guard lock(mutex_);
        std::size_t best = waiting_.size();
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            if (waiting_[i].reserved < bytes) continue;
            if (best == waiting_.size() || is_better(waiting_[i], waiting_[best], use)) best = i;
        }
        return best == waiting_.size() ? Mapping{} : remove(best);
    }

    // Cache the mapping, or unmap it if that fails: the list may have no memory, and the system may refuse the thread.
    void give(Mapping mapping) noexcept {
        if (mapping.dirty == 0 || has_many_mappings()) {
            unmap(mapping);
            return;
        }
        std::unique_lock lock(mutex_);
        if (!start_cleaner()) {
            unmap(mapping);
            return;
        }
        mapping.freed = Clock::now();
        mapping.is_kept = true;
        if (!insert(waiting_.end(), mapping)) return;
        reserved_ += mapping.dirty;
        while (bytes_ > usable_memory() / 4) unmap(remove(0));
        while (reserved_ > usable_memory() / 64) free_oldest(lock);
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        while (!waiting_.empty()) unmap(remove(0));
    }

    // Locked during fork(), so that the child's copy is not held by a thread that does not exist there.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    // A child has no cleaner. Its copies of cached pages would stay in memory after the parent unmaps them.
    void unlock_in_child() {
        has_cleaner_ = false;
        mutex_.unlock();
        clear();
    }

private:
    bool insert(std::vector<Mapping>::const_iterator place, const Mapping& mapping) noexcept {
        try {
            waiting_.insert(place, mapping);
        } catch (const std::bad_alloc&) {
            unmap(mapping);
            return false;
        }
        bytes_ += mapping.dirty;
        return true;
    }

    Mapping remove(std::size_t i) {
        const Mapping mapping = waiting_[i];
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        bytes_ -= mapping.dirty;
        if (mapping.is_kept) reserved_ -= mapping.dirty;
        return mapping;
    }

    static bool is_better(const Mapping& one, const Mapping& best, std::uint32_t use) {
        const bool has_use = use != 0 && one.use == use, best_has = use != 0 && best.use == use;
        return has_use != best_has ? has_use : has_use || one.reserved < best.reserved;
    }

    // Let the kernel reclaim the pages of the oldest mapping. MADV_FREE costs as much as it saves if the mapping is
    // reused immediately, as in a stream of batches. So it is not applied to the most recent mappings.
    void free_oldest(std::unique_lock<std::mutex>& lock) noexcept {
        const auto oldest =
            std::find_if(waiting_.begin(), waiting_.end(), [](const Mapping& one) { return one.is_kept; });
        Mapping mapping = remove(static_cast<std::size_t>(oldest - waiting_.begin()));
        lock.unlock();
        const bool is_free = madvise(mapping.data, mapping.committed, MADV_FREE) == 0;
        if (!is_free) unmap(mapping);
        lock.lock();
        if (!is_free) return;
        mapping.is_kept = false;
        insert(waiting_.begin(), mapping);
    }

    // Start the thread that unmaps what is not reused. It ends when the cache is empty.
    bool start_cleaner() noexcept {
        return has_cleaner_ = has_cleaner_ || start_detached([this] { clean(); });
    }

    void clean() {
        std::unique_lock lock(mutex_);
        while (!waiting_.empty()) {
            const auto is_earlier = [](const Mapping& one, const Mapping& other) { return one.freed < other.freed; };
            const auto oldest = std::min_element(waiting_.begin(), waiting_.end(), is_earlier);
            const Clock::time_point end = oldest->freed + MAX_IDLE;
            if (end <= Clock::now()) {
                const Mapping mapping = remove(static_cast<std::size_t>(oldest - waiting_.begin()));
                lock.unlock();
                unmap(mapping);
            } else {
                lock.unlock();
                std::this_thread::sleep_until(end);
            }
            lock.lock();
        }
        has_cleaner_ = false;
    }

    std::mutex mutex_;
    std::vector<Mapping> waiting_;
    std::size_t reserved_ = 0;  // bytes that the kernel may not reclaim
    std::size_t bytes_ = 0;
    bool has_cleaner_ = false;
};

// The cache of the process. It is never destroyed, since buffers may outlive any static object. Limits are read on
// first use, so that loading this module reads no file.
MappingCache& cache = *new MappingCache;

[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { cache.lock(); }, [] { cache.unlock(); }, [] { cache.unlock_in_child(); });

void* reserve(std::size_t bytes) {
    return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

// Cached mappings occupy address space. If it is limited (ulimit -v), they are released before an allocation fails.
Mapping map_anew(std::size_t bytes, bool is_huge) {
    void* mapped = reserve(bytes);
    if (mapped == MAP_FAILED) {
        release_unused_memory();
        mapped = reserve(bytes);
    }
    if (mapped == MAP_FAILED) throw OutOfMemory(bytes);
    mappings.fetch_add(1, std::memory_order_relaxed);
    if (is_huge) madvise(mapped, bytes, MADV_HUGEPAGE);
    return {static_cast<std::byte*>(mapped), bytes};
}

}  // namespace

OutOfMemory::OutOfMemory(std::size_t bytes)
    : message_("the system refused " + std::to_string(bytes) + " bytes of memory") {}

Mapping take_mapping(std::size_t bytes, std::uint32_t use, bool is_huge) {
    Mapping mapping = cache.take(bytes, use);
    if (mapping.reserved == 0) mapping = map_anew(bytes, is_huge);
    mapping.use = use;
    return mapping;
}

void give_mapping(const Mapping& mapping) noexcept { cache.give(mapping); }

bool has_many_mappings() { return mappings.load(std::memory_order_relaxed) > MANY_MAPPINGS; }

void release_unused_memory() {
    cache.clear();
    release_blocks();
}

}  // namespace headrace
