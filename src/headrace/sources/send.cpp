#include "sources/send.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

constexpr int NOT_READY = 600;  // CUDA_ERROR_NOT_READY
constexpr std::chrono::microseconds PAUSE{20};

// Waits for the slot's last copy. The thread sleeps between queries, because other threads have bytes to move.
int wait_for(const PinnedSlot& slot, const CardCalls& calls) {
    int status = calls.query(slot.event);
    while (status == NOT_READY) {
        std::this_thread::sleep_for(PAUSE);
        status = calls.query(slot.event);
    }
    return status;
}

// Result of sending some bytes: success, an error status of the driver, or an exception of the source.
struct SendOutcome {
    int status = 0;
    std::exception_ptr thrown;
    bool is_good() const { return status == 0 && thrown == nullptr; }
};

class Sending final : public SentPart {
public:
    explicit Sending(const SendPart& part) : part_(part) {}

    const SendPart& part() const { return part_; }

    // Returns whether all pieces have been taken. The three functions from here on are called with the sender's mutex
    // held.
    bool is_taken() const { return next_ == part_.n; }

    // Takes the next piece; returns its offset in the part and its size.
    std::pair<std::size_t, std::size_t> take(std::size_t max_bytes) {
        const std::size_t begin = next_, n = std::min(max_bytes, part_.n - next_);
        next_ += n;
        return {begin, n};
    }

    // Cancels the pieces that have not been taken; returns their bytes.
    std::size_t give_up() { return take(part_.n).second; }

    // Counts `n` bytes as finished: their copies are enqueued, or cancelled. Returns true for the last bytes of the
    // part.
    bool finish_bytes(std::size_t n, const SendOutcome& outcome) {
        const std::lock_guard lock(mutex_);
        if (outcome_.is_good()) outcome_ = outcome;
        finished_ += n;
        return finished_ == part_.n;
    }

    bool is_good() {
        const std::lock_guard lock(mutex_);
        return outcome_.is_good();
    }

    void end(int status) {
        const std::lock_guard lock(mutex_);
        if (outcome_.is_good()) outcome_.status = status;
        is_done_ = true;
        done_.notify_all();
    }

    int wait() override {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return is_done_; });
        if (outcome_.thrown != nullptr) std::rethrow_exception(outcome_.thrown);
        return outcome_.status;
    }

private:
    const SendPart part_;
    std::size_t next_ = 0;
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t finished_ = 0;
    SendOutcome outcome_;
    bool is_done_ = false;
};

}  // namespace

class PartSender::State {
public:
    State(SendWay way, unsigned threads) : way_(std::move(way)) {
        workers_ = static_cast<unsigned>(std::min<std::size_t>(threads == 0 ? 1 : threads, way_.slots.size()));
        for (unsigned worker = workers_; worker > 0; --worker) idle_.push_back({worker - 1, worker - 1});
    }

    // Ends a part, all of whose copies are enqueued.
    void finish(Sending& sending) const {
        void* copied = sending.part().copied;
        sending.end(sending.is_good() && copied != nullptr ? way_.calls.record(copied, way_.stream) : 0);
    }

    // Starts idle workers, at most one a piece. Busy workers continue with this part after the earlier ones.
    static void begin(const std::shared_ptr<State>& state, const std::shared_ptr<Sending>& sending) {
        const std::size_t pieces = (sending->part().n + state->way_.slot_bytes - 1) / state->way_.slot_bytes;
        std::vector<Worker> woken;
        {
            const std::lock_guard lock(state->mutex_);
            state->waiting_.push_back(sending);
            while (woken.size() < pieces && !state->idle_.empty()) {
                woken.push_back(state->idle_.back());
                state->idle_.pop_back();
            }
        }
        std::vector<std::function<void()>> jobs;
        for (const Worker& worker : woken) jobs.push_back([state, worker] { state->serve(worker); });
        if (!jobs.empty()) state->keep_idle(woken, run_beside(std::move(jobs)));
    }

private:
    // `first`: the worker's first slot; `turn`: the slot that it uses next.
    struct Worker {
        std::size_t first, turn;
    };

    struct SendPiece {
        std::shared_ptr<Sending> sending;
        std::size_t begin, n;
    };

    // Returns workers without a thread to the idle list; only the first `running` have one. If none has, the calling
    // thread does the work.
    void keep_idle(const std::vector<Worker>& woken, std::size_t running) {
        if (running == 0) serve(woken.front());
        const std::lock_guard lock(mutex_);
        for (std::size_t i = std::max<std::size_t>(running, 1); i < woken.size(); ++i) idle_.push_back(woken[i]);
    }

    void serve(Worker worker) {
        const int status = way_.calls.make_current(way_.context);
        for (SendPiece piece = next(worker); piece.sending != nullptr; piece = next(worker)) {
            SendOutcome outcome{status, nullptr};
            if (status == 0) outcome = send(piece, worker);
            finish_piece(piece, outcome);
        }
    }

    // Returns the next piece. If there is none, the worker becomes idle.
    SendPiece next(const Worker& worker) {
        const std::lock_guard lock(mutex_);
        while (!waiting_.empty() && waiting_.front()->is_taken()) waiting_.pop_front();
        if (waiting_.empty()) {
            idle_.push_back(worker);
            return {};
        }
        const auto [begin, n] = waiting_.front()->take(way_.slot_bytes);
        return {waiting_.front(), begin, n};
    }

    SendOutcome send(const SendPiece& piece, Worker& worker) const {
        const CardCalls& calls = way_.calls;
        const PinnedSlot& slot = way_.slots[worker.turn];
        worker.turn = worker.turn + workers_ < way_.slots.size() ? worker.turn + workers_ : worker.first;
        if (const int status = wait_for(slot, calls)) return {status, nullptr};
        const SendPart& part = piece.sending->part();
        try {
            part.source->read(part.offset + piece.begin, piece.n, slot.memory);
        } catch (...) {
            return {0, std::current_exception()};
        }
        if (const int status = calls.copy_to_card(part.target + piece.begin, slot.memory, piece.n, way_.stream))
            return {status, nullptr};
        return {calls.record(slot.event, way_.stream), nullptr};
    }

    void finish_piece(const SendPiece& piece, const SendOutcome& outcome) {
        Sending& sending = *piece.sending;
        std::size_t n = piece.n;
        if (!outcome.is_good()) {
            const std::lock_guard lock(mutex_);
            n += sending.give_up();
        }
        if (sending.finish_bytes(n, outcome)) finish(sending);
    }

    const SendWay way_;
    unsigned workers_ = 0;
    std::mutex mutex_;
    std::deque<std::shared_ptr<Sending>> waiting_;
    std::vector<Worker> idle_;
};

PartSender::PartSender(SendWay way, unsigned threads) : state_(std::make_shared<State>(std::move(way), threads)) {}

std::shared_ptr<SentPart> PartSender::begin(const SendPart& part) {
    const auto sending = std::make_shared<Sending>(part);
    if (part.n == 0)
        state_->finish(*sending);
    else
        State::begin(state_, sending);
    return sending;
}

}  // namespace headrace
