#include "columns/finish/finish.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "columns/faults/locate.hpp"
#include "columns/faults/rejected_records.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

// Clear the bits after the last row, so that equal columns have equal bytes.
void clear_after(u64* words, u64 rows) {
    if (rows % 64 != 0) words[rows / 64] &= (u64{1} << (rows % 64)) - 1;
}

// Turn null marks (bit 1: null) into Arrow's validity (bit 1: valid). Bits after the last row are 0.
void make_validity(LoadedColumn& column, u64 rows) {
    // A column of type null has no validity bitmap.
    if (column.null_count == 0 || column.type.id == TypeId::null) {
        column.validity = Region{};
        return;
    }
    u64* words = column.validity.as<u64>();
    for (usize i = 0; i * 64 < rows; ++i) words[i] = ~words[i];
    clear_after(words, rows);
    column.validity.trim((rows + 7) / 8);
}

// Convert values to a narrower type in place. A value never moves to a higher address.
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

struct NarrowType {
    TypeId id;
    bool (*fits)(i64 low, i64 high);
    void (*narrow)(Region& region, u64 rows);
};

// The first that fits is the narrowest.
constexpr NarrowType NARROW_TYPES[] = {
    {TypeId::int8, fits<i8>, narrow<i64, i8>},      {TypeId::uint8, fits<u8>, narrow<i64, u8>},
    {TypeId::int16, fits<i16>, narrow<i64, i16>},   {TypeId::uint16, fits<u16>, narrow<i64, u16>},
    {TypeId::int32, fits<i32>, narrow<i64, i32>},   {TypeId::uint32, fits<u32>, narrow<i64, u32>},
    {TypeId::int64, fits<i64>, [](Region&, u64) {}}};

const NarrowType& narrowest(i64 low, i64 high) {
    return *std::find_if(std::begin(NARROW_TYPES), std::end(NARROW_TYPES),
                         [&](const NarrowType& type) { return type.fits(low, high); });
}

// Shrink a column of int64. Nulls are zero in memory, which every type can represent. Return the first row that decides
// the type, which the rows up to it need, or NO_ROW for the smallest type.
u64 shrink_int(LoadedColumn& column, u64 rows) {
    const i64* values = column.values.as<i64>();
    const auto [least, most] = std::minmax_element(values, values + rows);
    const NarrowType& type = rows == 0 ? NARROW_TYPES[0] : narrowest(*least, *most);
    u64 deciding_row = NO_ROW;
    i64 low = 0, high = 0;
    for (u64 row = 0; row < rows && type.id != TypeId::int8; ++row) {
        if (low <= values[row] && values[row] <= high) continue;
        low = std::min(low, values[row]);
        high = std::max(high, values[row]);
        if (&narrowest(low, high) != &type) continue;
        deciding_row = row;
        break;
    }
    type.narrow(column.values, rows);
    column.type.id = type.id;
    return deciding_row;
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

// Finish a column. Return the row that decided its shrunk type, or NO_ROW.
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

// Release memory that the values do not need. There may be thousands of files or parts.
void fit(LoadedColumn& column) {
    for (Region* region : {&column.values, &column.offsets, &column.validity}) region->fit();
}

// Return the number of columns with work to do, each of which justifies a thread. `all`: every column has.
usize columns_with_work(const std::vector<LoadedColumn>& columns, bool all, bool is_shared) {
    return static_cast<usize>(std::count_if(columns.begin(), columns.end(), [&](const LoadedColumn& column) {
        const bool is_copied = is_shared && (column.values.is_loose() || column.offsets.is_loose());
        return all || is_copied || column.null_count != 0 || small_form(column.type.id) != column.type.id;
    }));
}

// Return the numbers of the records that are no rows, ascending.
std::vector<u64> records_without_row(const LoadResult& result) {
    std::vector<u64> records;
    const auto append = [&](const std::vector<RejectedRecords>& tiles) {
        for (const RejectedRecords& tile : tiles) {
            for_each_bit(tile.bits, [&](usize i) { records.push_back(tile.first + i); });
        }
    };
    append(result.rejected_records);
    const auto middle = static_cast<std::ptrdiff_t>(records.size());
    append(result.left_out_records);
    std::inplace_merge(records.begin(), records.begin() + middle, records.end());
    return records;
}

// Return the index of each row's record: the row's number plus the number of records without a row before it.
LoadedColumn make_row_index(const LoadResult& result, i64 first, u64 rows) {
    LoadedColumn column;
    column.type.id = TypeId::int64;
    column.values = Region(rows * 8, result.budget);
    column.values.ensure(rows * 8);
    i64* const values = column.values.as<i64>();
    u64 row = 0, begin = 0;
    const auto number = [&](u64 end) {
        for (u64 record = begin; record < end; ++record) values[row++] = first + static_cast<i64>(record);
        begin = end + 1;
    };
    for (const u64 record : records_without_row(result)) number(record);
    number(result.counts.records);
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
    if (result.raised) return;
    result.rejected = count_rejected(result.rejected_records);
    const u64 rows = result.counts.rows;
    std::vector<u64> deciding_row(result.columns.size(), NO_ROW);
    const usize busy = std::max<usize>(columns_with_work(result.columns, plan.shrink, is_shared), 1);
    run_each(result.columns.size(), static_cast<unsigned>(std::min<usize>(plan.threads, busy)), [&](usize c) {
        if (!plan.columns[c].wanted) return;
        deciding_row[c] = finish_column(plan, c, result.columns[c], rows);
        if (is_shared) fit(result.columns[c]);
    });
    if (plan.row_index) result.row_index = make_row_index(result, *plan.row_index, rows);
    if (plan.shrink) locate_evidence(source, dialect, plan, deciding_row, result);
    result.seconds.finish = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace headrace
