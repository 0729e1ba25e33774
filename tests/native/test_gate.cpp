// Workers let through in order, late and early, looking and asleep; and all awake again when one fails.
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/cpu/threads/ordered_gate.hpp"

using namespace headrace;

namespace {

constexpr std::uint64_t NUMBERS = 5'000;
constexpr auto LONG = std::chrono::milliseconds(3);  // waiting threads are asleep by then

// Combines two steps; the result depends on their order.
std::uint64_t step(std::uint64_t made, std::uint64_t number) { return made * 0x9E3779B97F4A7C15 + number; }

void run(unsigned threads, const auto& work) {
    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < threads; ++worker) workers.emplace_back(work);
    for (std::thread& worker : workers) worker.join();
}

// Each number takes its turn once, whichever thread is late. A step reads the value that the preceding one wrote.
void test_order(unsigned threads, std::uint64_t late_every) {
    OrderedGate gate;
    std::atomic<std::uint64_t> next{0};
    std::uint64_t made = 1, turns = 0;
    run(threads, [&] {
        for (std::uint64_t number = next++; number < NUMBERS; number = next++) {
            if (late_every != 0 && number % late_every == 0) std::this_thread::sleep_for(LONG);
            gate.enter(number);
            made = step(made, number);
            ++turns;
            gate.leave();
        }
    });
    std::uint64_t expected = 1;
    for (std::uint64_t number = 0; number < NUMBERS; ++number) expected = step(expected, number);
    CHECK_EQ(made, expected);
    CHECK_EQ(turns, NUMBERS);
}

// Numbers that are skipped, early or at their turn, pass it on. They are not entered.
void test_skip(unsigned threads, std::uint64_t entered_every) {
    OrderedGate gate;
    std::atomic<std::uint64_t> next{0};
    std::uint64_t made = 1;
    run(threads, [&] {
        for (std::uint64_t number = next++; number < NUMBERS; number = next++) {
            if (number % entered_every != 0) {
                gate.skip(number);
                continue;
            }
            if (number % 100 == 0) std::this_thread::sleep_for(LONG);
            gate.enter(number);
            made = step(made, number);
            gate.leave();
        }
    });
    std::uint64_t expected = 1;
    for (std::uint64_t number = 0; number < NUMBERS; number += entered_every) expected = step(expected, number);
    CHECK_EQ(made, expected);
    gate.enter(NUMBERS);
}

// One fails at its turn. Those before it have had theirs, and all others are notified, asleep or not there yet.
void test_close(unsigned threads, std::uint64_t failing) {
    OrderedGate gate;
    std::atomic<std::uint64_t> next{0}, passed{0}, told{0};
    run(threads, [&] {
        try {
            for (std::uint64_t number = next++; number < NUMBERS; number = next++) {
                gate.enter(number);
                if (number == failing) {
                    std::this_thread::sleep_for(LONG);
                    gate.close();
                    gate.leave();
                    return;
                }
                ++passed;
                gate.leave();
            }
        } catch (const GateClosed&) {
            ++told;
        }
    });
    CHECK_EQ(passed.load(), failing);
    CHECK_EQ(told.load(), threads - 1);
}

}  // namespace

// The first argument: threads at most.
int main(int count, char** arguments) {
    const auto most = static_cast<unsigned>(check::first_argument(count, arguments, 200));
    for (const unsigned threads : {1u, 2u, 5u, most}) {
        test_order(threads, 0);
        test_order(threads, 100);
        test_skip(threads, 3);
        test_skip(threads, 64);
        for (const std::uint64_t failing : {0u, 1u, 64u, 4'000u}) test_close(threads, failing);
    }
    return check::finish();
}
