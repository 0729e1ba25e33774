// Collects the faults of a load from several threads, a tile at a time. It keeps the first faults, as many as the plan
// lists at most, whatever the order in which tiles arrive. A tile is dropped once the preceding ones have that many.
// All faults are counted.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "columns/buffers/fault_block.hpp"
#include "columns/plan/load_plan.hpp"
#include "core/cpu/memory.hpp"

namespace headrace {

class FaultCollector {
public:
    FaultCollector(const LoadPlan& plan, std::shared_ptr<Budget> budget)
        : max_(plan.max_rejects), budget_(std::move(budget)) {}
    ~FaultCollector() { refund(); }
    FaultCollector(const FaultCollector&) = delete;
    FaultCollector& operator=(const FaultCollector&) = delete;

    // Count the faults of a tile. Return how many of its first faults to add.
    u64 count(u64 tile, u64 faults);

    // Add the first faults of a tile, ordered. Later passes may add further ones of the same tile.
    void add(FaultBlock block);

    // Add a fault whose outcome is `raise`. Of several, the first by record is kept.
    void add_raised(FaultBlock block);

    // Count all faults of a tile, ordered, and add those that are needed.
    void count_and_add(FaultBlock block);

    u64 count() const { return count_; }

    // Return the faults by tile, or only the first fault that raises. Their memory remains charged: the table of
    // rejects replaces them.
    std::vector<FaultBlock> take();
    bool has_raised() const { return raised_.has_value(); }

private:
    void merge(FaultBlock& to, FaultBlock from);
    void drop_surplus();
    void refund() noexcept;

    const u64 max_;
    const std::shared_ptr<Budget> budget_;
    std::mutex mutex_;
    std::map<u64, FaultBlock> blocks_;  // by tile
    std::optional<FaultBlock> raised_;
    u64 count_ = 0, stored_ = 0;
    usize charged_ = 0;
};

}  // namespace headrace
