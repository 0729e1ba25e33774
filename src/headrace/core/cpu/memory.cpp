#include "core/cpu/memory.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "core/cpu/limits.hpp"

namespace headrace {
namespace {

constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;
// Regions of at least this bound request huge pages, which make page faults several times cheaper, at little waste in
// the last page. A bound is about five times the bytes used: 29 MB for a numeric column of a batch of 64 MB with 18
// columns.
constexpr std::size_t HUGE_FROM = std::size_t{16} << 20;
constexpr std::size_t COMMIT_STEP = std::size_t{64} << 20;
// Linux allows 65,530 mappings a process. A region takes two: its memory, and the address space that it may grow into.
// With more regions than this, fit() releases the address space, and mappings are not cached.
constexpr std::size_t MANY_MAPPINGS = 8192;
std::atomic<std::size_t> mappings{0};

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

void unmap(const Mapping& mapping) {
    munmap(mapping.data, mapping.reserved);
    mappings.fetch_sub(1, std::memory_order_relaxed);
}

bool are_many() { return mappings.load(std::memory_order_relaxed) > MANY_MAPPINGS; }

// Cache of free mappings, the most recent last. It holds at most a quarter of the memory that the process may use.
class WaitingMappings {
public:
    // Take a mapping of at least `length` bytes; `reserved` is 0 if there is none. The most recent one of the same use
    // is preferred, because its pages are present as far as needed. The next choice is the smallest, the oldest of
    // equal ones.
    Mapping take(std::size_t length, std::uint32_t use) {
        const std::lock_guard lock(mutex_);
        std::size_t best = waiting_.size();
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            if (waiting_[i].reserved < length) continue;
            if (best == waiting_.size() || is_better(waiting_[i], waiting_[best], use)) best = i;
        }
        return best == waiting_.size() ? Mapping{} : remove(best);
    }

    // Cache the mapping, or unmap it if that fails; adding to the list may fail for lack of memory.
    void give(const Mapping& mapping) noexcept {
        if (mapping.dirty == 0 || are_many()) {
            unmap(mapping);
            return;
        }
        std::unique_lock lock(mutex_);
        if (!insert(waiting_.end(), mapping)) return;
        waiting_.back().is_kept = true;
        reserved_ += mapping.dirty;
        while (bytes_ > usable_memory() / 4) unmap(remove(0));
        while (reserved_ > usable_memory() / 64) free_oldest(lock);
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        while (!waiting_.empty()) unmap(remove(0));
    }

    // Locked during fork(), so that the child's copy is not held by a thread that does not exist there.
    std::mutex& mutex() { return mutex_; }

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
        const auto smallest =
            std::find_if(waiting_.begin(), waiting_.end(), [](const Mapping& one) { return one.is_kept; });
        Mapping mapping = remove(static_cast<std::size_t>(smallest - waiting_.begin()));
        lock.unlock();
        const bool is_free = madvise(mapping.data, mapping.committed, MADV_FREE) == 0;
        if (!is_free) unmap(mapping);
        lock.lock();
        if (!is_free) return;
        mapping.is_kept = false;
        insert(waiting_.begin(), mapping);
    }

    std::mutex mutex_;
    std::vector<Mapping> waiting_;
    std::size_t reserved_ = 0;  // bytes that the kernel may not reclaim
    std::size_t bytes_ = 0;
};

// The cache of the process. It is never destroyed, since buffers may outlive any static object. Limits are read on
// first use, so that loading this module reads no file.
WaitingMappings& waiting_mappings = *new WaitingMappings;

[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { waiting_mappings.mutex().lock(); }, [] { waiting_mappings.mutex().unlock(); },
                   [] { waiting_mappings.mutex().unlock(); });

void* reserve(std::size_t length) {
    return mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

// Cached mappings occupy address space. If it is limited (ulimit -v), they are released before an allocation fails.
Mapping map_anew(std::size_t length, bool huge) {
    void* mapped = reserve(length);
    if (mapped == MAP_FAILED) {
        release_unused_memory();
        mapped = reserve(length);
    }
    if (mapped == MAP_FAILED) throw OutOfMemory(length);
    mappings.fetch_add(1, std::memory_order_relaxed);
    if (huge) madvise(mapped, length, MADV_HUGEPAGE);
    return {static_cast<std::byte*>(mapped), length};
}

}  // namespace

void release_unused_memory() { waiting_mappings.clear(); }

OutOfMemory::OutOfMemory(std::size_t bytes)
    : message_("the system refused " + std::to_string(bytes) + " bytes of memory") {}

void Budget::charge(std::size_t bytes) {
    const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (limit_ == 0 || before + bytes <= limit_) return;
    refund(bytes);
    throw MemoryLimitExceeded("the result needs more than memory_limit = " + std::to_string(limit_) + " bytes (" +
                              std::to_string(before) + " in use, " + std::to_string(bytes) + " more asked for)");
}

Region::Region(std::size_t bound, std::shared_ptr<Budget> budget, Content content, std::uint32_t use)
    : content_(content), budget_(std::move(budget)) {
    const std::size_t size = bound + SLACK;
    if (size < MAPPED_FROM) {
        take_heap(size);
        return;
    }
    const std::size_t length = round_up(size, HUGE_PAGE);
    mapping_ = waiting_mappings.take(length, use);
    if (!is_mapped()) mapping_ = map_anew(length, bound >= HUGE_FROM);
    mapping_.use = use;
    data_ = mapping_.data;
}

void Region::take_heap(std::size_t size) {
    charge_to(size);
    heap_size_ = round_up(size, 64);
    data_ = static_cast<std::byte*>(std::aligned_alloc(64, heap_size_));
    if (data_ == nullptr) throw OutOfMemory(heap_size_);
}

Region::~Region() {
    if (is_mapped()) {
        mapping_.dirty = std::max(mapping_.dirty, std::min(used_ + SLACK, mapping_.committed));
        waiting_mappings.give(mapping_);
    } else if (!lender_) {
        std::free(data_);
    }
    if (budget_) budget_->refund(charged_);
}

void Region::swap(Region& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(used_, other.used_);
    std::swap(heap_size_, other.heap_size_);
    std::swap(mapping_, other.mapping_);
    std::swap(content_, other.content_);
    std::swap(cleared_, other.cleared_);
    std::swap(charged_, other.charged_);
    std::swap(budget_, other.budget_);
    std::swap(lender_, other.lender_);
}

Region LentMemory::lend(std::size_t begin, std::size_t size) const {
    if (begin > size_ || size > size_ - begin || size_ - begin - size < Region::SLACK) throw std::bad_alloc();
    return Region(data_ + begin, size, users_);
}

bool LentMemory::is_free() const {
    if (users_.use_count() != 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);  // the last user's reads have completed
    return true;
}

void Region::charge_to(std::size_t bytes) {
    if (bytes <= charged_) return;
    if (budget_) budget_->charge(bytes - charged_);
    charged_ = bytes;
}

// Clear an earlier user's bytes in [cleared_, end). Only used bytes are cleared, since the bound is much larger.
void Region::clear_to(std::size_t end) {
    const std::size_t dirty_end = std::min(end, is_mapped() ? mapping_.dirty : heap_size_);
    if (content_ == Content::zero && dirty_end > cleared_) std::memset(data_ + cleared_, 0, dirty_end - cleared_);
    cleared_ = std::max(cleared_, end);
}

void Region::ensure(std::size_t used) {
    used_ = std::max(used_, used);
    const std::size_t needed = used + SLACK;
    if (!is_mapped()) {
        if (needed > heap_size_) throw std::bad_alloc();  // the bound was too small: never write past it
        clear_to(needed);
        return;
    }
    if (needed > mapping_.reserved) throw std::bad_alloc();
    charge_to(needed);
    if (needed > mapping_.committed) {
        const std::size_t step = std::max(needed, mapping_.committed + COMMIT_STEP);
        const std::size_t target = std::min(mapping_.reserved, round_up(step, HUGE_PAGE));
        if (mprotect(data_ + mapping_.committed, target - mapping_.committed, PROT_READ | PROT_WRITE) != 0) {
            throw OutOfMemory(target - mapping_.committed);
        }
        mapping_.committed = target;
    }
    clear_to(needed);
}

void Region::trim(std::size_t used) {
    const std::size_t touched = std::max(mapping_.dirty, std::min(used_ + SLACK, mapping_.committed));
    used_ = used;
    if (!is_mapped()) return;
    // Free touched pages after the end; address space costs nothing.
    const std::size_t keep = round_up(used + used / 8 + SLACK, HUGE_PAGE);
    if (keep < touched) {
        madvise(data_ + keep, mapping_.committed - keep, MADV_DONTNEED);
        mapping_.dirty = std::min(mapping_.dirty, keep);
    }
    if (budget_ && charged_ > used + SLACK) {
        budget_->refund(charged_ - used - SLACK);
        charged_ = used + SLACK;
    }
}

void Region::fit() {
    const std::size_t needed = used_ + SLACK;
    if (needed < MAPPED_FROM) {
        if (data_ == nullptr || (!is_mapped() && heap_size_ <= round_up(needed, 64))) return;
        Region fitting;
        fitting.budget_ = budget_;
        fitting.take_heap(needed);
        fitting.used_ = used_;
        std::memcpy(fitting.data_, data_, used_);
        swap(fitting);
        return;
    }
    const std::size_t keep = round_up(needed, HUGE_PAGE);
    if (keep >= mapping_.reserved || !are_many()) return;
    munmap(data_ + keep, mapping_.reserved - keep);
    mapping_.reserved = keep;
    mapping_.committed = std::min(mapping_.committed, keep);
    mapping_.dirty = std::min(mapping_.dirty, keep);
}

}  // namespace headrace
