#include "columns/faults/faults.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/cpu/threads/thread_pool.hpp"
#include "sources/window.hpp"

namespace headrace {

std::string_view fault_name(Fault fault) {
    switch (fault) {
        case Fault::type:
            return "type";
        case Fault::overflow:
            return "overflow";
        case Fault::encoding:
            return "encoding";
        case Fault::quote:
            return "quote";
        case Fault::unclosed_quote:
            return "unclosed_quote";
        case Fault::too_few_fields:
            return "too_few_fields";
        case Fault::too_many_fields:
            return "too_many_fields";
    }
    return "";
}

std::string type_name(const ColumnType& type) {
    std::string name;
    switch (type.id) {
#define HR_TYPE(id, text, ...) \
    case TypeId::id:           \
        name = text;           \
        break;
#include "core/types.def"
    }
    if (type.id == TypeId::decimal128) {
        return name + "(" + std::to_string(type.precision) + ", " + std::to_string(type.scale) + ")";
    }
    if (type.units_per_second == 0) return name;
    const char* unit = type.units_per_second == 1           ? "s"
                       : type.units_per_second == 1'000     ? "ms"
                       : type.units_per_second == 1'000'000 ? "us"
                                                            : "ns";
    return name + "[" + unit +
           (type.zone != nullptr ? std::string(", ") + type.zone->name + "]"
            : type.utc           ? ", UTC]"
                                 : "]");
}

namespace {

constexpr usize LINE_CHUNK = usize{1} << 20;
constexpr usize ONE_CHARACTER = 4;  // in any encoding

// Sixteen bytes, as a vector extension of GCC for every processor.
typedef u8 Bytes16 __attribute__((vector_size(16)));

Bytes16 load16(const u8* p) {
    Bytes16 bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

constexpr Bytes16 LANES16 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// Return -1 in the lanes of bytes that end a line.
auto line_ends16(const u8* text) {
    const Bytes16 bytes = load16(text);
    return (bytes == '\n') | ((bytes == '\r') & (load16(text + 1) != '\n'));
}

u64 sum16(Bytes16 bytes) {
    constexpr u64 EVEN = 0x00FF00FF00FF00FF, TO_TOP = 0x0001000100010001;
    u64 words[2];
    std::memcpy(words, &bytes, sizeof words);
    u64 sums = 0;
    for (const u64 word : words) sums += (word & EVEN) + (word >> 8 & EVEN);
    return sums * TO_TOP >> 48;
}

}  // namespace

u64 count_line_ends(const u8* text, usize size) {
    constexpr usize MAX_STEPS = 254;  // a lane counts in one byte, and the last bytes once more
    u64 count = 0;
    usize at = 0;
    while (at + 16 <= size) {
        const usize steps = std::min((size - at) / 16, MAX_STEPS);
        Bytes16 counts{};
        for (usize step = 0; step < steps; ++step, at += 16) counts -= line_ends16(text + at);
        if (size - at < 16) {  // faults lie close together, so the last bytes are not counted one by one
            counts -= line_ends16(text + size - 16) & (LANES16 >= static_cast<u8>(16 - (size - at)));
            at = size;
        }
        count += sum16(counts);
    }
    for (; at < size; ++at) count += (text[at] == '\n') | ((text[at] == '\r') & (text[at + 1] != '\n'));
    return count;
}

void number_lines(const Source& source, std::span<u64> positions, unsigned threads, u64 first) {
    if (positions.empty()) return;
    const u64 last = positions.back();
    const usize chunks = (last - first) / LINE_CHUNK + 1;
    // Each line replaces its position, so the positions of every chunk are found before.
    std::vector<usize> bounds(chunks + 1, positions.size());
    for (usize chunk = 0; chunk < chunks; ++chunk) {
        const auto from = positions.begin() + static_cast<i64>(chunk == 0 ? 0 : bounds[chunk - 1]);
        const auto found = std::lower_bound(from, positions.end(), first + chunk * LINE_CHUNK);
        bounds[chunk] = static_cast<usize>(found - positions.begin());
    }
    std::vector<u64> ends(chunks + 1, 0);
    std::atomic<usize> next{0};
    run_parallel(static_cast<unsigned>(std::min<usize>(threads, chunks)), [&](unsigned) {
        Window window(source);
        for (usize chunk = next++; chunk < chunks; chunk = next++) {
            const bool is_last = chunk + 1 == chunks;  // what follows the last position is not read
            const u64 begin = first + chunk * LINE_CHUNK, end = is_last ? last + 1 : begin + LINE_CHUNK;
            window.open(begin, end - begin, ONE_CHARACTER);
            u64 counted = 0;
            usize from = 0;
            for (usize i = bounds[chunk]; i < bounds[chunk + 1]; ++i) {
                const usize place = window.place_of(positions[i], from);
                counted += count_line_ends(window.data() + from, place - from);
                from = place;
                positions[i] = counted;
            }
            ends[chunk + 1] = is_last ? 0 : counted + count_line_ends(window.data() + from, window.owned() - from);
        }
    });
    for (usize chunk = 0; chunk < chunks; ++chunk) ends[chunk + 1] += ends[chunk];
    run_each(chunks, threads, [&](usize chunk) {
        for (usize i = bounds[chunk]; i < bounds[chunk + 1]; ++i) positions[i] += ends[chunk] + 1;
    });
}

BlockVector<u64> lines_of_faults(const Source& source, const LoadPlan& plan, const LoadResult& result) {
    const std::vector<FaultBlock>& blocks = result.faults;
    const bool are_lines = result.records_are_lines;
    std::vector<usize> places(blocks.size() + 1, 0);
    for (usize i = 0; i < blocks.size(); ++i) places[i + 1] = places[i] + blocks[i].faults.size();
    BlockVector<u64> lines(places.back());
    if (lines.empty()) return lines;
    run_each(blocks.size(), plan.threads, [&](usize i) {
        const BlockVector<FaultRow>& faults = blocks[i].faults;
        std::transform(faults.begin(), faults.end(), lines.data() + places[i],
                       [&](const FaultRow& fault) { return are_lines ? fault.record : fault.record_begin; });
    });
    if (are_lines) {
        u64 before = 0;  // line less record, which count from 1
        if (!plan.before.starts_at_line) {
            u64 line = blocks[0].faults[0].record_begin;
            number_lines(source, {&line, 1}, plan.threads, plan.before.line_begin);
            before = line - lines[0];
        }
        for (u64& one : lines) one += before;
    } else {
        number_lines(source, lines, plan.threads, plan.before.line_begin);
    }
    if (plan.before.lines != 0) {
        for (u64& line : lines) line += plan.before.lines;
    }
    return lines;
}

}  // namespace headrace
