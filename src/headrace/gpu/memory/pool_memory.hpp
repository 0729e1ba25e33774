// Memory of a pool, allocated and freed in the order of a stream.
#pragma once

#include <deque>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/portable.hpp"
#include "gpu/device/driver_functions.hpp"
#include "gpu/memory/slabs.hpp"

namespace headrace {

// Allocates memory; sets all bits of the first bytes, and clears those that follow. Returns the driver's status and the
// address.
inline std::pair<int, u64> take_filled(const CardCalls& calls, void* pool, usize n, void* stream,
                                       std::pair<usize, usize> ones_and_zeros) {
    const auto [ones, zeros] = ones_and_zeros;
    u64 result = 0;
    int status = calls.take(&result, n, pool, stream);
    if (status != 0) return {status, 0};
    if (ones != 0) status = calls.fill(result, 0xFF, ones, stream);
    if (status == 0 && zeros != 0) status = calls.fill(result + ones, 0, zeros, stream);
    if (status == 0) return {0, result};
    calls.give_back(result, stream);
    return {status, 0};
}

// Memory that is freed when the scope ends. `status` is the driver's.
class PoolMemory {
public:
    PoolMemory(const CardCalls& calls, void* pool, usize bytes, void* stream,
               std::pair<usize, usize> ones_and_zeros = {0, 0})
        : calls_(calls), stream_(stream) {
        if (bytes != 0) std::tie(status, address) = take_filled(calls, pool, bytes, stream, ones_and_zeros);
    }
    ~PoolMemory() {
        if (address != 0) calls_.give_back(address, stream_);
    }
    PoolMemory(const PoolMemory&) = delete;
    PoolMemory& operator=(const PoolMemory&) = delete;

    // Returns the address of memory that outlives the scope.
    u64 release() { return std::exchange(address, 0); }

    int status = 0;
    u64 address = 0;

private:
    const CardCalls& calls_;
    void* stream_;
};

// Buffers of a group by their sizes. The first ones have all bits set; the following ones are cleared, up to `filled`.
struct BufferSizes {
    std::vector<usize> sizes;
    usize ones, filled;
};

// The place of each buffer in slabs.
class SlabLayout {
public:
    SlabLayout(const BufferSizes& buffers, const SlabRule& rule)
        : found_(lay_out(buffers.sizes, buffers.ones, buffers.filled, rule)) {}

    const std::vector<Slab>& slabs() const { return found_.slabs; }
    const std::vector<usize>& begins() const { return found_.begins; }  // in its slab, by buffer

private:
    Slabs found_;
};

// The memory of slabs, which is freed when the scope ends. `status` is the driver's.
class SlabMemory {
public:
    SlabMemory(const CardCalls& calls, void* pool, const SlabLayout& layout, void* stream) {
        for (const Slab& slab : layout.slabs()) {
            slabs_.emplace_back(calls, pool, slab.bytes, stream, std::pair(slab.ones, slab.zeros));
            status = slabs_.back().status;
            if (status != 0) return;
            while (addresses.size() < slab.end)
                addresses.push_back(slabs_.back().address + layout.begins()[addresses.size()]);
        }
    }

    // Returns the addresses of the slabs, whose memory outlives the scope.
    std::vector<u64> release() {
        std::vector<u64> result;
        for (PoolMemory& slab : slabs_) result.push_back(slab.release());
        return result;
    }

    int status = 0;
    std::vector<u64> addresses;  // by buffer

private:
    std::deque<PoolMemory> slabs_;
};

}  // namespace headrace
