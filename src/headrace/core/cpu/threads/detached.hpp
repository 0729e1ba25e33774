// Starts threads that end by themselves, such as those that free memory which is not reused.
#pragma once

#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace headrace {

// Call `work()` in a thread that is not joined. Return false if the system refuses the thread or its memory.
template <class Work>
bool start_detached(Work&& work) noexcept {
    try {
        std::thread(std::forward<Work>(work)).detach();
    } catch (const std::system_error&) {
        return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

}  // namespace headrace
