// Tests a system that has fewer threads than a call asks for, or none. Every worker runs, and the shared work is as
// with all threads. The pool makes the missing threads when the system has them again.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arrange/sort/cpu/sort.hpp"
#include "check.hpp"
#include "core/cpu/threads/ordered_gate.hpp"
#include "core/cpu/threads/thread_pool.hpp"
#include "few_threads.hpp"
#include "primitives/cpu/scan.hpp"
#include "sources/send.hpp"

using namespace headrace;

namespace {

constexpr unsigned THREADS = 8;

void test_each_worker_once() {
    std::vector<unsigned> runs(THREADS, 0);
    run_parallel(THREADS, [&](unsigned worker) { ++runs[worker]; });
    for (const unsigned ran : runs) CHECK_EQ(ran, 1u);
}

void test_what_is_thrown() {
    std::string told;
    try {
        run_parallel(THREADS, [](unsigned worker) {
            if (worker % 2 == 1) throw std::runtime_error(std::to_string(worker));
        });
    } catch (const std::runtime_error& error) {
        told = error.what();
    }
    CHECK_EQ(told, std::string("1"));
}

// Tiles in order, as a load takes them.
void test_tiles_in_order() {
    OrderedGate gate;
    std::atomic<std::uint64_t> next{0};
    std::vector<std::uint64_t> turns;
    run_parallel(THREADS, [&](unsigned) {
        for (std::uint64_t tile = next++; tile < 1'000; tile = next++) {
            gate.enter(tile);
            turns.push_back(tile);
            gate.leave();
        }
    });
    std::vector<std::uint64_t> expected(1'000);
    std::iota(expected.begin(), expected.end(), std::uint64_t{0});
    CHECK(turns == expected);
}

void test_beside() {
    std::atomic<int> ran{0};
    std::atomic<bool> goes_on{false};
    const auto job = [&] {
        while (!goes_on.load()) std::this_thread::yield();
        ++ran;
    };
    const std::size_t running = run_beside({job, job, job});
    CHECK(running <= 3);
    goes_on = true;
    for (int looks = 0; ran.load() != static_cast<int>(running) && looks < 1'000; ++looks)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK_EQ(static_cast<std::size_t>(ran.load()), running);
}

void test_scan() {
    std::vector<u64> in(1 << 20, 1), out(in.size());
    scan({"Sum", "u64"}, {in.data(), out.data(), in.size()}, false, choose_isa(""), THREADS);
    CHECK_EQ(out.front(), 1u);
    CHECK_EQ(out.back(), in.size());
}

void test_sort() {
    check::Random random("few threads");
    std::vector<u64> keys(1 << 20), spare(keys.size());
    for (u64& key : keys) key = random.next();
    std::vector<u64> expected = keys;
    std::sort(expected.begin(), expected.end());
    const std::vector<u64> rule(4, 0);
    const SortWith how{choose_isa(""), THREADS};
    sort_keys({keys.data(), keys.size(), 8, rule.data()}, keys.data(), spare.data(), how);
    CHECK(keys == expected);
}

// A card that is memory.
CardCalls card_of_memory() {
    CardCalls calls{};
    calls.make_current = [](void*) { return 0; };
    calls.query = [](void*) { return 0; };
    calls.record = [](void*, void*) { return 0; };
    calls.copy_to_card = [](u64 target, const void* from, usize n, void*) {
        std::memcpy(reinterpret_cast<void*>(target), from, n);
        return 0;
    };
    return calls;
}

void test_parts_are_sent() {
    constexpr std::size_t SLOT = 1000, SLOTS = 6, BYTES = 20'500;
    std::vector<u8> text(BYTES), received(BYTES), pinned(SLOT * SLOTS);
    for (std::size_t i = 0; i < BYTES; ++i) text[i] = static_cast<u8>(i * 7 + i / 256);
    const MemorySource source(text.data(), text.size());
    SendWay way{card_of_memory(), nullptr, nullptr, {}, SLOT};
    for (std::size_t slot = 0; slot < SLOTS; ++slot) way.slots.push_back({pinned.data() + slot * SLOT, nullptr});
    PartSender sender(std::move(way), 3);
    std::vector<std::shared_ptr<SentPart>> parts;
    for (const std::size_t at : {std::size_t{0}, std::size_t{8'000}, std::size_t{9'001}}) {
        const std::size_t end = at == 0 ? 8'000 : at == 8'000 ? 9'001 : BYTES;
        parts.push_back(sender.begin({&source, at, end - at, reinterpret_cast<u64>(received.data() + at), nullptr}));
    }
    for (const auto& part : parts) CHECK_EQ(part->wait(), 0);
    CHECK(received == text);
}

void test_everything() {
    test_each_worker_once();
    test_what_is_thrown();
    test_tiles_in_order();
    test_beside();
    test_scan();
    test_sort();
    test_parts_are_sent();
}

}  // namespace

int main() {
    threads_left = 0;
    CHECK_EQ(run_beside({[] {}}), 0u);
    test_everything();
    for (const int more : {1, 2, 3}) {
        threads_left = more;
        test_everything();
    }
    threads_left = INT_MAX;
    std::atomic<unsigned> here{0};
    run_parallel(THREADS, [&](unsigned) {  // all of them at the same time
        ++here;
        while (here.load() != THREADS) std::this_thread::yield();
    });
    CHECK_EQ(here.load(), THREADS);
    return check::finish();
}
