#include "structure/cpu/summarize.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/cpu/threads/thread_pool.hpp"
#include "sources/window.hpp"
#include "structure/cpu/lenient.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {
namespace {

// Bytes read after a tile: more than any delimiter has, so that the kernels see the character after the tile.
constexpr usize LOOKAHEAD = 4096;

// Appends `next` to what `whole` summarizes: first one, then the other.
void append(StateCounts& whole, const StateCounts& next, u32 states) {
    for (u32 s = 0; s < states; ++s) {
        whole.records[s] += next.records[whole.state[s]];
        whole.state[s] = next.state[whole.state[s]];
    }
    whole.lines += next.lines;
}

}  // namespace

StateCounts summarize(const Source& source, const Dialect& dialect, const SurveyPlan& plan) {
    const u64 end = std::min<u64>(plan.end, source.size());
    const u64 tiles = plan.begin < end ? (end - plan.begin + plan.tile_bytes - 1) / plan.tile_bytes : 0;
    const FindKernels& kernels = find_kernels(plan.isa);
    QuoteRuns runs(source, dialect);
    std::vector<StateCounts> parts(tiles);
    std::atomic<u64> next{0};
    run_parallel(plan.threads, [&](unsigned) {
        Window window(source);
        WindowQuotes quotes{runs, window};
        const QuoteLook look = dialect.looks_ahead() ? quotes.look() : QuoteLook{};
        for (u64 tile = next++; tile < tiles; tile = next++) {
            const u64 begin = plan.begin + tile * plan.tile_bytes;
            window.open(begin, static_cast<usize>(std::min<u64>(plan.tile_bytes, end - begin)), LOOKAHEAD);
            kernels.count(dialect, window.data(), window.owned(), window.size(), look, parts[tile]);
        }
    });
    const u32 states = dialect.automaton.states;
    StateCounts whole{};
    for (u32 s = 0; s < states; ++s) whole.state[s] = static_cast<u8>(s);
    for (const StateCounts& part : parts) append(whole, part, states);
    return whole;
}

}  // namespace headrace
