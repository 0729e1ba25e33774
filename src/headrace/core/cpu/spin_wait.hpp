// How long a thread looks for what another is about to do before it sleeps.
#pragma once

#include <chrono>
#include <thread>

namespace headrace {

// To be woken takes longer than most of what threads here wait for: some 50 us, and on a virtual machine whose core has
// been given to somebody else up to some ms, for which all who wait for the woken one wait as well. So nobody sleeps
// before this has passed; what takes longer is a disk's work, or nobody's. Other threads that want the core have it
// meanwhile.
constexpr auto LOOKS_FOR = std::chrono::milliseconds(1);

// Looks until `came()`, for a while; false if it did not come.
template <class Came>
bool look_for(const Came& came) {
    using Clock = std::chrono::steady_clock;
    if (came()) return true;
    const auto begun = Clock::now();
    do {
        std::this_thread::yield();
        if (came()) return true;
    } while (Clock::now() - begun < LOOKS_FOR);
    return false;
}

}  // namespace headrace
