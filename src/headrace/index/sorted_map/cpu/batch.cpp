#include <algorithm>
#include <vector>

#include "arrange/gather/widths.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"

namespace headrace {

void reverse_batch(const MapBatch& batch, const NewLevel& to, unsigned threads) {
    const u64 count = batch.keys.count;
    with_width<u32, u64>(batch.keys.width, [&]<class Code>(Code) {
        const Code* const keys = static_cast<const Code*>(batch.keys.keys);
        Code* const codes = static_cast<Code*>(to.codes);
        const KeyRule<Code> rule = *static_cast<const KeyRule<Code>*>(batch.keys.rule);
        const Pieces pieces(count, sizeof(Code) + batch.value_width);
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
            for (u64 i = begin; i < end; ++i) {
                const u64 place = count - 1 - i;
                codes[place] = rule.equal_code(keys[i]);
                if (to.values != nullptr && batch.values == nullptr) clear_value(to.values, place, batch.value_width);
                if (batch.values != nullptr) copy_value(batch.values, i, to.values, place, batch.value_width);
                if (to.tombstones == nullptr) continue;
                to.tombstones[place] = batch.deletes == nullptr ? 1 : status_of(batch.mixed, batch.deletes[i] != 0);
            }
        });
    });
}

void merge_small_batch(const MapBatch& batch, const MapLevels& older, const NewLevel& to, unsigned threads) {
    const u64 count = batch.keys.count;
    with_width<u32, u64>(batch.keys.width, [&]<class Code>(Code) {
        struct Item {
            Code code;
            u32 row;
        };
        const Code* const keys = static_cast<const Code*>(batch.keys.keys);
        const KeyRule<Code> rule = *static_cast<const KeyRule<Code>*>(batch.keys.rule);
        std::vector<Item> items(count);
        for (u32 row = 0; row < count; ++row) items[row] = {rule.equal_code(keys[row]), row};
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
            return a.code != b.code ? a.code < b.code : a.row > b.row;  // the last of equal keys is first
        });
        std::vector<Code> codes(count);
        std::vector<u64> values(count);
        for (u64 i = 0; i < count; ++i) {
            codes[i] = items[i].code;
            copy_value(batch.values, items[i].row, values.data(), i, batch.value_width);
        }
        MapLevels levels = older;
        std::copy_n(older.level, older.count, levels.level + 1);
        levels.level[0] = MapLevel{codes.data(), values.data(), nullptr, nullptr, count, 0, nullptr};
        ++levels.count;
        merge_levels(levels, batch.keys.width, to, threads);
    });
}

void mark_deleted(const MapLevel& sorted, unsigned code_width, u8* tombstones, unsigned threads) {
    with_width<u32, u64>(code_width, [&]<class Code>(Code) {
        const Code* const codes = codes_of<Code>(sorted);
        const u8* const statuses = sorted.tombstones;
        const Pieces pieces(sorted.count, sizeof(Code));
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
            u64 first = begin < end ? begin_of_run(codes, begin + 1) : begin;
            for (u64 i = begin; i < end; ++i) {
                if (codes[i] != codes[first]) first = i;
                if ((statuses[i] & 1) == 0) continue;
                // Threads of two pieces may mark one run.
                std::atomic_ref(tombstones[tombstone_of(statuses, first, i)]).store(1, std::memory_order_relaxed);
            }
        });
    });
}

void keys_of_codes(const MapKeys& codes, void* keys, unsigned threads) {
    with_width<u32, u64>(codes.width, [&]<class Code>(Code) {
        const Code* const from = static_cast<const Code*>(codes.keys);
        const KeyRule<Code> rule = *static_cast<const KeyRule<Code>*>(codes.rule);
        const Pieces pieces(codes.count, sizeof(Code));
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
            for (u64 i = begin; i < end; ++i) static_cast<Code*>(keys)[i] = key_of(rule, from[i]);
        });
    });
}

}  // namespace headrace
