// Replays two traces (gpu/kernels/trace.hpp) with their memory and a table of arguments
// (gpu/kernels/trace_chain.py). First bytes are copied to the host before them, and results after them. All is one
// call, since separate calls would each return addresses to Python.
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

// Bytes that are copied to the host before all kernels, so that it has them while the device works.
struct ChainHead {
    u64 source;
    usize bytes;  // 0: none
    void* event;  // recorded after the copy
};

// The second trace of a run. `suffix` follows the table. Some words of the table may be equally spaced addresses: the
// first is `strided.first` in the results. Their distance is `strided.second`, 0 for none.
struct ChainEnd {
    std::vector<i64> numbers;
    std::vector<u64> suffix;
    std::pair<u64, u64> strided;
    usize fetched;      // bytes of the results
    SlabLayout later;   // the buffers whose addresses the table gets
    bool keeps;         // the first trace's buffers are not freed
    std::byte* pinned;  // receives the head, then the results, and has the table; each begins at a multiple of 16
    void* event;        // recorded after all work
};

struct ChainPlace {
    void *stream, *pool;
    SlabRule rule;
};

// `status`: the driver's. `later`, `retained`: addresses of the slabs of the later buffers, and of those that the first
// trace allocates. The latter are freed unless the run keeps them; `first` is their layout.
struct ChainRun {
    int status;
    std::vector<u64> later, retained;
    SlabLayout first;
};

class TraceChain {
public:
    TraceChain(const CardCalls& calls, ChainedTrace first, ChainedTrace second, AddressedWords table, ChainLinks links)
        : calls_(calls),
          first_(std::move(first)),
          second_(std::move(second)),
          table_(std::move(table)),
          links_(std::move(links)) {}

    // Launches both traces for a text; the inputs of the first one are `numbers` and the text. Nothing waits for the
    // device.
    ChainRun run(u64 text, std::vector<i64> numbers, const ChainHead& head, const ChainEnd& end,
                 const ChainPlace& place) const {
        numbers.push_back(static_cast<i64>(text));
        ChainRun result = {0, {}, {}, first_.layout(numbers, place.rule)};
        SlabMemory memory(calls_, place.pool, result.first, place.stream);
        std::optional<SlabMemory> later;
        result.status = memory.status;
        if (result.status == 0) result.status = launch(numbers, {head, end, place}, memory.addresses, later);
        const int recorded = calls_.record(end.event, place.stream);  // after a failure too: a copy may be under way
        if (result.status == 0) result.status = recorded;
        if (result.status != 0) return result;
        result.later = later->release();
        if (end.keeps) result.retained = memory.release();
        return result;
    }

private:
    struct ChainTask {
        const ChainHead& head;
        const ChainEnd& end;
        const ChainPlace& place;

        std::byte* results() const { return end.pinned + aligned(head.bytes); }
    };

    static usize aligned(usize n) { return (n + 15) / 16 * 16; }

    // Returns the driver's status; if it is 0, `later` has the later buffers' memory. All copies but that of the
    // results precede the kernels, which a copy between them would delay. `buffers`: those of the first trace.
    int launch(const std::vector<i64>& first_inputs, const ChainTask& task, const std::vector<u64>& buffers,
               std::optional<SlabMemory>& later) const {
        const auto [stream, pool, rule] = task.place;
        later.emplace(calls_, pool, task.end.later, stream);
        if (later->status != 0) return later->status;
        std::vector<i64> inputs = task.end.numbers;
        inputs.push_back(first_inputs.back());  // the text
        for (const std::optional<usize>& link : links_.inputs)
            inputs.push_back(link ? static_cast<i64>(buffers.at(*link)) : 0);
        const SlabMemory own(calls_, pool, second_.layout(inputs, rule), stream);
        if (own.status != 0) return own.status;
        int status = fetch_head(task);
        if (status == 0) status = send_table(task, buffers, later->addresses);
        if (status == 0) status = first_.replay(first_inputs, buffers, stream);
        if (status == 0) status = second_.replay(inputs, own.addresses, stream);
        if (status != 0) return status;
        return calls_.copy_to_host(task.results(), buffers.at(links_.results), task.end.fetched, stream);
    }

    int fetch_head(const ChainTask& task) const {
        if (task.head.bytes == 0) return 0;
        void* const stream = task.place.stream;
        const int status = calls_.copy_to_host(task.end.pinned, task.head.source, task.head.bytes, stream);
        return status != 0 ? status : calls_.record(task.head.event, stream);
    }

    int send_table(const ChainTask& task, const std::vector<u64>& buffers, const std::vector<u64>& later) const {
        const ChainEnd& end = task.end;
        const u64 target = buffers.at(links_.table);
        const u64 strided = end.strided.second == 0 ? 0 : buffers.at(links_.results) + end.strided.first;
        u64* const pinned = reinterpret_cast<u64*>(task.results() + aligned(end.fetched));
        table_.write(pinned, target, later, {strided, end.strided.second}, end.suffix);
        return calls_.copy_to_card(target, pinned, (table_.size() + end.suffix.size()) * sizeof(u64),
                                   task.place.stream);
    }

    CardCalls calls_;
    ChainedTrace first_, second_;
    AddressedWords table_;
    ChainLinks links_;
};

}  // namespace headrace
