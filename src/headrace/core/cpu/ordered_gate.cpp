#include "core/cpu/ordered_gate.hpp"

#include "core/cpu/spin_wait.hpp"

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

// Wake all sleeping workers at once. If only the next one were woken, each wake-up would delay all later workers.
void OrderedGate::leave() {
    std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    if (turn == CLOSED) return;
    turn_.compare_exchange_strong(turn, turn + 1, std::memory_order_release, std::memory_order_relaxed);
    turn_.notify_all();
}

void OrderedGate::close() {
    turn_.store(CLOSED, std::memory_order_release);
    turn_.notify_all();
}

}  // namespace headrace
