// Workers let through one after the other: an exclusive scan whose step is whatever each does when it is its turn.
#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

// Thrown in the workers that wait for one that failed; the one that failed throws the reason.
struct GateClosed {};

// Lets workers through in the order of their numbers, tiles' for example: from 0 on, each is somebody's, and none is
// left out.
class OrderedGate {
public:
    // Waits for the turn of `number`.
    void enter(std::uint64_t number);
    // The next one's turn.
    void leave();
    // Wakes everyone who waits, or ever will: enter throws GateClosed.
    void close();

private:
    static constexpr std::uint64_t CLOSED = ~std::uint64_t{0};
    std::atomic<std::uint64_t> turn_{0};
};

}  // namespace headrace
