// The thread pool: workers that stay, and one call that runs a function on several of them and waits.
#pragma once

#include <functional>
#include <vector>

namespace headrace {

// Cores that this process may use.
unsigned hardware_threads();

// Runs work(0) on the calling thread and work(1) .. work(threads - 1) on the pool, and returns when all are done.
// The exception of the lowest worker that threw is thrown again here. Calls from several threads may overlap.
void run_parallel(unsigned threads, const std::function<void(unsigned)>& work);

// Has each of these, which throw nothing, run on a thread of the pool, and returns at once.
void run_beside(std::vector<std::function<void()>> jobs);

}  // namespace headrace
