#include "arrange/rows/hash_rows.hpp"

#include <cstring>
#include <stdexcept>

#include "arrange/bucket/rules.hpp"
#include "core/pieces.hpp"

namespace headrace {
namespace {

constexpr u64 null_word = 0x9E3779B97F4A7C15, factor = 0xD6E8FEB86659FD93;

u64 joined(u64 hash, u64 word) { return mixed(hash * factor + word); }

template <class Value>
u64 value_at(const void* values, u64 row) {
    Value value;
    std::memcpy(&value, static_cast<const u8*>(values) + row * sizeof(Value), sizeof(Value));
    return BitsAs<Value>::of(one_of_equals(value));
}

u64 bytes_hash(const u8* bytes, u64 size) {
    u64 hash = size;
    for (; size >= 8; size -= 8, bytes += 8) {
        u64 word;
        std::memcpy(&word, bytes, 8);
        hash = joined(hash, word);
    }
    u64 last = 0;
    std::memcpy(&last, bytes, size);
    return joined(hash, last);
}

template <class Offset>
u64 text_at(const HashedColumn& column, u64 row) {
    Offset ends[2];
    std::memcpy(ends, static_cast<const u8*>(column.offsets) + row * sizeof(Offset), sizeof(ends));
    return bytes_hash(static_cast<const u8*>(column.values) + ends[0], static_cast<u64>(ends[1] - ends[0]));
}

u64 word_at(const HashedColumn& column, u64 row) {
    if (column.offsets != nullptr) return column.width == 4 ? text_at<i32>(column, row) : text_at<i64>(column, row);
    switch (column.width) {
        case 0:
            return static_cast<const u8*>(column.values)[row / 8] >> (row % 8) & 1;
        case 1:
            return value_at<u8>(column.values, row);
        case 2:
            return value_at<u16>(column.values, row);
        case 4:
            return column.is_float ? value_at<float>(column.values, row) : value_at<u32>(column.values, row);
        case 8:
            return column.is_float ? value_at<double>(column.values, row) : value_at<u64>(column.values, row);
        case 16:
            return bytes_hash(static_cast<const u8*>(column.values) + row * 16, 16);
        default:
            throw std::invalid_argument("no such width of values");
    }
}

}  // namespace

void hash_rows(const HashedColumn& column, u64 count, u64* hashes, unsigned threads) {
    const Pieces pieces(count, sizeof(u64));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) {
            const u64 row = column.first + i;
            const bool is_null = column.validity != nullptr && (column.validity[row / 8] >> (row % 8) & 1) == 0;
            hashes[i] = joined(hashes[i], is_null ? null_word : word_at(column, row));
        }
    });
}

}  // namespace headrace
