#include "columns/faults/fault_collector.hpp"

#include <algorithm>
#include <utility>

#include "columns/faults/order.hpp"

namespace headrace {

u64 FaultCollector::count(u64 tile, u64 faults) {
    const std::lock_guard lock(mutex_);
    count_ += faults;
    const bool is_full = stored_ >= max_ && (blocks_.empty() || tile > blocks_.rbegin()->first);
    return is_full ? 0 : std::min(faults, max_);
}

void FaultCollector::add(FaultBlock block) {
    if (block.faults.empty()) return;
    const usize bytes = block.charged_bytes();
    budget_->charge(bytes);
    const std::lock_guard lock(mutex_);
    charged_ += bytes;
    stored_ += block.faults.size();
    const auto [place, is_new] = blocks_.try_emplace(block.tile);
    if (is_new) {
        place->second = std::move(block);
    } else {
        merge(place->second, std::move(block));
    }
    drop_surplus();
}

void FaultCollector::merge(FaultBlock& to, FaultBlock from) {
    to.tile = std::min(to.tile, from.tile);
    to.faults.insert(to.faults.end(), from.faults.begin(), from.faults.end());
    to.texts.take(std::move(from.texts));
    order_faults(to.faults);
}

// Drop the last tiles that are not needed for the first `max_` faults.
void FaultCollector::drop_surplus() {
    while (!blocks_.empty()) {
        const FaultBlock& last = blocks_.rbegin()->second;
        if (stored_ - last.faults.size() < max_) return;
        const usize bytes = last.charged_bytes();
        stored_ -= last.faults.size();
        charged_ -= bytes;
        budget_->refund(bytes);
        blocks_.erase(std::prev(blocks_.end()));
    }
}

void FaultCollector::add_raised(FaultBlock block) {
    const std::lock_guard lock(mutex_);
    if (!raised_) {
        raised_ = std::move(block);
        return;
    }
    merge(*raised_, std::move(block));
    raised_->faults.resize(1);
}

void FaultCollector::count_and_add(FaultBlock block) {
    const u64 wanted = count(block.tile, block.faults.size());
    const auto raises = [](const FaultRow& fault) { return fault.outcome == Outcome::raise; };
    const auto raised = std::find_if(block.faults.begin(), block.faults.end(), raises);
    if (raised != block.faults.end()) {
        block.faults = {FaultRow{*raised}};
        add_raised(std::move(block));
    } else {
        block.faults.resize(wanted);
        add(std::move(block));
    }
}

std::vector<FaultBlock> FaultCollector::take() {
    std::vector<FaultBlock> blocks;
    if (raised_) {
        blocks.push_back(std::move(*raised_));
    } else {
        u64 left = max_;
        for (auto& [tile, block] : blocks_) {
            if (block.faults.size() > left) block.faults.resize(left);
            left -= block.faults.size();
            blocks.push_back(std::move(block));
        }
        charged_ = 0;
    }
    refund();
    return blocks;
}

void FaultCollector::refund() noexcept {
    budget_->refund(std::exchange(charged_, 0));
    blocks_.clear();
}

}  // namespace headrace
