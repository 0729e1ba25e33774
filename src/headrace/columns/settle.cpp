// A record is read as a tile of one byte: a tile owns the records that begin in it. Records that lie close together
// are fetched together, since a source on a GPU answers a question in microseconds, however little is asked.
#include "columns/settle.hpp"

#include <algorithm>
#include <cstring>

#include "columns/field_rules.hpp"
#include "columns/finish.hpp"
#include "columns/pass.hpp"
#include "core/pool.hpp"

namespace headrace {
namespace {

constexpr usize AHEAD = usize{256} << 10;

// A part of a source in memory, and the rest where it is.
class AheadSource final : public Source {
public:
    explicit AheadSource(const Source& whole) : whole_(whole) {
        size_ = whole.size();
        set_encoding(whole.encoding());
    }
    const std::uint8_t* resident() const override { return whole_.resident(); }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override {
        if (offset >= begin_ && offset + n <= begin_ + bytes_.size()) {
            std::memcpy(to, bytes_.data() + (offset - begin_), n);
        } else {
            whole_.read(offset, n, to);
        }
    }
    void fetch(u64 begin, u64 end) {
        if (resident() != nullptr) return;
        bytes_.resize(std::min<u64>(end, size_) - begin);
        begin_ = begin;
        whole_.read(begin, bytes_.size(), bytes_.data());
    }

private:
    const Source& whole_;
    u64 begin_ = 0;
    std::vector<u8> bytes_;
};

// Reads one record at a time, and takes it as the loader does.
class RecordReader {
public:
    RecordReader(const Source& source, const Dialect& dialect, const LoadPlan& plan)
        : source_(source), dialect_(dialect), plan_(plan), finder_(dialect, plan) {}

    void read(u64 begin) {
        reader_.reset();
        scan_.emplace(source_, dialect_, plan_.isa, begin, 1);
        reader_.emplace(*scan_);
        tile_ = reader_->next();
        taken_ = &finder_.find(*tile_, tile_->has_strays ? reader_->strays() : std::vector<u32>{});
    }
    const TileRows& taken() const { return *taken_; }  // a row, or none
    const TileRowsFinder& rows() const { return finder_; }
    const Tile& tile() const { return *tile_; }
    usize fields() const { return (tile_->last[0] & RECORD_INDEX) + 1; }

private:
    const Source& source_;
    const Dialect& dialect_;
    const LoadPlan& plan_;
    TileRowsFinder finder_;
    std::optional<TileScan> scan_;
    std::optional<TileReader> reader_;
    const Tile* tile_ = nullptr;
    const TileRows* taken_ = nullptr;
};

// The faults behind `first` whose records lie close to its record: [first, end).
usize end_of_group(std::span<const FieldFault> listed, usize first) {
    usize end = first;
    while (end < listed.size() && listed[end].record_begin - listed[first].record_begin < AHEAD) ++end;
    return end;
}

// Calls settle(number of a fault, reader that has read its record).
template <class Settle>
void for_each_record(const Source& source, const Dialect& dialect, const LoadPlan& plan, u64 begin,
                     std::span<const FieldFault> listed, Settle settle) {
    const PrefixSource text(source, plan.end);
    AheadSource ahead(text);
    RecordReader reader(ahead, dialect, plan);
    constexpr usize ONE_RECORD = 8192;  // what a reader looks at beside the record itself
    for (usize first = 0; first < listed.size();) {
        const usize end = end_of_group(listed, first);
        ahead.fetch(begin + listed[first].record_begin, begin + listed[end - 1].record_begin + ONE_RECORD);
        for (; first < end; ++first) {
            const bool known = first > 0 && listed[first].record == listed[first - 1].record;
            if (!known) reader.read(begin + listed[first].record_begin);
            settle(first, reader);
        }
    }
}

Outcome on_value_fault(const LoadPlan& plan) {
    if (plan.on_error == OnError::null) return Outcome::keep;
    return plan.on_error == OnError::reject ? Outcome::reject : Outcome::raise;
}

void settle_part(const Source& source, const Dialect& dialect, const LoadPlan& plan, u64 begin,
                 std::span<const FieldFault> listed, Budget& budget, SettledFaults& to) {
    for_each_record(source, dialect, plan, begin, listed, [&](usize number, const RecordReader& reader) {
        const FieldFault& fault = listed[number];
        const Tile& tile = reader.tile();
        const TileRowsFinder& rows = reader.rows();
        const auto add = [&](const TileFault& found) {
            FaultRow row = fault_row(tile, found, fault.record);
            budget.charge(sizeof row + row.field.size() + row.text.size());
            to.faults.push_back(std::move(row));
        };
        const bool stands = rows.counts().rows != 0;
        if (fault.column == NO_FIELD) {
            for (const TileFault& found : rows.faults()) add(found);
            const bool is_short = reader.fields() < plan.rows.base_columns;
            to.short_gone += !stands && plan.rows.fill_short && is_short ? 1 : 0;
            return;
        }
        const ByteRange record = rows.record(0), field = rows.field(0, fault.column);
        TileFault found{};
        found.record_begin = record.begin;
        found.record_end = record.end;
        found.at = static_cast<u32>(fault.at - fault.record_begin);
        found.column = fault.column;
        found.kind = static_cast<Fault>(fault.kind);
        found.outcome = on_value_fault(plan);
        found.field_begin = field.begin;
        found.field_end = field.end;
        add(found);
    });
}

// Parts of the list that begin with a record's first fault.
std::vector<usize> cut(std::span<const FieldFault> listed, usize parts) {
    std::vector<usize> ends;
    for (usize part = 1; part <= parts; ++part) {
        usize end = listed.size() * part / parts;
        while (end != 0 && end < listed.size() && listed[end].record == listed[end - 1].record) ++end;
        ends.push_back(end);
    }
    return ends;
}

}  // namespace

SettledFaults settle_faults(const Source& source, const Dialect& dialect, const LoadPlan& plan, u64 begin,
                            std::span<const FieldFault> listed) {
    constexpr usize FEW = 64;
    const usize threads = std::min<usize>(plan.threads, listed.size() / FEW + 1);
    const std::vector<usize> ends = cut(listed, threads);
    std::vector<SettledFaults> parts(threads);
    Budget budget(plan.memory_limit);
    run_parallel(static_cast<unsigned>(threads), [&](unsigned number) {
        const usize from = number == 0 ? 0 : ends[number - 1];
        const auto own = listed.subspan(from, ends[number] < from ? 0 : ends[number] - from);
        settle_part(source, dialect, plan, begin, own, budget, parts[number]);
    });
    SettledFaults all;
    for (SettledFaults& part : parts) {
        std::move(part.faults.begin(), part.faults.end(), std::back_inserter(all.faults));
        all.short_gone += part.short_gone;
    }
    order_faults(all.faults);
    return all;
}

namespace {

// One column of one record, by the kernel that converts tiles.
class FieldSettler {
public:
    explicit FieldSettler(const LoadPlan& plan) : plan_(plan), rules_(plan), kernels_(convert_kernels(plan.isa)) {}

    SettledField settle(const RecordReader& reader, usize column, const TakenFor& taken) {
        settled_ = {};
        tile_ = &reader.tile();
        u64 nulls = 0, bits = 0;
        u32 string_end = 0;
        const ByteRange record = reader.rows().record(0);
        const usize room = record.end - record.begin + 128;
        room_.resize(3 * room);
        ColumnJob job{};
        job.column = column;
        job.type = taken.type;
        job.inferred = taken.guess.has_value();
        job.guess = taken.guess.value_or(0);
        job.raw = plan_.rows.collect_long && column + 1 == plan_.columns.size();
        job.rules = job.raw ? &rules_.of_raw() : &rules_.of_forms(plan_.columns[column].forms);
        job.values = settled_.value;
        job.bits = &bits;
        job.nulls = &nulls;
        job.string_ends = &string_end;
        job.scratch = room_.data();
        job.number = room_.data() + room;
        job.string_bytes = room_.data() + 2 * room;
        job.misfits = {this, on_fault, on_kind};
        kernels_.convert(reader.taken(), job);
        if (taken.type.id == TypeId::boolean) settled_.value[0] = bits & 1;
        settled_.text.assign(reinterpret_cast<const char*>(job.string_bytes), string_end);
        if (nulls == 0) settled_.what = SettledField::What::value;
        return settled_;
    }

private:
    static void on_fault(void* self, usize, Fault fault, u32 at) {
        static_cast<FieldSettler*>(self)->tell(SettledField::What::fault, static_cast<u8>(fault), at);
    }
    static void on_kind(void* self, usize, u8 kind, u32 at) {
        static_cast<FieldSettler*>(self)->tell(SettledField::What::kind, kind, at);
    }
    void tell(SettledField::What what, u8 kind, u32 at) {
        settled_.what = what;
        settled_.kind = kind;
        settled_.at = tile_->origin(at);
    }

    const LoadPlan& plan_;
    PlanRules rules_;
    const ConvertKernels& kernels_;
    std::vector<u8> room_;
    SettledField settled_;
    const Tile* tile_ = nullptr;
};

}  // namespace

std::vector<SettledField> settle_fields(const Source& source, const Dialect& dialect, const LoadPlan& plan, u64 begin,
                                        const std::vector<TakenFor>& columns, std::span<const FieldFault> fields) {
    std::vector<SettledField> settled;
    FieldSettler settler(plan);
    for_each_record(source, dialect, plan, begin, fields, [&](usize number, const RecordReader& reader) {
        const usize column = fields[number].column;
        settled.push_back(settler.settle(reader, column, columns[column]));
    });
    return settled;
}

}  // namespace headrace
