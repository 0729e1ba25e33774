// Hash maps and multimaps in host memory, for keys and values of 4 and 8 bytes. Both are 64 tables by the highest bits
// of a key's hash; each batch is distributed over them (sharded_rows.hpp). A small map is one table.
//
// Functions that change a map are not interrupted. If memory is refused, they undo all operations of the batch.
#pragma once
#include <memory>

#include "arrange/sort/sort_key.hpp"
#include "core/cpu/isa.hpp"
#include "core/cpu/memory.hpp"
#include "index/hash_map/rules/map_operation.hpp"

namespace headrace {

// Effect of a batch on the value of a key that is present. An absent key gets the value of the batch.
enum class Reduce : u32 { last, first, sum, min, max };

// Bytes of keys and values; a set has values of 0 bytes.
struct PairWidths {
    u32 key;
    u32 value;
};

struct KeyBatch {
    const void* keys;
    u64 count;
};
struct PairBatch {
    const void* keys;
    const void* values;
    u64 count;
};
// Mixed operations; the values of `find` and `erase` are ignored.
struct OperationBatch {
    const u8* operations;  // MapOperation
    PairBatch pairs;
    NumberKind kind;
};
// For each operation the value of its key before it, 0 for an absent key, and whether the key was present. `values` is
// null for sets.
struct OperationResults {
    void* values;
    u8* found;
};
// For each operation on a multimap the number of values of its key before it. For `find` and `erase` also the first one
// of these values, 0 if there is none; 0 for other operations.
struct ListResults {
    void* values;
    i64* counts;
};
struct Upsert {
    Reduce reduce;
    NumberKind kind;
};

struct TableStatistics {
    u64 size;
    u64 capacity;
    u64 bytes;
};

// The instruction set and the threads of a batch.
struct BatchResources {
    Isa isa;
    unsigned threads;
};

class HostHashMap {
public:
    virtual ~HostHashMap() = default;
    virtual void upsert(const PairBatch& batch, const Upsert& how, const BatchResources& resources) = 0;
    // Replaces values of keys that are present. found[i]: whether key i is.
    virtual void replace(const PairBatch& batch, u8* found, const BatchResources& resources) = 0;
    // found[i]: whether key i was present before its operation.
    virtual void erase(const KeyBatch& batch, u8* found, const BatchResources& resources) = 0;
    // Writes the values of keys, 0 for absent ones. `values` may be null.
    virtual void find(const KeyBatch& batch, void* values, u8* found, const BatchResources& resources) const = 0;
    // Runs mixed operations in their order.
    virtual void apply(const OperationBatch& batch, const OperationResults& results, unsigned threads) = 0;
    // Writes all pairs, in no particular order.
    virtual void items(void* keys, void* values, unsigned threads) const = 0;
    virtual void clear() = 0;
    virtual void compact(unsigned threads) = 0;
    virtual TableStatistics statistics() const = 0;
    // Returns a map with the same pairs. Both have the same budget.
    virtual std::unique_ptr<HostHashMap> copy() const = 0;
};

std::unique_ptr<HostHashMap> new_hash_map(const PairWidths& widths, const std::shared_ptr<Budget>& budget, u64 seed);

class HostMultiMap {
public:
    virtual ~HostMultiMap() = default;
    virtual void insert(const PairBatch& batch, unsigned threads) = 0;
    // Erases the pair of each key whose value is first in the order of `rule`, a KeyRule. found[i]: whether there was
    // one.
    virtual void erase(const KeyBatch& batch, const void* rule, u8* found, unsigned threads) = 0;
    // counts[i]: erased pairs of key i.
    virtual void erase_all(const KeyBatch& batch, i64* counts, unsigned threads) = 0;
    // Runs mixed operations in their order. `erase` and `find` take the value that is first in the order of `rule`.
    virtual void apply(const OperationBatch& batch, const void* rule, const ListResults& results, unsigned threads) = 0;
    virtual void count(const KeyBatch& batch, i64* counts, unsigned threads) const = 0;
    // Writes the values of key i from offsets[i] on, in the order of `rule`.
    virtual void find_all(const KeyBatch& batch, const void* rule, const i64* offsets, void* values,
                          unsigned threads) const = 0;
    virtual void items(void* keys, void* values, unsigned threads) const = 0;
    virtual void clear() = 0;
    virtual void compact(unsigned threads) = 0;
    virtual TableStatistics statistics() const = 0;
    virtual u64 key_count() const = 0;
    virtual std::unique_ptr<HostMultiMap> copy() const = 0;
};

std::unique_ptr<HostMultiMap> new_multi_map(const PairWidths& widths, const std::shared_ptr<Budget>& budget, u64 seed);

}  // namespace headrace
