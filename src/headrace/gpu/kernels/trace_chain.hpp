// Replays two traces (gpu/kernels/trace.hpp) with their memory, a table of arguments between them, and a copy of
// results to the host (gpu/kernels/trace_chain.py). The device runs the first trace while the host prepares the second
// one. Each trace is one call, since separate calls would each return addresses to Python.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"
#include "gpu/device/driver_functions.hpp"
#include "gpu/kernels/addressed_words.hpp"
#include "gpu/kernels/trace.hpp"
#include "gpu/memory/pool_memory.hpp"

namespace headrace {

// A trace, and how many of the buffers that it allocates are cleared. These come first.
struct ChainedTrace {
    NativeTrace launches;
    usize zeroed;

    SlabLayout layout(const std::vector<i64>& inputs, const SlabRule& rule) const {
        const std::vector<u64> sizes = launches.sizes(inputs);
        return {{{sizes.begin(), sizes.end()}, 0, zeroed}, rule};
    }

    // Returns the driver's status. `own`: the addresses of the buffers that the trace allocates.
    int replay(std::vector<i64> inputs, const std::vector<u64>& own, void* stream) const {
        inputs.insert(inputs.end(), own.begin(), own.end());
        return NativeTrace::Run(launches, inputs).replay(stream, 0).second;
    }
};

// Indices among the buffers that the first trace allocates. `inputs`: the second trace's inputs after the text; none
// for a null pointer. `table` receives the table, and `results` the results.
struct ChainLinks {
    std::vector<std::optional<usize>> inputs;
    usize table, results;
};

// The second trace of a run. `suffix` follows the table. Some words of the table may be equally spaced addresses: the
// first is `strided.first` in the results. Their distance is `strided.second`, 0 for none.
struct ChainEnd {
    std::vector<i64> numbers;
    std::vector<u64> suffix;
    std::pair<u64, u64> strided;
    usize fetched;      // bytes of the results
    SlabLayout later;   // the buffers whose addresses the table gets
    std::byte* pinned;  // receives the results; the table lies after them
    void* event;        // recorded after all work
};

struct ChainPlace {
    void *stream, *pool;
    SlabRule rule;
};

// A run whose first trace is launched: the text, which is the first buffer of both traces, and the buffers that the
// first trace allocated.
struct StartedRun {
    u64 text;
    SlabMemory memory;
};

class TraceChain {
public:
    TraceChain(const CardCalls& calls, ChainedTrace first, ChainedTrace second, AddressedWords table, ChainLinks links)
        : calls_(calls),
          first_(std::move(first)),
          second_(std::move(second)),
          table_(std::move(table)),
          links_(std::move(links)) {}

    // Launches the first trace; its inputs are these numbers and the text. The memory has the driver's status.
    StartedRun start(u64 text, std::vector<i64> numbers, const ChainPlace& place) const {
        numbers.push_back(static_cast<i64>(text));
        SlabMemory memory(calls_, place.pool, first_.layout(numbers, place.rule), place.stream);
        if (memory.status == 0) memory.status = first_.replay(numbers, memory.addresses, place.stream);
        return {text, std::move(memory)};
    }

    // Allocates the later buffers, launches the second trace, and copies the results. Returns the driver's status and
    // the addresses of the slabs of the later buffers. Nothing waits for the device.
    std::pair<int, std::vector<u64>> finish(const StartedRun& started, const ChainEnd& end,
                                            const ChainPlace& place) const {
        const std::vector<u64>& buffers = started.memory.addresses;
        SlabMemory later(calls_, place.pool, end.later, place.stream);
        if (later.status != 0) return {later.status, {}};
        std::vector<i64> inputs = end.numbers;
        inputs.push_back(static_cast<i64>(started.text));
        for (const std::optional<usize>& link : links_.inputs)
            inputs.push_back(link ? static_cast<i64>(buffers.at(*link)) : 0);
        const SlabMemory own(calls_, place.pool, second_.layout(inputs, place.rule), place.stream);
        if (own.status != 0) return {own.status, {}};
        int status = send_table(end, buffers, later.addresses, place.stream);
        if (status == 0) status = second_.replay(inputs, own.addresses, place.stream);
        if (status == 0)
            status = calls_.copy_to_host(end.pinned, buffers.at(links_.results), end.fetched, place.stream);
        const int recorded = calls_.record(end.event, place.stream);  // after a failure too: a copy may be under way
        if (status == 0) status = recorded;
        if (status != 0) return {status, {}};
        return {0, later.release()};
    }

private:
    int send_table(const ChainEnd& end, const std::vector<u64>& buffers, const std::vector<u64>& later,
                   void* stream) const {
        const u64 target = buffers.at(links_.table);
        const u64 strided = end.strided.second == 0 ? 0 : buffers.at(links_.results) + end.strided.first;
        u64* const pinned = reinterpret_cast<u64*>(end.pinned + (end.fetched + 15) / 16 * 16);
        table_.write(pinned, target, later, {strided, end.strided.second}, end.suffix);
        return calls_.copy_to_card(target, pinned, (table_.size() + end.suffix.size()) * sizeof(u64), stream);
    }

    CardCalls calls_;
    ChainedTrace first_, second_;
    AddressedWords table_;
    ChainLinks links_;
};

}  // namespace headrace
