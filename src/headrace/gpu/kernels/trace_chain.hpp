// Replays two traces (gpu/kernels/trace.hpp) in one call, with their memory, a table of arguments between them, and a
// copy of results to the host (gpu/kernels/trace_chain.py). Separate calls would each return addresses to Python.
#pragma once

#include <cstring>
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
};

// The buffers that both traces of a chain allocate, in common slabs, since a driver call takes microseconds. Cleared
// ones come first: those of the first trace, then those of the second.
class ChainBuffers {
public:
    ChainBuffers(const std::vector<u64>& first, usize first_zeroed, const std::vector<u64>& second, usize second_zeroed,
                 const SlabRule& rule)
        : first_zeroed_(first_zeroed),
          second_zeroed_(second_zeroed),
          first_(first.size()),
          second_(second.size()),
          layout(joined(first, second), rule) {}

    // The addresses of a trace's buffers among those of all.
    std::vector<u64> of_first(const std::vector<u64>& all) const {
        return pick(all, 0, first_zeroed_, first_, zeroed());
    }
    std::vector<u64> of_second(const std::vector<u64>& all) const {
        return pick(all, first_zeroed_, second_zeroed_, second_, zeroed() + first_ - first_zeroed_);
    }

private:
    usize zeroed() const { return first_zeroed_ + second_zeroed_; }

    BufferSizes joined(const std::vector<u64>& first, const std::vector<u64>& second) const {
        std::vector<usize> sizes;
        const auto append = [&](const std::vector<u64>& some, usize begin, usize end) {
            for (usize i = begin; i < end; ++i) sizes.push_back(static_cast<usize>(some.at(i)));
        };
        append(first, 0, first_zeroed_);
        append(second, 0, second_zeroed_);
        append(first, first_zeroed_, first.size());
        append(second, second_zeroed_, second.size());
        return {std::move(sizes), 0, zeroed()};
    }

    // Picks a trace's cleared buffers, and its others, which begin at these indices.
    static std::vector<u64> pick(const std::vector<u64>& all, usize cleared, usize cleared_count, usize count,
                                 usize others) {
        std::vector<u64> result;
        for (usize i = 0; i < count; ++i)
            result.push_back(all.at(i < cleared_count ? cleared + i : others + i - cleared_count));
        return result;
    }

    usize first_zeroed_, second_zeroed_, first_, second_;

public:
    SlabLayout layout;
};

// Indices among the buffers that the first trace allocates. `inputs`: the second trace's inputs after the text; none
// for a null pointer. `table` receives the table, and `results` the results.
struct ChainLinks {
    std::vector<std::optional<usize>> inputs;
    usize table, results;
};

// One run. The text is the first buffer of both traces. `suffix` follows the table. Some words of the table may be
// equally spaced addresses: the first is `strided.first` in the results. Their distance is `strided.second`, 0 for
// none.
struct ChainRun {
    u64 text;
    std::vector<i64> first, second;  // numbers
    std::vector<u64> suffix;
    std::pair<u64, u64> strided;
    usize fetched;  // bytes of the results
};

struct ChainPlace {
    void *stream, *pool;
    std::byte* pinned;  // receives the results; the table lies after them
    void* event;        // recorded after all work
};

class TraceChain {
public:
    TraceChain(const CardCalls& calls, ChainedTrace first, ChainedTrace second, AddressedWords table, ChainLinks links)
        : calls_(calls),
          first_(std::move(first)),
          second_(std::move(second)),
          table_(std::move(table)),
          links_(std::move(links)) {}

    // Allocates buffers for the results of the second trace (`later`, whose addresses the table has), and launches all.
    // Returns the driver's status and the addresses of the slabs of `later`. Nothing waits for the device.
    std::pair<int, std::vector<u64>> launch(const ChainRun& run, const SlabLayout& later, const SlabRule& rule,
                                            const ChainPlace& place) const {
        std::vector<i64> first = run.first, second = run.second;
        first.push_back(static_cast<i64>(run.text));
        second.push_back(static_cast<i64>(run.text));
        second.resize(second.size() + links_.inputs.size());
        const ChainBuffers own(first_.launches.sizes(first), first_.zeroed, second_.launches.sizes(second),
                               second_.zeroed, rule);
        const SlabMemory memory(calls_, place.pool, own.layout, place.stream);
        if (memory.status != 0) return {memory.status, {}};
        const std::vector<u64> buffers = own.of_first(memory.addresses);
        int status = replay(first_, first, buffers, place.stream);
        if (status != 0) return {status, {}};
        SlabMemory result(calls_, place.pool, later, place.stream);
        if (result.status != 0) return {result.status, {}};
        status = send_table(run, buffers, result.addresses, place);
        const usize linked = second.size() - links_.inputs.size();
        for (usize i = 0; i < links_.inputs.size(); ++i)
            second[linked + i] = links_.inputs[i] ? static_cast<i64>(buffers.at(*links_.inputs[i])) : 0;
        if (status == 0) status = replay(second_, second, own.of_second(memory.addresses), place.stream);
        if (status == 0)
            status = calls_.copy_to_host(place.pinned, buffers.at(links_.results), run.fetched, place.stream);
        const int recorded = calls_.record(place.event, place.stream);  // after a failure too: a copy may be under way
        if (status == 0) status = recorded;
        if (status != 0) return {status, {}};
        return {0, result.release()};
    }

private:
    static int replay(const ChainedTrace& trace, std::vector<i64> inputs, const std::vector<u64>& own, void* stream) {
        for (const u64 address : own) inputs.push_back(static_cast<i64>(address));
        return NativeTrace::Run(trace.launches, inputs).replay(stream, 0).second;
    }

    int send_table(const ChainRun& run, const std::vector<u64>& buffers, const std::vector<u64>& later,
                   const ChainPlace& place) const {
        const u64 target = buffers.at(links_.table);
        const u64 strided = run.strided.second == 0 ? 0 : buffers.at(links_.results) + run.strided.first;
        const std::vector<u64> words = table_.at(target, later, {strided, run.strided.second}, run.suffix);
        std::byte* const pinned = place.pinned + (run.fetched + 15) / 16 * 16;
        std::memcpy(pinned, words.data(), words.size() * sizeof(u64));
        return calls_.copy_to_card(target, pinned, words.size() * sizeof(u64), place.stream);
    }

    CardCalls calls_;
    ChainedTrace first_, second_;
    AddressedWords table_;
    ChainLinks links_;
};

}  // namespace headrace
