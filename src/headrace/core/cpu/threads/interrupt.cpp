#include "core/cpu/threads/interrupt.hpp"

#include <chrono>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto PAUSE = std::chrono::milliseconds(50);

struct Checks {
    void (*check)() = nullptr;
    Clock::time_point last;
};
thread_local Checks checks;

}  // namespace

Interruptible::Interruptible(void (*check)()) : before_(checks.check) { checks = {check, Clock::now()}; }

Interruptible::~Interruptible() { checks.check = before_; }

void check_interrupt() {
    if (checks.check == nullptr) return;
    const auto now = Clock::now();
    if (now - checks.last < PAUSE) return;
    checks.last = now;
    checks.check();
}

}  // namespace headrace
