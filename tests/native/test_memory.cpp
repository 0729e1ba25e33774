// Tests regions made and freed on several threads, whose memory waits for the next one. Regions that are freed while
// the heap is exhausted give their memory back to the system.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <future>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/cpu/block_cache.hpp"
#include "core/cpu/memory.hpp"

using namespace headrace;

namespace {

thread_local bool heap_is_empty = false;

// If set, the next block that this thread frees waits until another thread has used the cache of blocks.
thread_local bool is_watched = false;
bool was_blocked = false;
std::future<void> other;

constexpr std::size_t LARGE = 3 * Region::MAPPED_FROM;

bool all_are(const Region& region, unsigned char byte) {
    const auto* const bytes = region.as<unsigned char>();
    return bytes[0] == byte && std::memcmp(bytes, bytes + 1, LARGE - 1) == 0;
}

// Each thread writes its own byte everywhere and finds it there; memory of content zero comes cleared.
void test_threads() {
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (unsigned char thread = 1; thread <= 4; ++thread) {
        threads.emplace_back([thread, &failed] {
            for (int round = 0; round < 100; ++round) {
                const bool clear = round % 2 == 0;
                Region region(LARGE, nullptr, clear ? Region::Content::zero : Region::Content::any, 1);
                region.ensure(LARGE);
                if (clear && !all_are(region, 0)) ++failed;
                std::memset(region.data(), thread, LARGE);
                if (!all_are(region, thread)) ++failed;
                if (round % 50 == 0) release_unused_memory();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(failed.load(), 0);
}

void test_regions_go_without_heap() {
    release_unused_memory();
    std::vector<Region> regions;
    for (int i = 0; i < 300; ++i) {  // more than the list of waiting memory has room for
        regions.emplace_back(LARGE, nullptr);
        regions.back().ensure(1);
    }
    heap_is_empty = true;
    regions.clear();
    heap_is_empty = false;
    Region next(LARGE, nullptr);
    next.ensure(LARGE);
    std::memset(next.data(), 7, LARGE);
    CHECK_EQ(next.as<unsigned char>()[LARGE - 1], 7);
}

// Threads take and give back blocks of all classes, and no two have the same one.
void test_blocks() {
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (unsigned char thread = 1; thread <= 4; ++thread) {
        threads.emplace_back([thread, &failed] {
            for (std::size_t round = 0; round < 400; ++round) {
                const std::size_t size = (std::size_t{1} << round % 25) + round % 7 * 1000 + thread;
                std::byte* const block = take_block(size);
                if (reinterpret_cast<std::uintptr_t>(block) % 64 != 0) ++failed;
                std::memset(block, thread, size);
                std::this_thread::yield();
                const auto* const bytes = reinterpret_cast<const unsigned char*>(block);
                if (bytes[0] != thread || std::memcmp(bytes, bytes + 1, size - 1) != 0) ++failed;
                give_block(block, size);
                if (round % 100 == 0) release_unused_memory();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(failed.load(), 0);
}

// A block is of use for all sizes of its class, the largest and the smallest ones too.
void test_sizes_of_blocks() {
    for (std::size_t size = (16 << 10) - 70; size < (9 << 20); size += size / 40 + 1) {
        for (const std::size_t bytes : {size, size + size / 50}) {
            std::byte* const block = take_block(bytes);
            std::memset(block, 1, bytes);
            give_block(block, bytes);
        }
    }
    give_block(nullptr, 0);
    release_unused_memory();
}

void test_blocks_go_without_heap() {
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 300; ++i) blocks.push_back(take_block(20'000));
    heap_is_empty = true;
    for (std::byte* const block : blocks) give_block(block, 20'000);
    heap_is_empty = false;
    release_unused_memory();
}

// While a thread frees the cached blocks, others take and give back blocks.
void test_blocks_are_freed_outside_the_lock() {
    give_block(take_block(20'000), 20'000);
    is_watched = true;
    release_unused_memory();
    is_watched = false;
    CHECK(!was_blocked);
}

void test_scratch() {
    WorkMemory scratch;
    scratch.resize(30'000);
    for (int i = 0; i < 30'000; ++i) scratch.as<unsigned char>()[i] = static_cast<unsigned char>(i);
    scratch.resize(20'000);
    CHECK_EQ(scratch.size(), std::size_t{30'000});
    scratch.resize(3'000'000, 30'000);
    CHECK_EQ(scratch.size(), std::size_t{3'000'000});
    int equal = 0;
    for (int i = 0; i < 30'000; ++i) equal += scratch.as<unsigned char>()[i] == static_cast<unsigned char>(i) ? 1 : 0;
    CHECK_EQ(equal, 30'000);
    const WorkMemory moved = std::move(scratch);
    CHECK_EQ(moved.size(), std::size_t{3'000'000});
}

}  // namespace

// The linker gives these names to free.
extern "C" void __real_free(void* memory);
extern "C" void __wrap_free(void* memory) {
    if (std::exchange(is_watched, false)) {
        other = std::async(std::launch::async, [] { give_block(take_block(40'000), 40'000); });
        was_blocked = other.wait_for(std::chrono::seconds(20)) != std::future_status::ready;
    }
    __real_free(memory);
}

void* operator new(std::size_t size) {
    void* const made = heap_is_empty ? nullptr : std::malloc(size);
    if (made == nullptr) throw std::bad_alloc();
    return made;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
    test_regions_go_without_heap();
    test_threads();
    test_blocks();
    test_sizes_of_blocks();
    test_blocks_go_without_heap();
    test_blocks_are_freed_outside_the_lock();
    test_scratch();
    return check::finish();
}
