// Tests regions made and freed on several threads, whose memory waits for the next one. Regions that are freed while
// the heap is exhausted give their memory back to the system.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/cpu/memory.hpp"

using namespace headrace;

namespace {

thread_local bool heap_is_empty = false;

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

}  // namespace

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
    return check::finish();
}
