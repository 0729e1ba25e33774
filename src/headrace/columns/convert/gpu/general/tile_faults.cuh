// Reports faults of fields and records, and kinds of text that a column's guess does not cover. All of this is rare, so
// the functions are not inlined.
#pragma once

#include "columns/convert/gpu/fast/fault_list.cuh"
#include "columns/convert/gpu/general/tile_fields.cuh"
#include "columns/rules/fault.hpp"

namespace headrace {

// Returns whether a record's fields are not converted: it is rejected, or follows the first record whose fault is
// raised.
HR_COLD bool is_not_converted(const ConvertTask& task, u64 record) {
    if (record > task.last_record) return true;
    u64 low = 0, high = task.rejected_count;
    while (low < high) {
        const u64 middle = (low + high) / 2;
        if (task.rejected[middle] < record) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < task.rejected_count && task.rejected[low] == record;
}

HR_FN void report(const ConvertMemory& memory, const ConvertTask& task, const FieldFault& fault) {
    list_fault({memory.faults, memory.totals_of_text, task.fault_capacity, task.last_record, task.raise_mask, 0},
               fault);
}

// Leaves a field to the host, unless its record's fields are not converted.
HR_COLD void defer(const ConvertMemory& memory, const ConvertTask& task, FieldFault fault) {
    if (is_not_converted(task, fault.record)) return;
    fault.kind = FAULT_DEFERRED;
    report(memory, task, fault);
}

// Returns the begin of the record that contains staged byte `at`.
HR_COLD u64 record_begin_of(const ConvertMemory& memory, const PlainDialect& dialect, i32 at) {
    const ConvertTile& tile = memory.tile;
    if constexpr (by_dfa) {
        const u32 begin = at < static_cast<i32>(tile.begin) ? 0 : last_start(memory, static_cast<u32>(at), 0);
        return begin == 0 ? tile.entry.record_begin : tile_position(tile, begin);
    }
    if (at >= static_cast<i32>(tile.begin)) {
        u32 word = static_cast<u32>(at) / 32;
        u32 bits = word < chunks ? memory.records[word] & low_mask(static_cast<u32>(at) % 32) : 0;
        while (bits == 0 && word > head_chunks) bits = memory.records[--word];
        if (bits != 0) {
            const u32 end = 32 * word + 31 - static_cast<u32>(__clz(static_cast<int>(bits)));
            return tile_position(tile, skip_line_ends(memory, dialect, tile, end + 1));
        }
    }
    if (tile.entry.open) return tile.entry.record_begin;
    return tile_position(tile, skip_line_ends(memory, dialect, tile, tile.begin));
}

// Records the first position at which a kind was seen that the column's guess does not cover.
HR_COLD void record_kind(const ConvertTask& task, const ConvertColumn& column, u32 kind, u64 position, u64 record) {
    u64* const known = column.sightings + kind;
    if (position >= tile::load_relaxed(known) || is_not_converted(task, record)) return;
    atomicMin(known, position);
    atomicMin(known + SIGHTINGS, record);
}

// Reports malformed quotes in a thread's words, the first of each record.
HR_COLD void report_malformed_quotes(const ConvertMemory& memory, const ConvertTask& task, const ThreadMasks& own) {
    const ConvertTile& tile = memory.tile;
    u64 record = tile.entry.record + own.records_before, last_reported = ~u64{0};
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        for (u32 left = own.malformed[i]; left != 0; left &= left - 1) {
            const u32 bit = left & (0 - left);
            const u32 at = 32 * (own.first + i) + 31 - static_cast<u32>(__clz(static_cast<int>(bit)));
            // A line end belongs to the record that it ends.
            const u64 of = record + static_cast<u32>(__popc(own.records[i] & (bit - 1)));
            if (of == last_reported) continue;
            last_reported = of;
            const u64 begin = record_begin_of(memory, task.dialect, static_cast<i32>(at));
            const u64 position = tile_position(tile, at);
            report(memory, task, {of, begin, begin, 0, position, NO_FIELD, static_cast<u32>(Fault::quote)});
        }
        record += static_cast<u32>(__popc(own.records[i]));
    }
}

// Reports records of an irregular tile's window that have too few or too many fields. `counts`: counts filled ones,
// too.
HR_COLD void report_records(const ConvertMemory& memory, const ConvertTask& task, bool counts) {
    const ConvertTile& tile = memory.tile;
    const FieldWindow& window = memory.window;
    for (u32 k = threadIdx.x; k < window.records; k += threads) {
        const u32 last = memory.last_fields[k];
        const u32 fields = k == 0 ? window.column + last + 1 : last - memory.last_fields[k - 1];
        const bool is_short = fields < task.base;
        const bool few = is_short && !(task.record_flags & RECORDS_FILL_SHORT);
        const bool many = fields > task.width;
        if (is_short && !few && counts) atomicAdd(&memory.totals_of_text->filled, u64{1});
        if (!few && !many) continue;
        const u32 end = end_of_field(memory, task, memory.places[last + 1]);
        const u64 record = tile.entry.record + window.records_before + k;
        const u64 begin = record_begin_of(memory, task.dialect, static_cast<i32>(end));
        const u64 stop = tile_position(tile, end);
        const u32 kind = few                                          ? static_cast<u32>(Fault::too_few_fields)
                         : (task.record_flags & RECORDS_COLLECT_LONG) ? FAULT_COLLECTED
                                                                      : static_cast<u32>(Fault::too_many_fields);
        report(memory, task, {record, begin, begin, stop, few ? stop : begin, NO_FIELD, kind});
    }
}

}  // namespace headrace
