// Spins for a short time before a thread blocks.
#pragma once

#include <chrono>
#include <thread>

namespace headrace {

// Threads spin this long before they block. A wake-up takes about 50 us, and some ms on a virtual machine whose core
// was given to another guest. All threads that wait for the woken thread wait that long, too. Most waits here are
// shorter. Longer ones are usually I/O. The spinning thread yields, so other threads can use its core.
constexpr auto SPIN_TIME = std::chrono::milliseconds(1);

// Spin until `is_ready()`, at most for SPIN_TIME; return whether it became ready.
template <class Ready>
bool spin_until(const Ready& is_ready) {
    using Clock = std::chrono::steady_clock;
    if (is_ready()) return true;
    const auto begun = Clock::now();
    do {
        std::this_thread::yield();
        if (is_ready()) return true;
    } while (Clock::now() - begun < SPIN_TIME);
    return false;
}

}  // namespace headrace
