#include "core/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace headrace {
namespace {

constexpr std::size_t PAGE = 4096;
constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;
// Below this a region comes from the heap: two system calls and a page's zeroing would cost more than the copy.
constexpr std::size_t MAPPED_FROM = std::size_t{1} << 20;
// From here on huge pages are asked for: they make first touches several times cheaper, and the last page's waste is small.
constexpr std::size_t HUGE_FROM = std::size_t{32} << 20;
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

Region::Region(std::size_t bound, std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {
    const std::size_t size = bound + SLACK;
    if (size < MAPPED_FROM) {
        charge_to(size);
        data_ = static_cast<std::byte*>(std::aligned_alloc(64, round_up(size, 64)));
        if (data_ == nullptr) throw std::bad_alloc();
        std::memset(data_, 0, size);
        committed_ = size;
        return;
    }
    const std::size_t length = round_up(size, HUGE_PAGE);
    void* mapped = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(mapped);
    reserved_ = length;
    if (bound >= HUGE_FROM) madvise(data_, length, MADV_HUGEPAGE);
}

Region::~Region() {
    if (reserved_ != 0) {
        munmap(data_, reserved_);
    } else {
        std::free(data_);
    }
    if (budget_) budget_->refund(charged_);
}

void Region::swap(Region& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(used_, other.used_);
    std::swap(committed_, other.committed_);
    std::swap(reserved_, other.reserved_);
    std::swap(charged_, other.charged_);
    std::swap(budget_, other.budget_);
}

void Region::charge_to(std::size_t bytes) {
    if (bytes <= charged_) return;
    if (budget_) budget_->charge(bytes - charged_);
    charged_ = bytes;
}

void Region::ensure(std::size_t used) {
    used_ = std::max(used_, used);
    const std::size_t needed = used + SLACK;
    if (needed <= committed_) {
        if (reserved_ != 0) charge_to(needed);
        return;
    }
    if (needed > reserved_) throw std::bad_alloc();  // the bound was wrong: never write past it
    charge_to(needed);
    const std::size_t target = std::min(reserved_, round_up(std::max(needed, committed_ + COMMIT_STEP), HUGE_PAGE));
    if (mprotect(data_ + committed_, target - committed_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    committed_ = target;
}

void Region::trim(std::size_t used) {
    used_ = used;
    if (reserved_ == 0) return;
    const std::size_t keep = std::max(round_up(used + SLACK, PAGE), PAGE);
    if (keep >= reserved_) return;
    munmap(data_ + keep, reserved_ - keep);
    reserved_ = keep;
    committed_ = std::min(committed_, keep);
    if (budget_ && charged_ > keep) {
        budget_->refund(charged_ - keep);
        charged_ = keep;
    }
}

}  // namespace headrace
