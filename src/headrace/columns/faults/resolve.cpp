// Resolves listed faults. Each record is read as a tile of one byte, because a tile owns the records that begin in it.
// If the caller has the record's first bytes, the source is read only for a longer record.
#include "columns/faults/resolve.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "columns/convert/cpu/convert.hpp"
#include "columns/faults/fault_collector.hpp"
#include "columns/faults/order.hpp"
#include "columns/plan/field_rules.hpp"
#include "columns/records/tile_rows.hpp"
#include "columns/rules/kinds.hpp"
#include "core/cpu/thread_pool.hpp"

namespace headrace {
namespace {

// Some bytes of a source, as if the source ended after them.
class PrefixBytes final : public Source {
public:
    void show(u64 begin, std::span<const u8> bytes, u64 whole) {
        begin_ = begin;
        bytes_ = bytes.data();
        size_ = std::min<u64>(begin + bytes.size(), whole);
    }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override {
        std::memcpy(to, bytes_ + (offset - begin_), n);
    }

private:
    u64 begin_ = 0;
    const u8* bytes_ = nullptr;
};

// Reads one record at a time, by the rules of the loader.
class RecordReader {
public:
    RecordReader(const Source& source, const Dialect& dialect, const LoadPlan& plan)
        : source_(source), dialect_(dialect), plan_(plan), finder_(dialect, plan) {}

    // Read the record that begins at byte `begin`. `prefix`: its first bytes, or none.
    void read(u64 begin, std::span<const u8> prefix) {
        prefix_.show(begin, prefix, source_.size());
        // The meaning of lenient quotes may depend on text after the record.
        const bool has_prefix = !prefix.empty() && !dialect_.lenient;
        if (!has_prefix || !read_from(prefix_, begin)) read_from(source_, begin);
        selected_ = &finder_.find(*tile_, tile_->has_strays ? reader_->strays() : std::vector<u32>{});
    }
    const TileRows& selected() const { return *selected_; }  // one row, or none if the record is rejected
    const TileRowsFinder& rows() const { return finder_; }
    const Tile& tile() const { return *tile_; }
    usize fields() const { return (tile_->last[0] & RECORD_INDEX) + 1; }

private:
    // Read the record from a source. Return false if it may continue after the source's end.
    bool read_from(const Source& source, u64 begin) {
        reader_.reset();
        scan_.emplace(source, dialect_, plan_.isa, begin, 1);
        reader_.emplace(*scan_);
        tile_ = reader_->next();
        const bool ends = begin + tile_->ends[tile_->last[0] & RECORD_INDEX] < source.size();
        return ends || source.size() == source_.size();
    }

    const Source& source_;
    const Dialect& dialect_;
    const LoadPlan& plan_;
    TileRowsFinder finder_;
    PrefixBytes prefix_;
    std::optional<TileScan> scan_;
    std::optional<TileReader> reader_;
    const Tile* tile_ = nullptr;
    const TileRows* selected_ = nullptr;
};

// Call visit(fault, reader with its record) for faults [from, to). `record`: index of the first record's prefix.
template <class Visit>
void for_each_fault(const ListedFaults& listed, usize from, usize to, usize record, Visit visit) {
    const PrefixSource text(listed.source, listed.plan.end);
    RecordReader reader(text, listed.dialect, listed.plan);
    for (usize i = from; i < to; ++i) {
        const FieldFault& fault = listed.faults[i];
        if (i == from || fault.record != listed.faults[i - 1].record) {
            const bool has = (record + 1) * listed.prefix_bytes <= listed.prefixes.size();
            const usize size = has ? listed.prefix_bytes : 0;
            reader.read(listed.begin + fault.record_begin, listed.prefixes.subspan(has ? record * size : 0, size));
            ++record;
        }
        visit(fault, reader);
    }
}

// Faults [from, to) of the list. `record`: index of their first record among all listed ones.
struct Range {
    usize from, to, record;
};

// Resolve the faults of a range. Count in `rejected_short` as ResolvedFaults does.
FaultBlock resolve_range(const ListedFaults& listed, const Range& range, u64& rejected_short) {
    const LoadPlan& plan = listed.plan;
    FaultBlock block;
    u64 counted = ~u64{0};
    for_each_fault(listed, range.from, range.to, range.record,
                   [&](const FieldFault& fault, const RecordReader& reader) {
                       const TileRowsFinder& rows = reader.rows();
                       const bool of_record = fault.column == NO_FIELD;
                       const bool is_rejected =
                           of_record ? rows.counts().rows == 0 : field_outcome(plan.on_error) == Outcome::reject;
                       const bool is_filled = plan.rows.fill_short && reader.fields() < plan.rows.base_columns;
                       if (is_rejected && is_filled && fault.record != counted) {
                           counted = fault.record;
                           ++rejected_short;
                       }
                       if (of_record) {
                           for (const TileFault& found : rows.faults())
                               add_fault(block, reader.tile(), found, fault.record);
                           return;
                       }
                       const ByteRange record = rows.record(0), field = rows.field(0, fault.column);
                       TileFault found{};
                       found.record_begin = record.begin;
                       found.record_end = record.end;
                       found.at = static_cast<u32>(fault.at - fault.record_begin);
                       found.column = fault.column;
                       found.kind = static_cast<Fault>(fault.kind);
                       found.outcome = field_outcome(plan.on_error);
                       found.field_begin = field.begin;
                       found.field_end = field.end;
                       add_fault(block, reader.tile(), found, fault.record);
                   });
    order_faults(block.faults);
    return block;
}

// Divide the faults into about `count` ranges. Each begins with the first fault of a record.
std::vector<Range> ranges_of(std::span<const FieldFault> faults, usize count) {
    std::vector<Range> ranges;
    usize records = 0;
    for (usize i = 0; i < faults.size(); ++i) {
        if (i != 0 && faults[i].record == faults[i - 1].record) continue;
        if (ranges.empty() || i >= faults.size() * ranges.size() / count) {
            if (!ranges.empty()) ranges.back().to = i;
            ranges.push_back({i, faults.size(), records});
        }
        ++records;
    }
    return ranges;
}

}  // namespace

ResolvedFaults resolve_faults(const ListedFaults& listed) {
    if (listed.faults.empty()) return {};
    constexpr usize RANGE_FAULTS = 1024;
    const std::vector<Range> ranges = ranges_of(listed.faults, listed.faults.size() / RANGE_FAULTS + 1);
    FaultCollector collector(listed.plan, std::make_shared<Budget>(listed.plan.memory_limit));
    std::atomic<usize> next{0};
    std::atomic<u64> rejected_short{0};
    run_parallel(static_cast<unsigned>(std::min<usize>(listed.plan.threads, ranges.size())), [&](unsigned) {
        u64 counted_short = 0;
        for (usize i = next++; i < ranges.size(); i = next++) {
            FaultBlock block = resolve_range(listed, ranges[i], counted_short);
            block.tile = i;
            collector.count_and_add(std::move(block));
        }
        rejected_short += counted_short;
    });
    const u64 count = collector.has_raised() ? 1 : collector.count();
    return {collector.take(), count, rejected_short};
}

namespace {

// Converts one field at a time, by the kernel that converts tiles.
class FieldResolver {
public:
    explicit FieldResolver(const LoadPlan& plan) : plan_(plan), rules_(plan), kernels_(convert_kernels(plan.isa)) {}

    ResolvedField resolve(const RecordReader& reader, usize column, const AssumedType& assumed) {
        resolved_ = {};
        tile_ = &reader.tile();
        u64 nulls = 0, bits = 0;
        u32 string_end = 0;
        const ByteRange record = reader.rows().record(0);
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
        resolved_.mended = kernels_.convert(reader.selected(), job).replaced != 0;
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
        resolved_.at = tile_->origin(at);
    }

    const LoadPlan& plan_;
    PlanRules rules_;
    const ConvertKernels& kernels_;
    std::vector<u8> scratch_;
    ResolvedField resolved_;
    const Tile* tile_ = nullptr;
};

}  // namespace

std::vector<ResolvedField> resolve_fields(const ListedFaults& listed, const std::vector<AssumedType>& columns) {
    std::vector<ResolvedField> resolved;
    FieldResolver resolver(listed.plan);
    for_each_fault(listed, 0, listed.faults.size(), 0, [&](const FieldFault& fault, const RecordReader& reader) {
        resolved.push_back(resolver.resolve(reader, fault.column, columns[fault.column]));
    });
    return resolved;
}

}  // namespace headrace
