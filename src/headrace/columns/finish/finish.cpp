#include "columns/finish/finish.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <tuple>

#include "columns/faults/locate.hpp"
#include "columns/faults/order.hpp"
#include "core/cpu/thread_pool.hpp"

namespace headrace {
namespace {

// Rows that value faults take out, ascending.
std::vector<u64> rejected_rows(const std::deque<FaultRow>& faults) {
    std::vector<u64> rows;
    for (const FaultRow& fault : faults) {
        const bool stands = fault.column != NO_COLUMN && fault.outcome == Outcome::reject;
        if (stands && (rows.empty() || rows.back() != fault.row)) rows.push_back(fault.row);
    }
    return rows;
}

// Rows among them that lack fields.
u64 removed_short_rows(const std::deque<FaultRow>& faults) {
    u64 count = 0, last = 0;
    for (const FaultRow& fault : faults) {
        if (!fault.in_short_row || fault.outcome != Outcome::reject || fault.record == last) continue;
        last = fault.record;
        ++count;
    }
    return count;
}

u64 rejected_records(const std::deque<FaultRow>& faults) {
    u64 records = 0, last = 0;
    for (const FaultRow& fault : faults) {
        if (fault.outcome == Outcome::keep || fault.record == last) continue;
        last = fault.record;
        ++records;
    }
    return records;
}

// Calls keep(from, count, to) for each run of rows between removed ones.
template <class Keep>
void for_each_kept_run(const std::vector<u64>& removed, u64 rows, Keep keep) {
    u64 to = 0, from = 0;
    for (usize i = 0; i <= removed.size(); ++i) {
        const u64 end = i < removed.size() ? removed[i] : rows;
        if (end > from) keep(from, end - from, to);
        to += end - from;
        from = end + 1;
    }
}

// Bits of the last row's word behind that row become 0, so that equal columns are equal bytes.
void clear_behind(u64* words, u64 rows) {
    if (rows % 64 != 0) words[rows / 64] &= (u64{1} << (rows % 64)) - 1;
}

void remove_bits(Region& region, const std::vector<u64>& removed, u64 rows) {
    u64* words = region.as<u64>();
    for_each_kept_run(removed, rows, [&](u64 from, u64 count, u64 to) {
        if (from == to) return;
        for (u64 i = 0; i < count; ++i) {
            const u64 bit = words[(from + i) / 64] >> ((from + i) % 64) & 1;
            u64& word = words[(to + i) / 64];
            word = (word & ~(u64{1} << ((to + i) % 64))) | bit << ((to + i) % 64);
        }
    });
    clear_behind(words, rows - removed.size());
}

void remove_values(Region& region, usize width, const std::vector<u64>& removed, u64 rows) {
    std::byte* data = region.data();
    for_each_kept_run(removed, rows, [&](u64 from, u64 count, u64 to) {
        std::memmove(data + to * width, data + from * width, count * width);
    });
}

template <class Offset>
void remove_strings(LoadedColumn& column, const std::vector<u64>& removed, u64 rows) {
    Offset* offsets = column.offsets.as<Offset>();
    std::byte* bytes = column.values.data();
    Offset end = 0;
    for_each_kept_run(removed, rows, [&](u64 from, u64 count, u64 to) {
        const Offset begin = offsets[from];
        const Offset size = offsets[from + count] - begin;
        std::memmove(bytes + end, bytes + begin, static_cast<usize>(size));
        for (u64 i = 0; i <= count; ++i) offsets[to + i] = offsets[from + i] - begin + end;
        end += size;
    });
    offsets[rows - removed.size()] = end;
    column.values.trim(static_cast<usize>(end));
}

void remove_rows(LoadedColumn& column, const std::vector<u64>& removed, u64 rows) {
    const u64 kept = rows - removed.size();
    if (column.null_count > 0) {
        const u64* nulls = column.validity.as<u64>();
        for (const u64 row : removed) column.null_count -= nulls[row / 64] >> (row % 64) & 1;
        remove_bits(column.validity, removed, rows);
    }
    const usize bits = value_bits(column.type);
    if (is_string(column.type)) {
        if (bits == 64) {
            remove_strings<i64>(column, removed, rows);
        } else {
            remove_strings<i32>(column, removed, rows);
        }
        column.offsets.trim((kept + 1) * bits / 8);
    } else {
        if (bits == 1) {
            remove_bits(column.values, removed, rows);
        } else {
            remove_values(column.values, bits / 8, removed, rows);
        }
        column.values.trim((kept * bits + 7) / 8);
    }
}

// Null marks (bit 1: null) to Arrow's validity (bit 1: a value); bits behind the last row are 0.
void make_validity(LoadedColumn& column, u64 rows) {
    // A column of type null has no validity: there is nothing to say.
    if (column.null_count == 0 || column.type.id == TypeId::null) {
        column.validity = Region{};
        return;
    }
    u64* words = column.validity.as<u64>();
    for (usize i = 0; i * 64 < rows; ++i) words[i] = ~words[i];
    clear_behind(words, rows);
    column.validity.trim((rows + 7) / 8);
}

// Values to a narrower type in place: the place of a value never lies behind where it was.
template <class From, class To>
void narrow(Region& region, u64 rows) {
    std::byte* data = region.data();
    for (u64 row = 0; row < rows; ++row) {
        From wide;
        std::memcpy(&wide, data + row * sizeof(From), sizeof(From));
        const To value = static_cast<To>(wide);
        std::memcpy(data + row * sizeof(To), &value, sizeof(To));
    }
    region.trim(rows * sizeof(To));
}

template <class To>
bool fits(i64 low, i64 high) {
    return low >= static_cast<i64>(std::numeric_limits<To>::min()) &&
           high <= static_cast<i64>(std::numeric_limits<To>::max());
}

// The narrowest type that holds integers from `low` to `high`.
TypeId narrowest(i64 low, i64 high) {
    if (fits<i8>(low, high)) return TypeId::int8;
    if (fits<u8>(low, high)) return TypeId::uint8;
    if (fits<i16>(low, high)) return TypeId::int16;
    if (fits<u16>(low, high)) return TypeId::uint16;
    if (fits<i32>(low, high)) return TypeId::int32;
    if (fits<u32>(low, high)) return TypeId::uint32;
    return TypeId::int64;
}

void narrow_to(LoadedColumn& column, TypeId id, u64 rows) {
    switch (id) {
        case TypeId::int8:
            narrow<i64, i8>(column.values, rows);
            break;
        case TypeId::uint8:
            narrow<i64, u8>(column.values, rows);
            break;
        case TypeId::int16:
            narrow<i64, i16>(column.values, rows);
            break;
        case TypeId::uint16:
            narrow<i64, u16>(column.values, rows);
            break;
        case TypeId::int32:
            narrow<i64, i32>(column.values, rows);
            break;
        case TypeId::uint32:
            narrow<i64, u32>(column.values, rows);
            break;
        default:
            return;
    }
    column.type.id = id;
}

// Nulls are zero in memory, which every type holds. Returns the first row by which the type was settled: rows up to it
// need it, or NO_ROW where the first value of all did.
u64 shrink_int(LoadedColumn& column, u64 rows) {
    const i64* values = column.values.as<i64>();
    const auto [least, most] = std::minmax_element(values, values + rows);
    const TypeId id = rows == 0 ? TypeId::int8 : narrowest(*least, *most);
    u64 settled = NO_ROW;
    i64 low = 0, high = 0;
    for (u64 row = 0; row < rows && id != TypeId::int8; ++row) {
        low = std::min(low, values[row]);
        high = std::max(high, values[row]);
        if (narrowest(low, high) != id) continue;
        settled = row;
        break;
    }
    narrow_to(column, id, rows);
    return settled;
}

u64 shrink_float(LoadedColumn& column, u64 rows) {
    const double* values = column.values.as<double>();
    const double* const inexact = std::find_if(values, values + rows, [](double value) {
        return value == value && static_cast<double>(static_cast<float>(value)) != value;
    });
    if (inexact != values + rows) return static_cast<u64>(inexact - values);
    narrow<double, float>(column.values, rows);
    column.type.id = TypeId::float32;
    return NO_ROW;
}

// Returns the row that settled a shrunk column's type, or NO_ROW.
u64 finish_column(const LoadPlan& plan, usize c, LoadedColumn& column, u64 rows) {
    make_validity(column, rows);
    const TypeId id = column.type.id;
    if (small_form(id) != id && column.values.size() <= 0x7FFFFFFF && plan.columns[c].type.id != id) {
        narrow<i64, i32>(column.offsets, rows + 1);
        column.type.id = small_form(id);
    }
    if (!plan.shrink || !plan.columns[c].inferred) return NO_ROW;
    return shrink_column(column, rows);
}

// No more memory than the values need, of what is one of many: there may be thousands of files, and of parts.
void fit(LoadedColumn& column) {
    for (Region* region : {&column.values, &column.offsets, &column.validity}) region->fit();
}

// Columns that are more than looked at: a thread for each is worth its waking.
usize columns_with_work(const std::vector<LoadedColumn>& columns, bool all, bool is_shared) {
    return static_cast<usize>(std::count_if(columns.begin(), columns.end(), [&](const LoadedColumn& column) {
        const bool is_copied = is_shared && (column.values.is_loose() || column.offsets.is_loose());
        return all || is_copied || column.null_count != 0 || small_form(column.type.id) != column.type.id;
    }));
}

// Which record each row is: the rows' numbers, and one more for each record rejected before.
LoadedColumn make_row_index(const LoadResult& result, i64 first, u64 rows) {
    LoadedColumn column;
    column.type.id = TypeId::int64;
    column.values = Region(rows * 8, result.budget);
    column.values.ensure(rows * 8);
    i64* const values = column.values.as<i64>();
    auto fault = result.faults.begin();
    u64 record = 0;
    for (u64 row = 0; row < rows; ++row, ++record) {
        for (; fault != result.faults.end() && fault->record <= record + 1; ++fault) {
            const bool next = fault + 1 == result.faults.end() || (fault + 1)->record != fault->record;
            if (fault->outcome == Outcome::reject && next) ++record;
        }
        values[row] = first + static_cast<i64>(record);
    }
    column.values.trim(rows * 8);
    return column;
}

}  // namespace

u64 shrink_column(LoadedColumn& column, u64 rows) {
    if (column.type.id == TypeId::int64) return shrink_int(column, rows);
    return column.type.id == TypeId::float64 ? shrink_float(column, rows) : NO_ROW;
}

void finish_result(const Source& source, const Dialect& dialect, const LoadPlan& plan, bool is_shared,
                   LoadResult& result) {
    const auto start = std::chrono::steady_clock::now();
    order_faults(result.faults);
    result.rejected = rejected_records(result.faults);
    result.raised = std::any_of(result.faults.begin(), result.faults.end(),
                                [](const FaultRow& fault) { return fault.outcome == Outcome::raise; });
    if (result.raised) return;
    reject_whole_records(result.faults);
    result.counts.filled -= removed_short_rows(result.faults);
    const std::vector<u64> removed = rejected_rows(result.faults);
    const u64 rows = result.counts.rows - removed.size();
    std::vector<u64> settled(result.columns.size(), NO_ROW);
    std::atomic<usize> next{0};
    const bool all = plan.shrink || !removed.empty();
    const usize threads = std::min<usize>(plan.threads, columns_with_work(result.columns, all, is_shared));
    run_parallel(static_cast<unsigned>(threads), [&](unsigned) {
        for (usize c = next++; c < result.columns.size(); c = next++) {
            if (!plan.columns[c].wanted) continue;
            if (!removed.empty()) remove_rows(result.columns[c], removed, result.counts.rows);
            settled[c] = finish_column(plan, c, result.columns[c], rows);
            if (is_shared) fit(result.columns[c]);
        }
    });
    if (plan.row_index) result.row_index = make_row_index(result, *plan.row_index, rows);
    result.counts.rows = rows;
    if (plan.shrink) locate_evidence(source, dialect, plan, settled, result);
    result.seconds.finish = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace headrace
