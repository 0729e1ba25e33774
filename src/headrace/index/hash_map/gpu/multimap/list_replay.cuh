// Runs the mixed operations of one key of a multimap, in their order, without a change of the table.
//
// `erase` removes the smallest value. The key's values in the table are sorted, and a cursor is at the first one that
// is left. Values that the batch inserts are in a binary heap (Williams 1964), whose memory is a word for each row of
// the key. So an operation takes a time logarithmic in the number of rows.
//
// For example, a key has the values 3 and 8, and the batch is: insert 5, erase, erase, find. The cursor skips 3, the
// heap gives up 5, and `find` gets 8. So 5 is never inserted, and the slot of 3 is emptied.
#pragma once
#include "arrange/sort/sort_key.hpp"
#include "gpu/block/partition_point.cuh"
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/mixed_task.hpp"
#include "index/hash_map/gpu/multimap/multi_map_ref.cuh"
#include "index/hash_map/rules/map_operation.hpp"

namespace headrace::slab {

// Calls work(position) for each of some positions of a slab that this lane of the group has.
template <class Work>
HR_FN void each_own_position(u32 positions, const Work& work) {
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 position = p * group_lanes + group_lane();
        if ((positions >> position & 1) != 0) work(position);
    }
}

HR_FN Value lesser(Value a, Value b) { return b < a ? b : a; }

// A visitor of whole lists.
struct ListVisitor {
    __device__ bool goes_on() const { return true; }
};

// Finds the code of the first value, all ones for none, and the number of values.
struct FirstVisitor : ListVisitor {
    const SlabTable& table;
    const KeyRule<Value>& order;
    u64 count;
    Value code;

    __device__ void visit(u32 slab, u32 positions, u32 source) {
        Value least = static_cast<Value>(~Value{0});
        each_own_position(positions, [&](u32 position) {
            least = lesser(least, order.code(*value_in<L>(slab_at(table, slab), position)));
        });
        for (u32 distance = 1; distance < group_lanes; distance *= 2) {
            least = lesser(least, tile::shuffle(least, tile::lane() ^ distance));
        }
        if (tile::lane() != source) return;
        code = lesser(code, least);
        count += __popc(positions);
    }
};

HR_FN KeyRule<Value> order_of(NumberKind kind) {
    constexpr Value sign = static_cast<Value>(Value{1} << KeyRule<Value>::highest);
    const Value fold = kind == NumberKind::floating ? static_cast<Value>(sign - 1) : Value{0};
    return {fold, kind == NumberKind::unsigned_integer ? Value{0} : sign, Value{0}, Value{0}};
}

// The slots of some keys in the table, by key and then by value. `rows`: a row of each slot's key, ascending.
struct SortedSlots {
    const u32* rows;
    const Slot* slots;
    u64 count;  // 0 if no operation needs them
};

// Returns the position of the first slot of a row's key.
HR_FN u64 begin_of(const SortedSlots& sorted, u32 row) {
    return tile::partition_point(0, sorted.count, [&](u64 i) { return sorted.rows[i] < row; });
}

constexpr u32 no_row = ~0u;

// The rows of a batch whose values are to be inserted, as a heap: the row of the smallest value comes first.
class RowHeap {
public:
    __device__ RowHeap(u32* rows, const Value* values, const KeyRule<Value>& order)
        : rows_(rows), values_(values), order_(order) {}

    __device__ u32 size() const { return size_; }
    __device__ Value first_code() const { return code(rows_[0]); }
    __device__ void clear() { size_ = 0; }

    __device__ void push(u32 row) {
        u32 at = size_++;
        for (const Value own = code(row); at != 0 && own < code(rows_[(at - 1) / 2]); at = (at - 1) / 2) {
            rows_[at] = rows_[(at - 1) / 2];
        }
        rows_[at] = row;
    }
    __device__ u32 pop() {
        const u32 first = rows_[0], last = rows_[--size_];
        const Value own = code(last);
        u32 at = 0;
        for (u32 child = 1; child < size_; child = 2 * at + 1) {
            if (child + 1 < size_ && code(rows_[child + 1]) < code(rows_[child])) ++child;
            if (!(code(rows_[child]) < own)) break;
            rows_[at] = rows_[child];
            at = child;
        }
        rows_[at] = last;
        return first;
    }

private:
    __device__ Value code(u32 row) const { return order_.code(values_[row]); }

    u32* rows_;
    const Value* values_;
    const KeyRule<Value>& order_;
    u32 size_ = 0;
};

// The state of one key between its operations. `list`: its values in the table. `row`: its first row.
class ListReplay {
public:
    __device__ ListReplay(const FirstVisitor& list, const SortedSlots& sorted, u32 row, RowHeap heap)
        : list_(list), sorted_(sorted), heap_(heap), begin_(begin_of(sorted, row)), code_(list.code) {}

    __device__ u64 count() const { return list_.count - erased_ + heap_.size(); }
    __device__ u64 erased() const { return erased_; }
    __device__ u32 added() const { return heap_.size(); }

    // Returns the smallest value; there is one.
    __device__ Value first() const { return list_.order.key(is_held_first() ? code_ : heap_.first_code()); }

    __device__ void insert(u32 row) { heap_.push(row); }

    // Erases the smallest value. Returns the row that is not to be inserted therefore, or `no_row`.
    __device__ u32 erase() {
        if (count() == 0) return no_row;
        if (!is_held_first()) return heap_.pop();
        ++erased_;
        if (erased_ < list_.count && sorted_.count != 0) {
            const Slot slot = sorted_.slots[begin_ + erased_];
            code_ = list_.order.code(*value_in<L>(slab_of_slot(list_.table, slot), position_of(slot)));
        }
        return no_row;
    }
    __device__ void erase_all() {
        erased_ = list_.count;
        heap_.clear();
    }

private:
    __device__ bool is_held_first() const {
        return erased_ < list_.count && (heap_.size() == 0 || code_ <= heap_.first_code());
    }

    const FirstVisitor& list_;
    const SortedSlots& sorted_;
    RowHeap heap_;
    u64 begin_;
    u64 erased_ = 0;  // values of the table that are erased
    Value code_;      // that of the first value of the table that is left
};

}  // namespace headrace::slab
