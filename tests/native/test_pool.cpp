// Tests functions that run on several threads: each worker once, again and again, from several callers at once. The
// pool's threads go to sleep in pauses, or there are no pauses. The exception of the lowest worker is rethrown.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/cpu/threads/thread_pool.hpp"

using namespace headrace;

namespace {

constexpr auto LONG = std::chrono::milliseconds(3);  // threads without a job are asleep by then

void test_each_worker_once(unsigned threads, unsigned rounds, bool pauses) {
    for (unsigned round = 0; round < rounds; ++round) {
        std::vector<unsigned> runs(threads, 0);  // plain: the caller sees the workers' writes
        run_parallel(threads, [&](unsigned worker) { ++runs[worker]; });
        for (const unsigned ran : runs) CHECK_EQ(ran, 1u);
        if (pauses) std::this_thread::sleep_for(LONG);
    }
}

// All workers of a call run at the same time, however many calls there are: they may wait for each other.
void test_callers_at_once(unsigned callers, unsigned threads) {
    std::vector<std::thread> calls;
    std::atomic<unsigned> met{0};
    for (unsigned caller = 0; caller < callers; ++caller) {
        calls.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                std::atomic<unsigned> here{0};
                run_parallel(threads, [&](unsigned) {
                    ++here;
                    while (here.load() != threads) std::this_thread::yield();
                });
                met += here.load();
            }
        });
    }
    for (std::thread& call : calls) call.join();
    CHECK_EQ(met.load(), callers * threads * 50);
}

void test_what_is_thrown(unsigned threads) {
    std::string told;
    try {
        run_parallel(threads, [](unsigned worker) {
            if (worker % 2 == 1) throw std::runtime_error(std::to_string(worker));
        });
    } catch (const std::runtime_error& error) {
        told = error.what();
    }
    CHECK_EQ(told, std::string("1"));
}

void test_beside() {
    std::atomic<int> ran{0};
    run_beside({[&] { ++ran; }, [&] { ++ran; }, [&] { ++ran; }});
    for (int looks = 0; ran.load() != 3 && looks < 10'000; ++looks) std::this_thread::sleep_for(LONG);
    CHECK_EQ(ran.load(), 3);
}

}  // namespace

int main() {
    for (const unsigned threads : {1u, 2u, 5u, 40u}) {
        test_each_worker_once(threads, 300, false);
        test_each_worker_once(threads, 20, true);
        if (threads > 1) test_what_is_thrown(threads);
    }
    test_callers_at_once(4, 5);
    test_beside();
    return check::finish();
}
