// Loads and stores one item of a column of any width.
#pragma once
#include "arrange/sort/gpu/common/device_plan.cuh"

namespace headrace {

// Loads an item; without a source, the row number.
HR_FN uint4 item_of(const MovedColumn& moved, u32 row) {
    uint4 item = {row, 0, 0, 0};
    if (moved.source == nullptr) return item;
    if (moved.width == 1) item.x = static_cast<const u8*>(moved.source)[row];
    if (moved.width == 2) item.x = static_cast<const u16*>(moved.source)[row];
    if (moved.width == 4) item.x = static_cast<const u32*>(moved.source)[row];
    if (moved.width == 8) {
        const u64 word = static_cast<const u64*>(moved.source)[row];
        item.x = static_cast<u32>(word);
        item.y = static_cast<u32>(word >> 32);
    }
    if (moved.width == 16) item = static_cast<const uint4*>(moved.source)[row];
    return item;
}

HR_FN void put_item(const MovedColumn& moved, u32 at, const uint4& item) {
    if (moved.width == 1) static_cast<u8*>(moved.target)[at] = static_cast<u8>(item.x);
    if (moved.width == 2) static_cast<u16*>(moved.target)[at] = static_cast<u16>(item.x);
    if (moved.width == 4) static_cast<u32*>(moved.target)[at] = item.x;
    if (moved.width == 8) static_cast<u64*>(moved.target)[at] = static_cast<u64>(item.y) << 32 | item.x;
    if (moved.width == 16) static_cast<uint4*>(moved.target)[at] = item;
}

// Whether source and target are one buffer. Then all blocks must have read it before one writes.
HR_FN bool in_place(const MovedColumn& moved) { return moved.source == moved.target; }

}  // namespace headrace
