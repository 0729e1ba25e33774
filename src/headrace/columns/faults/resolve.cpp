// Resolves listed faults: many records with texts at a time, and each other record from the source.
#include "columns/faults/resolve.hpp"

#include <atomic>
#include <utility>

#include "columns/convert/cpu/convert.hpp"
#include "columns/faults/fault_collector.hpp"
#include "columns/faults/order.hpp"
#include "columns/plan/field_rules.hpp"
#include "columns/rules/kinds.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

// Faults [from, to) of the list. `record`: index of their first record among all listed ones.
struct Range {
    usize from, to, record;
};

// Call visit(fault, record, rows of the record's tile) for each fault of a range.
template <class Visit>
void for_each_fault(const ListedFaults& listed, const Range& range, Visit visit) {
    const PrefixSource text(listed.source, listed.plan.end);
    RecordReader reader(text, listed.dialect, listed.plan);
    const RecordTexts& texts = listed.texts;
    std::vector<usize> first;  // fault of each record, and the end
    for (usize i = range.from; i < range.to; ++i) {
        if (i == range.from || listed.faults[i].record != listed.faults[i - 1].record) first.push_back(i);
    }
    const usize records = first.size();
    first.push_back(range.to);
    const auto begin_of = [&](usize record) { return listed.begin + listed.faults[first[record]].record_begin; };
    const auto has_text = [&](usize record) { return texts.size(range.record + record) != 0; };
    for (usize from = 0, to = 0; from < records; from = to) {
        ++to;
        if (has_text(from)) {
            while (to < records && has_text(to)) ++to;
            reader.read(texts, range.record + from, range.record + to, begin_of(from));
        } else {
            reader.read(begin_of(from));
        }
        for (usize record = from; record < to; ++record) {
            const RecordView view = reader.record(record - from, begin_of(record));
            for (usize i = first[record]; i < first[record + 1]; ++i) visit(listed.faults[i], view, reader.rows());
        }
    }
}

// Append a fault of a record. `listed`: the fault as the kernels listed it, whose record is `record`.
void add_listed(FaultBlock& block, const FieldFault& listed, const RecordView& record, TileFault found) {
    found.record = 0;
    add_fault(block, record.tile, found, listed.record);
    FaultRow& row = block.faults.back();
    row.record_begin = record.begin;
    row.at = record.origin(found.at);
}

// Return whether a fault is a lenient quote. If its record had another fault of its own, that one would be listed.
bool is_repaired(const ListedFaults& listed, const FieldFault& fault) {
    return listed.dialect.keeps_strays() && fault.column == NO_FIELD && fault.kind == static_cast<u32>(Fault::quote);
}

// Return whether the list and the texts have all that the table shows of a range's faults. For other faults of records
// and for counts of fields, the records have to be read.
bool is_listed(const ListedFaults& listed, const Range& range) {
    const bool counts_fields = listed.plan.rows.fill_short && field_outcome(listed.plan.on_error) == Outcome::reject;
    if (counts_fields || listed.plan.rows.collect_long) return false;
    usize record = range.record;
    for (usize i = range.from; i < range.to; ++i) {
        if (i != range.from && listed.faults[i].record != listed.faults[i - 1].record) ++record;
        const FieldFault& fault = listed.faults[i];
        if (fault.column == NO_FIELD && !is_repaired(listed, fault)) return false;
        if (listed.texts.size(record) == 0) return false;
    }
    return true;
}

FaultBlock copy_listed(const ListedFaults& listed, const Range& range) {
    FaultBlock block;
    block.faults.reserve(range.to - range.from);
    const usize line_end = listed.dialect.universal_line_end ? 1 : listed.dialect.line_end_length;
    usize record = range.record;
    for (usize i = range.from; i < range.to; ++i) {
        const FieldFault& fault = listed.faults[i];
        if (i != range.from && fault.record != listed.faults[i - 1].record) ++record;
        const std::span<const u8> text = listed.texts.text(record);
        FaultRow& row =
            block.refer(fault.record + 1, {reinterpret_cast<const char*>(text.data()), text.size() - line_end});
        row.record_begin = listed.begin + fault.record_begin;
        row.at = listed.begin + fault.at;
        row.kind = static_cast<Fault>(fault.kind);
        row.column = NO_COLUMN;
        row.outcome = Outcome::keep;
        if (fault.column == NO_FIELD) continue;
        row.field_begin = static_cast<u32>(fault.begin - fault.record_begin);
        row.field_size = static_cast<u32>(fault.end - fault.begin);
        row.column = static_cast<i32>(fault.column);
        row.outcome = field_outcome(listed.plan.on_error);
    }
    order_faults(block.faults);
    return block;
}

// Resolve the faults of a range. Count in `rejected_short` as ResolvedFaults does.
FaultBlock resolve_range(const ListedFaults& listed, const Range& range, u64& rejected_short) {
    if (is_listed(listed, range)) return copy_listed(listed, range);
    const LoadPlan& plan = listed.plan;
    FaultBlock block;
    u64 counted = ~u64{0};
    for_each_fault(listed, range, [&](const FieldFault& fault, const RecordView& record, const TileRows&) {
        const bool of_record = fault.column == NO_FIELD;
        const bool is_rejected = of_record ? record.is_rejected() : field_outcome(plan.on_error) == Outcome::reject;
        const bool is_filled = plan.rows.fill_short && record.fields() < plan.rows.base_columns;
        if (is_rejected && is_filled && fault.record != counted) {
            counted = fault.record;
            ++rejected_short;
        }
        if (of_record) {
            for (const TileFault& found : record.faults) add_listed(block, fault, record, found);
            return;
        }
        const ByteRange whole = record.rows.record(record.row), field = record.rows.field(record.row, fault.column);
        TileFault found{};
        found.record_begin = whole.begin;
        found.record_end = whole.end;
        found.at = whole.begin + static_cast<u32>(fault.at - fault.record_begin);
        found.column = fault.column;
        found.kind = static_cast<Fault>(fault.kind);
        found.outcome = field_outcome(plan.on_error);
        found.field_begin = field.begin;
        found.field_end = field.end;
        add_listed(block, fault, record, found);
    });
    order_faults(block.faults);
    return block;
}

// Divide the faults into ranges. Each begins with the first fault of a record.
std::vector<Range> ranges_of(const ListedFaults& listed) {
    constexpr usize RANGE_FAULTS = 1024;
    const std::span<const FieldFault> faults = listed.faults;
    const auto begins_record = [&](usize i) { return i == 0 || faults[i].record != faults[i - 1].record; };
    std::vector<Range> ranges;
    const usize count = faults.size() / RANGE_FAULTS + 1;
    for (usize i = 0; i < count; ++i) {
        usize from = faults.size() * i / count;
        while (from < faults.size() && !begins_record(from)) ++from;
        if (from == faults.size() || (!ranges.empty() && ranges.back().from == from)) continue;
        if (!ranges.empty()) ranges.back().to = from;
        ranges.push_back({from, faults.size(), 0});
    }
    run_each(ranges.size(), listed.plan.threads, [&](usize i) {
        for (usize k = ranges[i].from; k < ranges[i].to; ++k) ranges[i].record += begins_record(k) ? 1 : 0;
    });
    usize records = 0;
    for (Range& range : ranges) records += std::exchange(range.record, records);
    return ranges;
}

// Return the line of each fault of the blocks, whose tiles are numbers of ranges.
std::vector<u64> lines_of(const ListedFaults& listed, const std::vector<Range>& ranges,
                          const std::vector<FaultBlock>& blocks) {
    std::vector<usize> rows(blocks.size() + 1);
    for (usize i = 0; i < blocks.size(); ++i) rows[i + 1] = rows[i] + blocks[i].faults.size();
    std::vector<u64> lines(rows.back());
    run_each(blocks.size(), listed.plan.threads, [&](usize i) {
        const Range& range = ranges[blocks[i].tile];
        usize one = range.from, record = range.record, row = rows[i];
        for (const FaultRow& fault : blocks[i].faults) {
            for (; listed.faults[one].record + 1 < fault.record; ++one) {
                if (listed.faults[one].record != listed.faults[one + 1].record) ++record;
            }
            lines[row++] = listed.lines[record];
        }
    });
    return lines;
}

}  // namespace

ResolvedFaults resolve_faults(const ListedFaults& listed) {
    const std::vector<Range> ranges = ranges_of(listed);
    FaultCollector collector(listed.plan, std::make_shared<Budget>(listed.plan.memory_limit));
    std::atomic<u64> rejected_short{0};
    run_each(ranges.size(), listed.plan.threads, [&](usize i) {
        u64 counted_short = 0;
        FaultBlock block = resolve_range(listed, ranges[i], counted_short);
        block.tile = i;
        collector.count_and_add(std::move(block));
        rejected_short += counted_short;
    });
    const u64 count = collector.has_raised() ? 1 : collector.count();
    std::vector<FaultBlock> faults = collector.take();
    std::vector<u64> lines = lines_of(listed, ranges, faults);
    return {std::move(faults), std::move(lines), count, rejected_short};
}

namespace {

TileRows row_of(TileRows rows, usize row) {
    rows.starts += row;
    rows.ends += row * rows.columns;
    if (rows.field_starts != nullptr) rows.field_starts += row * rows.columns;
    if (rows.widths != nullptr) rows.widths += row;
    rows.rows = 1;
    return rows;
}

// Converts one field at a time, by the kernel that converts tiles.
class FieldResolver {
public:
    explicit FieldResolver(const LoadPlan& plan) : plan_(plan), rules_(plan), kernels_(convert_kernels(plan.isa)) {}

    // `rows`: of the record's tile.
    ResolvedField resolve(const RecordView& view, const TileRows& rows, usize column, const AssumedType& assumed) {
        resolved_ = {};
        view_ = &view;
        u64 nulls = 0, bits = 0;
        u32 string_end = 0;
        const ByteRange record = view.rows.record(view.row);
        const usize growth = plan_.replace_invalid ? REPLACEMENT_GROWTH : 1;
        const usize capacity = growth * (record.end - record.begin) + 128;
        scratch_.resize(3 * capacity);
        ColumnJob job{};
        job.column = column;
        job.type = assumed.type;
        job.inferred = assumed.guess.has_value();
        job.guess = assumed.guess.value_or(0);
        job.raw = plan_.rows.collect_long && column + 1 == plan_.columns.size();
        const bool is_text = is_string(job.type) && (!job.inferred || has_type(static_cast<Kind>(job.guess)));
        job.rules = job.raw ? &rules_.of_raw() : &rules_.of_forms(plan_.columns[column].forms, is_text);
        job.values = resolved_.value;
        job.bits = &bits;
        job.nulls = &nulls;
        job.string_ends = &string_end;
        job.scratch = scratch_.data();
        job.number = scratch_.data() + capacity;
        job.string_bytes = scratch_.data() + 2 * capacity;
        job.misfits = {this, on_fault, on_kind};
        resolved_.mended = kernels_.convert(row_of(rows, view.row), job).replaced != 0;
        if (assumed.type.id == TypeId::boolean) resolved_.value[0] = bits & 1;
        resolved_.text.assign(reinterpret_cast<const char*>(job.string_bytes), string_end);
        if (nulls == 0) resolved_.outcome = ResolvedField::Resolution::value;
        return resolved_;
    }

private:
    static void on_fault(void* self, usize, Fault fault, u32 at) {
        static_cast<FieldResolver*>(self)->set(ResolvedField::Resolution::fault, static_cast<u8>(fault), at);
    }
    static void on_kind(void* self, usize, u8 kind, u32 at) {
        if (kind == ROUNDED) return;  // beside a value; integers are never long enough to be left to the host
        static_cast<FieldResolver*>(self)->set(ResolvedField::Resolution::kind, kind, at);
    }
    void set(ResolvedField::Resolution outcome, u8 kind, u32 at) {
        resolved_.outcome = outcome;
        resolved_.kind = kind;
        resolved_.at = view_->origin(at);
    }

    const LoadPlan& plan_;
    PlanRules rules_;
    const ConvertKernels& kernels_;
    std::vector<u8> scratch_;
    ResolvedField resolved_;
    const RecordView* view_ = nullptr;
};

}  // namespace

std::vector<ResolvedField> resolve_fields(const ListedFaults& listed, const std::vector<AssumedType>& columns) {
    const std::vector<Range> ranges = ranges_of(listed);
    std::vector<ResolvedField> resolved(listed.faults.size());
    run_each(ranges.size(), listed.plan.threads, [&](usize number) {
        FieldResolver resolver(listed.plan);
        usize i = ranges[number].from;
        for_each_fault(listed, ranges[number],
                       [&](const FieldFault& fault, const RecordView& record, const TileRows& rows) {
                           resolved[i++] = resolver.resolve(record, rows, fault.column, columns[fault.column]);
                       });
    });
    return resolved;
}

}  // namespace headrace
