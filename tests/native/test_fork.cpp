// Tests that a child forked while another thread reads the limits of the process reads them itself, and that it draws
// seeds of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "check.hpp"
#include "core/cpu/limits.hpp"
#include "core/cpu/random_seed.hpp"

using namespace headrace;

// The linker gives these names to sysconf. The size of the memory is read slowly, so that some forks happen meanwhile.
extern "C" long __real_sysconf(int name);
extern "C" long __wrap_sysconf(int name) {
    if (name == _SC_PHYS_PAGES) usleep(100);
    return __real_sysconf(name);
}

namespace {

using std::chrono::microseconds;

constexpr unsigned SECONDS_TO_WAIT = 20;

bool ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

// Return whether a child finds limits that is forked `delay` after another thread of this process begins to read them
// for the first time.
bool child_reads(microseconds delay) {
    std::atomic<bool> begins{false};
    std::thread reader([&] {
        begins = true;
        hardware_threads();
    });
    while (!begins) {
    }
    const auto end = std::chrono::steady_clock::now() + delay;
    while (std::chrono::steady_clock::now() < end) {
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_TO_WAIT);
        _exit(hardware_threads() != 0 ? 0 : 1);
    }
    const bool is_good = ended_well(child);
    reader.join();
    return is_good;
}

// Neither process knows the seeds that the other draws after the fork.
void check_seeds() {
    const u64 before = random_seed();
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const u64 seed = random_seed();
        _exit(write(ends[1], &seed, sizeof(seed)) == sizeof(seed) ? 0 : 1);
    }
    u64 seed = before;
    CHECK(ended_well(child) && read(ends[0], &seed, sizeof(seed)) == sizeof(seed));
    CHECK(seed != before && seed != random_seed());
}

}  // namespace

// Each round forks a process that has not read its limits yet. To read them takes some 100 microseconds.
int main() {
    for (int round = 0; round < 60; ++round) {
        const pid_t process = fork();
        if (process == 0) _exit(child_reads(microseconds(5 * round)) ? 0 : 1);
        const bool is_good = ended_well(process);
        CHECK(is_good);
        if (!is_good) break;
    }
    check_seeds();
    return check::finish();
}
