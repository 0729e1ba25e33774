#include "columns/finish/concat.hpp"

#include <algorithm>
#include <cstring>

#include "columns/finish/finish.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

constexpr u64 PIECE_ROWS = u64{1} << 20;    // a multiple of 64, so that a piece begins with a word of bits
constexpr u64 THREAD_BYTES = u64{1} << 16;  // a copy of fewer bytes takes less time than the start of a thread's work

// Some rows of a part, and their position in the result.
struct Piece {
    const JoinPart* part;
    u64 from;  // the first row, in the part
    u64 rows;
    u64 to;     // first row in the column
    u64 bytes;  // strings: offset of its text in the column
};

bool get_bit(const u64* words, u64 bit) { return words[bit / 64] >> (bit % 64) & 1; }

u64 first_bits(u64 count) { return count >= 64 ? ~u64{0} : (u64{1} << count) - 1; }

void copy_bits(const u64* from, u64 count, u64* to, u64 at) {
    for (u64 i = 0; i < count; i += 64) add_bits(to, at + i, from[i / 64] & first_bits(count - i));
}

void set_bits(u64 count, u64* to, u64 at) {
    for (u64 i = 0; i < count; i += 64) add_bits(to, at + i, first_bits(count - i));
}

u64 offset_at(const JoinPart& part, u64 row) {
    return value_bits(part.type) == 64 ? static_cast<u64>(part.offsets->as<i64>()[row])
                                       : static_cast<u64>(part.offsets->as<i32>()[row]);
}

// Return the string bytes of some rows of a part.
u64 text_bytes(const JoinPart& part, u64 from, u64 rows) {
    switch (part.what) {
        case JoinPart::What::rows:
            return offset_at(part, from + rows) - offset_at(part, from);
        case JoinPart::What::repeated:
            return rows * (offset_at(part, part.row + 1) - offset_at(part, part.row));
        case JoinPart::What::nulls:
            break;
    }
    return 0;
}

u64 nulls_of(const JoinPart& part) {
    switch (part.what) {
        case JoinPart::What::rows:
            return part.null_count;
        case JoinPart::What::repeated:
            return part.validity && !get_bit(part.validity->as<u64>(), part.row) ? part.length : 0;
        case JoinPart::What::nulls:
            break;
    }
    return part.length;
}

// One function for each layout. Each copies one piece into the column.

void join_bits(const Piece& piece, LoadedColumn& column) {
    const JoinPart& part = *piece.part;
    u64* to = column.values.as<u64>();
    if (part.what == JoinPart::What::rows) {
        copy_bits(part.values->as<u64>() + piece.from / 64, piece.rows, to, piece.to);
    } else if (part.what == JoinPart::What::repeated && get_bit(part.values->as<u64>(), part.row)) {
        set_bits(piece.rows, to, piece.to);
    }
}

void join_fixed(const Piece& piece, LoadedColumn& column) {
    const JoinPart& part = *piece.part;
    const usize width = value_bits(column.type) / 8;
    std::byte* to = column.values.data() + piece.to * width;
    if (part.what == JoinPart::What::rows) {
        std::memcpy(to, part.values->data() + piece.from * width, piece.rows * width);
    } else if (part.what == JoinPart::What::nulls) {
        std::memset(to, 0, piece.rows * width);
    } else {
        const std::byte* value = part.values->data() + part.row * width;
        for (u64 row = 0; row < piece.rows; ++row) std::memcpy(to + row * width, value, width);
    }
}

template <class Offset>
void join_strings(const Piece& piece, LoadedColumn& column) {
    const JoinPart& part = *piece.part;
    Offset* ends = column.offsets.as<Offset>() + piece.to + 1;
    std::byte* text = column.values.data() + piece.bytes;
    if (part.what == JoinPart::What::rows) {
        const u64 begin = offset_at(part, piece.from);
        std::memcpy(text, part.values->data() + begin, text_bytes(part, piece.from, piece.rows));
        for (u64 row = 0; row < piece.rows; ++row) {
            ends[row] = static_cast<Offset>(piece.bytes + offset_at(part, piece.from + row + 1) - begin);
        }
    } else if (part.what == JoinPart::What::nulls) {
        std::fill_n(ends, piece.rows, static_cast<Offset>(piece.bytes));
    } else {
        const u64 begin = offset_at(part, part.row), size = text_bytes(part, 0, 1);
        for (u64 row = 0; row < piece.rows; ++row) {
            std::memcpy(text + row * size, part.values->data() + begin, size);
            ends[row] = static_cast<Offset>(piece.bytes + (row + 1) * size);
        }
    }
}

using JoinPiece = void (*)(const Piece&, LoadedColumn&);

JoinPiece joiner_for(const ColumnType& type) {
    if (is_string(type)) return value_bits(type) == 64 ? join_strings<i64> : join_strings<i32>;
    return type.id == TypeId::boolean ? join_bits : join_fixed;
}

void join_validity(const Piece& piece, LoadedColumn& column) {
    const JoinPart& part = *piece.part;
    u64* to = column.validity.as<u64>();
    if (part.what == JoinPart::What::rows && part.validity) {
        copy_bits(part.validity->as<u64>() + piece.from / 64, piece.rows, to, piece.to);
    } else if (nulls_of(part) == 0) {
        set_bits(piece.rows, to, piece.to);
    }
}

Region region_of(usize bytes, const JoinPlan& plan, Region::Content content) {
    if (!plan.budget || !plan.budget->is_limited()) require_group_memory(bytes);
    Region region(bytes, plan.budget, content);
    region.ensure(bytes);
    return region;
}

Region bits_region(u64 bits, const JoinPlan& plan) {
    return region_of((bits + 63) / 64 * 8, plan, Region::Content::zero);
}

}  // namespace

Joined join_parts(const std::vector<JoinPart>& parts, const JoinPlan& plan) {
    const bool strings = is_string(plan.type);
    std::vector<Piece> pieces;
    u64 rows = 0, bytes = 0;
    Joined joined;
    LoadedColumn& column = joined.column;
    column.type = plan.type;
    for (const JoinPart& part : parts) {
        for (u64 from = 0; from < part.length; from += PIECE_ROWS) {
            const u64 count = std::min(PIECE_ROWS, part.length - from);
            pieces.push_back({&part, from, count, rows + from, bytes});
            if (strings) bytes += text_bytes(part, from, count);
        }
        rows += part.length;
        column.null_count += nulls_of(part);
    }
    if (strings && bytes > plan.max_small_text) column.type.id = large_form(column.type.id);
    const usize bits = value_bits(column.type);
    if (strings) {
        column.values = region_of(bytes, plan, Region::Content::any);
        column.offsets = region_of((rows + 1) * bits / 8, plan, Region::Content::any);
        std::memset(column.offsets.data(), 0, bits / 8);
    } else {
        column.values = bits == 1 ? bits_region(rows, plan) : region_of(rows * bits / 8, plan, Region::Content::any);
    }
    const bool has_validity = column.null_count != 0 && column.type.id != TypeId::null;
    if (has_validity) column.validity = bits_region(rows, plan);
    const JoinPiece join_piece = joiner_for(column.type);
    const u64 useful_threads = std::min<u64>(pieces.size(), (rows * bits / 8 + bytes) / THREAD_BYTES);
    const u64 threads = std::clamp<u64>(useful_threads, 1, plan.threads);
    run_each(pieces.size(), static_cast<unsigned>(threads), [&](usize i) {
        join_piece(pieces[i], column);
        if (has_validity) join_validity(pieces[i], column);
    });
    if (bits == 1) column.values.trim((rows + 7) / 8);
    if (has_validity) column.validity.trim((rows + 7) / 8);
    if (plan.shrink) joined.deciding_row = shrink_column(column, rows);
    return joined;
}

}  // namespace headrace
