// Lets a long call be interrupted (Ctrl-C): loops call check_interrupt between two units of work.
#pragma once

namespace headrace {

// While this exists, check_interrupt on its thread calls `check` at most twenty times a second. `check` may throw.
class Interruptible {
public:
    explicit Interruptible(void (*check)());
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    void (*before_)();
};

// Do nothing on threads without an Interruptible.
void check_interrupt();

}  // namespace headrace
