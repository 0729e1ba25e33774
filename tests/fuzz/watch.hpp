// Runs one input, and keeps it if it is a finding: a failed check, a sanitizer's report, a signal, too much time or
// memory. Part of the driver.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "mutate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Freed memory waits a shorter time and stacks are kept shorter than by default: so small inputs run five times as
// fast.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
    return "quarantine_size_mb=4:malloc_context_size=4:max_malloc_fill_size=512:detect_stack_use_after_return=0";
}
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace fuzz {

inline const char* program;
inline std::string artifact_prefix;
inline std::string file_running;  // a file that is run once needs no copy
inline std::unique_ptr<char[]> memory;
inline std::size_t memory_size = 0;
inline std::size_t running_size = 0;
inline std::atomic<std::uint64_t> executions{0};
inline double timeout_seconds, rss_limit_mb;

// The input lies at the very end of its allocation, so that a sanitizer sees reads after it.
inline void execute(const Bytes& input) {
    running_size = input.size();
    char* const at = memory.get() + memory_size - input.size();
    std::memcpy(at, input.data(), input.size());
    executions.fetch_add(1, std::memory_order_relaxed);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(at), input.size());
}

inline void reserve(std::size_t longest) {
    memory_size = longest;
    memory = std::make_unique<char[]>(longest);
}

// Writes the input that runs to a file, once, and prints how to run it again.
inline void keep_input() {
    static std::atomic<bool> kept{false};
    if (kept.exchange(true)) return;
    std::string name = file_running;
    if (name.empty()) {
        const char* const input = memory.get() + memory_size - running_size;
        std::uint64_t hash = 0xCBF29CE484222325;
        for (std::size_t i = 0; i < running_size; ++i)
            hash = (hash ^ static_cast<std::uint8_t>(input[i])) * 0x100000001B3;
        char number[17];
        std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(hash));
        name = artifact_prefix + "finding-" + number;
        std::ofstream(name, std::ios::binary).write(input, static_cast<std::streamsize>(running_size));
    }
    std::fprintf(stderr, "\nFINDING: %zu bytes, execution %llu. To see it again: %s %s\n", running_size,
                 static_cast<unsigned long long>(executions.load()), program, name.c_str());
}

inline void on_signal(int number) {
    keep_input();
    signal(number, SIG_DFL);
    raise(number);
}

// Called by a signal's handler, so without anything that allocates.
inline double resident_mb() {
    char text[128] = {};
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    const char* const second = size > 0 ? std::strchr(text, ' ') : nullptr;
    const long pages = second == nullptr ? 0 : std::strtol(second, nullptr, 10);
    return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Once a second: is this still the same input, and how much memory is there?
inline void on_tick(int) {
    static std::uint64_t last = 0;
    static double waited = 0;
    const std::uint64_t now = executions.load(std::memory_order_relaxed);
    waited = now == last ? waited + 1 : 0;
    last = now;
    const bool slow = waited > timeout_seconds;
    if (!slow && resident_mb() <= rss_limit_mb) return;
    std::fprintf(stderr, "\nThe input took too %s.\n", slow ? "long" : "much memory");
    keep_input();
    _exit(1);
}

inline void watch() {
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
    for (const int number : {SIGABRT, SIGILL, SIGFPE}) signal(number, on_signal);
    struct sigaction action{};
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval every_second{{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &every_second, nullptr);
}

}  // namespace fuzz
