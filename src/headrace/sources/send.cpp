#include "sources/send.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/pool.hpp"

namespace headrace {
namespace {

constexpr int NOT_READY = 600;  // CUDA_ERROR_NOT_READY
constexpr std::chrono::microseconds PAUSE{20};

// Until the slot's last copy is done. The thread sleeps in between: others have bytes to move.
int wait_for(const PinnedSlot& slot, const DriverCalls& calls) {
    int status = calls.query(slot.event);
    while (status == NOT_READY) {
        std::this_thread::sleep_for(PAUSE);
        status = calls.query(slot.event);
    }
    return status;
}

class Sending {
public:
    Sending(const Source& source, std::uint64_t offset, std::size_t n, std::uint64_t target, const SendWay& way)
        : source_(source), offset_(offset), n_(n), target_(target), way_(way) {}

    // The slots first, first + step, ...
    void run(std::size_t first, std::size_t step) {
        const DriverCalls& calls = way_.calls;
        if (!went_well(calls.make_current(way_.context))) return;
        std::size_t turn = first;
        for (std::size_t at = next_.fetch_add(way_.slot_bytes); at < n_; at = next_.fetch_add(way_.slot_bytes)) {
            const PinnedSlot& slot = way_.slots[turn];
            turn = turn + step < way_.slots.size() ? turn + step : first;
            const std::size_t size = std::min(way_.slot_bytes, n_ - at);
            if (!went_well(wait_for(slot, calls))) return;
            source_.read(offset_ + at, size, slot.memory);
            if (!went_well(calls.copy_to_card(target_ + at, slot.memory, size, way_.stream))) return;
            if (!went_well(calls.record(slot.event, way_.stream))) return;
        }
    }

    int status() const { return status_.load(); }

private:
    bool went_well(int status) {
        if (status != 0) status_.store(status);
        return status_.load() == 0;
    }

    const Source& source_;
    const std::uint64_t offset_;
    const std::size_t n_;
    const std::uint64_t target_;
    const SendWay& way_;
    std::atomic<std::size_t> next_{0};
    std::atomic<int> status_{0};
};

}  // namespace

int send_to_card(const Source& source, std::uint64_t offset, std::size_t n, std::uint64_t target, const SendWay& way,
                 unsigned threads) {
    const std::size_t pieces = (n + way.slot_bytes - 1) / way.slot_bytes;
    const auto workers = static_cast<unsigned>(std::min<std::size_t>({threads, way.slots.size(), pieces}));
    if (workers == 0) return 0;
    Sending sending(source, offset, n, target, way);
    run_parallel(workers, [&](unsigned worker) { sending.run(worker, workers); });
    return sending.status();
}

}  // namespace headrace
