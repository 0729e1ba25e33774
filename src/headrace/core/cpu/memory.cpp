#include "core/cpu/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/cpu/block_cache.hpp"
#include "core/cpu/limits.hpp"

namespace headrace {
namespace {

constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;
// Regions of at least this bound request huge pages, which make page faults several times cheaper, at little waste in
// the last page. A bound is about five times the bytes used: 29 MB for a numeric column of a batch of 64 MB with 18
// columns.
constexpr std::size_t HUGE_FROM = std::size_t{16} << 20;
constexpr std::size_t COMMIT_STEP = std::size_t{64} << 20;

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

void Budget::charge(std::size_t bytes) {
    const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (limit_ == 0 || before + bytes <= limit_) return;
    refund(bytes);
    throw MemoryLimitExceeded("the result needs more than memory_limit = " + std::to_string(limit_) + " bytes (" +
                              std::to_string(before) + " in use, " + std::to_string(bytes) + " more asked for)");
}

namespace {

void check_group_memory(std::size_t bytes) {
    std::size_t free = free_group_memory();
    const std::size_t limit = usable_memory(), spare = limit / 16;
    const auto is_enough = [&] { return free >= spare && free - spare >= bytes; };
    if (is_enough()) return;
    release_unused_memory();
    free = free_group_memory();
    if (is_enough()) return;
    throw MemoryLimitExceeded("the container (control group) of this process has " + std::to_string(free) + " of " +
                              std::to_string(limit) + " bytes of memory left, less than a 16th" +
                              (bytes == 0 ? "" : " and the " + std::to_string(bytes) + " asked for"));
}

// Smaller allocations and amounts of work are not checked.
std::size_t large_for_group() { return usable_memory() / 64; }

}  // namespace

void require_group_memory(std::size_t bytes) {
    if (bytes >= large_for_group()) check_group_memory(bytes);
}

void poll_group_memory(std::size_t bytes) {
    static std::atomic<std::size_t> bytes_since_check{0};
    if (bytes_since_check.fetch_add(bytes, std::memory_order_relaxed) + bytes < large_for_group()) return;
    check_group_memory(0);
    bytes_since_check.store(0, std::memory_order_relaxed);
}

Region::Region(std::size_t bound, std::shared_ptr<Budget> budget, Content content, std::uint32_t use)
    : content_(content), budget_(std::move(budget)) {
    const std::size_t size = bound + SLACK;
    if (size < MAPPED_FROM) {
        take_heap(size);
        return;
    }
    mapping_ = take_mapping(round_up(size, HUGE_PAGE), use, bound >= HUGE_FROM);
    data_ = mapping_.data;
}

void Region::take_heap(std::size_t size) {
    charge_to(size);
    heap_size_ = round_up(size, 64);
    data_ = take_block(heap_size_);
}

Region::~Region() {
    if (is_mapped()) {
        mapping_.dirty = std::max(mapping_.dirty, std::min(used_ + SLACK, mapping_.committed));
        give_mapping(mapping_);
    } else if (!lender_) {
        give_block(data_, heap_size_);
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

void Region::request_huge_pages() {
    const std::size_t whole = used_ / HUGE_PAGE * HUGE_PAGE;
    if (is_mapped() && whole != 0) madvise(data_, whole, MADV_HUGEPAGE);
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
    if (keep >= mapping_.reserved || !has_many_mappings()) return;
    munmap(data_ + keep, mapping_.reserved - keep);
    mapping_.reserved = keep;
    mapping_.committed = std::min(mapping_.committed, keep);
    mapping_.dirty = std::min(mapping_.dirty, keep);
}

}  // namespace headrace
