// Concatenates columns of several tables, as concat.cpp does on the host. Grid dimension x has one element for each
// part.
//
// Bytes moved: each once in and once out.
#include "columns/finish/gpu/concat_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

HR_FN u64 first_item() { return u64{blockIdx.y} * threads + threadIdx.x; }
HR_FN u64 stride() { return u64{gridDim.y} * threads; }

template <class T>
HR_FN void copy_items(const u8* from, u8* to, u64 first, u64 count) {
    for (u64 i = first_item(); i < count; i += stride()) {
        reinterpret_cast<T*>(to)[first + i] = reinterpret_cast<const T*>(from)[i];
    }
}

// Copies string views. Those of texts of more than 12 bytes have the number of a buffer, which counts from the first
// part.
HR_FN void copy_views(const JoinedPart& part, u8* to) {
    for (u64 i = first_item(); i < part.rows; i += stride()) {
        uint4 view = reinterpret_cast<const uint4*>(part.values)[i];
        if (view.x > 12) view.z += part.buffers_before;
        reinterpret_cast<uint4*>(to)[part.to + i] = view;
    }
}

// Returns bits [32 i, 32 i + 32) of `count`. The buffer may end after the byte of the last one.
HR_FN u32 word_at(const u32* from, u64 i, u64 count) {
    if (32 * i + 32 <= count) return from[i];
    u32 bits = 0;
    for (u32 k = 0; 32 * i + 8 * k < count; ++k) bits |= u32{reinterpret_cast<const u8*>(from)[4 * i + k]} << (8 * k);
    return bits;
}

// Copies bits; adjacent parts may share a word. `from` is null if all bits are one.
HR_FN void copy_bits(const u32* from, u32* to, u64 first, u64 count) {
    for (u64 i = first_item(); 32 * i < count; i += stride()) {
        const u32 bits = (from == nullptr ? ~0u : word_at(from, i, count)) & low_mask(count - 32 * i);
        const u64 at = first + 32 * i;
        const u32 shift = static_cast<u32>(at % 32);
        if (bits << shift != 0) atomicOr(&to[at / 32], bits << shift);
        if (shift != 0 && bits >> (32 - shift) != 0) atomicOr(&to[at / 32 + 1], bits >> (32 - shift));
    }
}

HR_FN u64 offset_at(const JoinedPart& part, u64 row) {
    return part.width == 8 ? reinterpret_cast<const u64*>(part.offsets)[row]
                           : reinterpret_cast<const u32*>(part.offsets)[row];
}

HR_FN void copy_offsets(const JoinedPart& part, const JoinedColumn& column) {
    for (u64 row = first_item(); row <= part.rows; row += stride()) {
        const u64 offset = part.to_bytes + (part.is_rows ? offset_at(part, row) : 0);
        if (column.width == 8) {
            reinterpret_cast<u64*>(column.offsets)[part.to + row] = offset;
        } else {
            reinterpret_cast<u32*>(column.offsets)[part.to + row] = static_cast<u32>(offset);
        }
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    join_parts(const JoinedPart* parts, const __grid_constant__ JoinedColumn column) {
    const JoinedPart part = parts[blockIdx.x];
    if (column.strings) copy_offsets(part, column);
    if (!part.is_rows) return;
    copy_bits(part.validity, column.validity, part.to, part.rows);
    if (column.strings) return copy_items<u8>(part.values, column.values, part.to_bytes, part.bytes);
    if (column.views) return copy_views(part, column.values);
    switch (column.width) {
        case 0:
            if (part.values != nullptr) {
                copy_bits(reinterpret_cast<const u32*>(part.values), reinterpret_cast<u32*>(column.values), part.to,
                          part.rows);
            }
            return;
        case 1:
            return copy_items<u8>(part.values, column.values, part.to, part.rows);
        case 2:
            return copy_items<u16>(part.values, column.values, part.to, part.rows);
        case 4:
            return copy_items<u32>(part.values, column.values, part.to, part.rows);
        case 8:
            return copy_items<u64>(part.values, column.values, part.to, part.rows);
        case 16:
            return copy_items<uint4>(part.values, column.values, part.to, part.rows);
    }
}
