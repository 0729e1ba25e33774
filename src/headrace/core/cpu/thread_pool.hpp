// The thread pool: workers that stay, and one call that runs a function on several of them and waits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace headrace {

// Runs work(0) on the calling thread and work(1) .. work(threads - 1) on the pool, and returns when all are done.
// The exception of the lowest worker that threw is thrown again here. Calls from several threads may overlap.
//
// Where the system refuses a thread, the calling thread runs the workers that have none, one after the other, after
// work(0). So a worker may wait only for what a worker that has begun will do: a tile that another one has taken, not
// one that is another worker's by its number.
void run_parallel(unsigned threads, const std::function<void(unsigned)>& work);

// Runs each of these, which throw nothing, on a thread of the pool, and returns at once. Returns how many: the first
// ones. The others have no thread and do not run.
std::size_t run_beside(std::vector<std::function<void()>> jobs);

}  // namespace headrace
