// Operations of all kinds of a warp on a slab hash. They are called as those of hash_map_ref.cuh, and run side by side.
// Each takes effect while it has the lock of its bucket.
//
// The paper needs no locks, because one atomic operation replaces a pair. Here values have any width and may be
// summed, and erased slots are used again at once.
//
// The lanes of a warp go on in rounds. All try to get their locks. Groups look at a slab of each lane that has one, and
// then these lanes change their slabs at once. So a warp waits for memory once a round, not once an operation. A lane
// that got no lock tries again in the next round. One that has it never waits for another.
//
// Memory order: a lock is taken by an acquire and given back by a release. Only operations that have the lock of a
// bucket read or change its list. So they see all changes of earlier ones, and no other access needs an order. A lane
// reads slabs for other lanes of its warp. __syncwarp orders these reads after the acquire, and before the release.
#pragma once
#include "index/hash_map/gpu/hash_map_ref.cuh"
#include "index/hash_map/rules/map_operation.hpp"

namespace headrace::slab {

// Word of a bucket: twice the number of operations that have had the lock, and 1 while one has it.
HR_FN bool try_lock(u32* word, u32& ticket) {
    const u32 seen = tile::or_acquire(word, 1u);
    ticket = seen / 2;
    return (seen & 1) == 0;
}
HR_FN void unlock(u32* word, u32 ticket) { tile::store_release(word, 2 * (ticket + 1)); }

// What a lane's operation sees of a slab: the positions of its key and of empty slots, and the next slab. `paired`: the
// key's value, if slots have pairs of 4 and 4 bytes.
template <class L>
struct SlabView {
    u32 hits;
    u32 empties;
    u32 next;
    typename L::Value paired;
};

// Returns the view of a group's slab, which is in `words`. All lanes of the warp take part.
template <class L>
HR_FN SlabView<L> view_of(const tile::WordPair& words, typename L::Key key) {
    SlabView<L> view{L::positions_of(words, key), L::positions_of(words, L::empty_key), next_of(words), {0}};
    if constexpr (L::is_paired) {
        const u32 position = view.hits != 0 ? __ffs(view.hits) - 1 : 0;
        view.paired =
            tile::shuffle(L::lane_value(words, position / group_lanes), first_lane() + position % group_lanes);
    }
    return view;
}

// Returns the view of each lane's slab, if the lane `is_waiting`. Several slabs are loaded before one is looked at.
template <class L>
HR_FN SlabView<L> look_at(const SlabTable& table, u32 slab, typename L::Key key, bool is_waiting) {
    constexpr u32 loads = 2;
    SlabView<L> result{};
    while (__ballot_sync(tile::all_lanes, is_waiting) != 0) {
        Turn turns[loads];
        tile::WordPair words[loads];
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            next_turn(is_waiting, turns[i]);
            is_waiting = is_waiting && !turns[i].is_own;
            words[i] = load_slab<load_shared>(table, tile::shuffle(slab, turns[i].source), turns[i]);
        }
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            const SlabView<L> view = view_of<L>(words[i], tile::shuffle(key, turns[i].source));
            if (turns[i].is_own) result = view;
        }
    }
    return result;
}

// A lane's operation on a key.
template <class L>
struct MixedOperation {
    MapOperation operation;
    NumberKind kind;
    NewPair<L> given;
};

// The state of a change in a list: twice its ticket, and 1 more if its key was present before it.
constexpr u32 not_done = ~0u;

// Its result. `ticket`: its place among the operations of the bucket.
template <class L>
struct MixedResult {
    OptionalValue<typename L::Value> held;
    u32 ticket;
    bool is_done;  // false if memory was missing; then nothing has changed
    bool is_added;
    bool is_erased;
};

// The state of a lane's operation on its way along the list.
template <class L>
class MixedWalk {
public:
    using Value = typename L::Value;

    __device__ MixedWalk(const SlabTable& table, u32* locks, const MixedOperation<L>& own)
        : table_(table), home_(stored_key<L>(table, own.given.key)), own_(own), lock_(locks + home_.slab) {
        slab_ = home_.slab;
    }

    __device__ typename L::Key key() const { return home_.key; }
    __device__ u32 slab() const { return slab_; }
    __device__ bool is_locked() const { return is_locked_; }
    __device__ const MixedResult<L>& result() const { return result_; }

    __device__ void lock() {
        if (!is_locked_) is_locked_ = try_lock(lock_, result_.ticket);
    }
    __device__ void unlock() const { slab::unlock(lock_, result_.ticket); }

    // Acts on its slab. Returns false when the operation has ended, or needs another slab (`is_full`).
    __device__ bool step(const SlabView<L>& seen) {
        if (empty_slot_ == no_slot && seen.empties != 0) empty_slot_ = slot_number(slab_, __ffs(seen.empties) - 1);
        if (seen.hits != 0) {
            change(__ffs(seen.hits) - 1, seen.paired);
            return false;
        }
        if (seen.next != no_slab) {
            slab_ = seen.next;
            return true;
        }
        const OptionalValue<Value> state = operate({Value{0}, false}, own_.operation, own_.kind, own_.given.value);
        is_full_ = state.is_present && empty_slot_ == no_slot;
        if (is_full_) return false;
        if (state.is_present) {
            note_key<L>(table_, home_, slab_number(empty_slot_));
            store_pair<L>(slab_of_slot(table_, empty_slot_), position_of(empty_slot_), {home_.key, state.value});
        }
        result_.is_added = state.is_present;
        result_.is_done = true;
        return false;
    }

    __device__ bool is_full() const { return is_full_; }

    // Appends a slab to the list, if there is one, and stores the pair in it.
    __device__ void append(u32 added) {
        is_full_ = false;
        if (added == no_slab) return;
        note_key<L>(table_, home_, added);
        store_pair<L>(slab_at(table_, added), 0, {home_.key, own_.given.value});
        tile::store_relaxed(next_in(slab_at(table_, slab_)), added);
        result_.is_added = result_.is_done = true;
    }

private:
    __device__ void change(u32 position, Value paired) {
        u8* const at = slab_at(table_, slab_);
        Value value = paired;
        if constexpr (L::has_values && !L::is_paired) value = tile::load_relaxed(value_in<L>(at, position));
        result_.held = {value, true};
        const OptionalValue<Value> state = operate(result_.held, own_.operation, own_.kind, own_.given.value);
        if (!state.is_present) {
            clear_slot<L>(at, position);
            result_.is_erased = true;
        } else if (L::has_values && state.value != value) {
            tile::store_relaxed(value_in<L>(at, position), state.value);
        }
        result_.is_done = true;
    }

    const SlabTable& table_;
    StoredKey<L> home_;
    MixedOperation<L> own_;
    u32* lock_;
    u32 slab_;
    Slot empty_slot_ = no_slot;
    bool is_locked_ = false;
    bool is_full_ = false;
    MixedResult<L> result_{{Value{0}, false}, ~0u, false, false, false};
};

// Runs an operation of each lane that `is_active`. `locks`: a word for each bucket and one more, 0 before the kernel.
template <class L>
HR_FN MixedResult<L> run_operation(const SlabTable& table, u32* locks, const MixedOperation<L>& operation,
                                   bool is_active) {
    MixedWalk<L> own(table, locks, operation);
    Allocator allocator(table);
    u32 pause = 64;
    while (__ballot_sync(tile::all_lanes, is_active) != 0) {
        if (is_active) own.lock();
        __syncwarp();
        const bool is_owner = is_active && own.is_locked();
        if (__ballot_sync(tile::all_lanes, is_owner) == 0) {  // all wait for locks of few buckets
            __nanosleep(pause);
            pause = pause < 1024 ? 2 * pause : pause;
            continue;
        }
        pause = 64;
        const SlabView<L> seen = look_at<L>(table, own.slab(), own.key(), is_owner);
        if (is_owner) is_active = own.step(seen);
        const bool is_full = own.is_full();
        const u32 added = allocator.allocate(is_full);
        if (is_full) own.append(added);
        __syncwarp();
        if (is_owner && !is_active) own.unlock();
    }
    return own.result();
}

}  // namespace headrace::slab
