#include "core/cpu/threads/ordered_gate.hpp"

#include "core/cpu/threads/spin_wait.hpp"

namespace headrace {

void OrderedGate::enter(std::uint64_t number) {
    while (true) {
        std::uint64_t turn = 0;
        spin_until([&] {
            turn = turn_.load(std::memory_order_acquire);
            return turn == number || turn == CLOSED;
        });
        if (turn == number) return;
        if (turn == CLOSED) throw GateClosed{};
        turn_.wait(turn, std::memory_order_acquire);
    }
}

// Pass the turn to the next number that is not skipped. Wake all sleeping workers at once: if only the next one were
// woken, each wake-up would delay all later workers.
void OrderedGate::pass(std::uint64_t turn) {
    do {
        ++turn;
    } while (skipped_.erase(turn) != 0);
    turn_.store(turn, std::memory_order_release);
    turn_.notify_all();
}

void OrderedGate::leave() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    if (turn != CLOSED) pass(turn);
}

void OrderedGate::skip(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (turn_.load(std::memory_order_relaxed) == number) {
        pass(number);
    } else {
        skipped_.insert(number);
    }
}

void OrderedGate::close() {
    const std::lock_guard lock(mutex_);
    turn_.store(CLOSED, std::memory_order_release);
    turn_.notify_all();
}

}  // namespace headrace
