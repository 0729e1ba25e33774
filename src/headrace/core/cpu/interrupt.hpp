// Lets the caller of a long call end it (Ctrl-C): loops over pieces of work call check_interrupt between two of them.
#pragma once

namespace headrace {

// While this lives, check_interrupt on the thread that made it calls `check`, which may throw, twenty times a second.
class Interruptible {
public:
    explicit Interruptible(void (*check)());
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    void (*before_)();
};

// Does nothing on other threads.
void check_interrupt();

}  // namespace headrace
