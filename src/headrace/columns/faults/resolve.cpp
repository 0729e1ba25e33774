// A record is read as a tile of one byte: a tile owns the records that begin in it. What reads it sees its first bytes
// alone, where the caller has them, and the source only if the record is longer.
#include "columns/faults/resolve.hpp"

#include <algorithm>
#include <cstring>

#include "columns/convert/cpu/convert.hpp"
#include "columns/faults/order.hpp"
#include "columns/plan/field_rules.hpp"
#include "columns/records/tile_rows.hpp"
#include "columns/rules/kinds.hpp"
#include "core/cpu/thread_pool.hpp"

namespace headrace {
namespace {

// The bytes of a source from one on, as if the source ended behind them.
class PieceSource final : public Source {
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

// Reads one record at a time, and takes it as the loader does.
class RecordReader {
public:
    RecordReader(const Source& source, const Dialect& dialect, const LoadPlan& plan)
        : source_(source), dialect_(dialect), plan_(plan), finder_(dialect, plan) {}

    // The record that begins there; `piece`: its first bytes, or none.
    void read(u64 begin, std::span<const u8> piece) {
        piece_.show(begin, piece, source_.size());
        // What lenient quotes mean may hang on text behind the record.
        const bool tries = !piece.empty() && !dialect_.lenient;
        if (!tries || !read_from(piece_, begin)) read_from(source_, begin);
        taken_ = &finder_.find(*tile_, tile_->has_strays ? reader_->strays() : std::vector<u32>{});
    }
    const TileRows& taken() const { return *taken_; }  // a row, or none
    const TileRowsFinder& rows() const { return finder_; }
    const Tile& tile() const { return *tile_; }
    usize fields() const { return (tile_->last[0] & RECORD_INDEX) + 1; }

private:
    // Whether the record ends before the source does, or the source is the whole.
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
    PieceSource piece_;
    std::optional<TileScan> scan_;
    std::optional<TileReader> reader_;
    const Tile* tile_ = nullptr;
    const TileRows* taken_ = nullptr;
};

// Calls settle(fault, reader that has read its record) for faults [from, to); `record`: number of the first's piece.
template <class Settle>
void for_each_fault(const ListedFaults& listed, usize from, usize to, usize record, Settle settle) {
    const PrefixSource text(listed.source, listed.plan.end);
    RecordReader reader(text, listed.dialect, listed.plan);
    for (usize i = from; i < to; ++i) {
        const FieldFault& fault = listed.faults[i];
        if (i == from || fault.record != listed.faults[i - 1].record) {
            const bool has = (record + 1) * listed.piece_bytes <= listed.pieces.size();
            const usize size = has ? listed.piece_bytes : 0;
            reader.read(listed.begin + fault.record_begin, listed.pieces.subspan(has ? record * size : 0, size));
            ++record;
        }
        settle(fault, reader);
    }
}

// A part of the list: faults [from, to), whose first record is this one of all.
struct Part {
    usize from, to, record;
};

void settle_part(const ListedFaults& listed, const Part& part, Budget& budget, SettledFaults& settled) {
    const LoadPlan& plan = listed.plan;
    u64 counted = ~u64{0};
    for_each_fault(listed, part.from, part.to, part.record, [&](const FieldFault& fault, const RecordReader& reader) {
        const TileRowsFinder& rows = reader.rows();
        const auto add = [&](const TileFault& found) {
            budget.charge(sizeof(FaultRow) + found.record_end - found.record_begin);
            settled.faults.push_back(fault_row(reader.tile(), found, fault.record, settled.texts));
        };
        const bool of_record = fault.column == NO_FIELD;
        const bool goes = of_record ? rows.counts().rows == 0 : field_outcome(plan.on_error) == Outcome::reject;
        const bool is_filled = plan.rows.fill_short && reader.fields() < plan.rows.base_columns;
        if (goes && is_filled && fault.record != counted) {
            counted = fault.record;
            ++settled.short_gone;
        }
        if (of_record) {
            for (const TileFault& found : rows.faults()) add(found);
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
        add(found);
    });
}

// Parts that each begin with a record's first fault.
std::vector<Part> parts_of(std::span<const FieldFault> faults, usize count) {
    std::vector<Part> parts;
    usize records = 0;
    for (usize i = 0; i < faults.size(); ++i) {
        if (i != 0 && faults[i].record == faults[i - 1].record) continue;
        if (parts.empty() || i >= faults.size() * parts.size() / count) {
            if (!parts.empty()) parts.back().to = i;
            parts.push_back({i, faults.size(), records});
        }
        ++records;
    }
    return parts;
}

}  // namespace

SettledFaults settle_faults(const ListedFaults& listed) {
    if (listed.faults.empty()) return {};
    constexpr usize FEW = 64;
    const std::vector<Part> parts =
        parts_of(listed.faults, std::min<usize>(listed.plan.threads, listed.faults.size() / FEW + 1));
    std::vector<SettledFaults> settled(parts.size());
    Budget budget(listed.plan.memory_limit);
    run_parallel(static_cast<unsigned>(parts.size()),
                 [&](unsigned number) { settle_part(listed, parts[number], budget, settled[number]); });
    SettledFaults all;
    for (SettledFaults& part : settled) {
        std::move(part.faults.begin(), part.faults.end(), std::back_inserter(all.faults));
        part.faults.clear();
        all.texts.take(std::move(part.texts));
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
        const usize growth = plan_.replace_invalid ? REPLACEMENT_GROWTH : 1;
        const usize room = growth * (record.end - record.begin) + 128;
        room_.resize(3 * room);
        ColumnJob job{};
        job.column = column;
        job.type = taken.type;
        job.inferred = taken.guess.has_value();
        job.guess = taken.guess.value_or(0);
        job.raw = plan_.rows.collect_long && column + 1 == plan_.columns.size();
        const bool is_text = is_string(job.type) && (!job.inferred || is_settled(static_cast<Kind>(job.guess)));
        job.rules = job.raw ? &rules_.of_raw() : &rules_.of_forms(plan_.columns[column].forms, is_text);
        job.values = settled_.value;
        job.bits = &bits;
        job.nulls = &nulls;
        job.string_ends = &string_end;
        job.scratch = room_.data();
        job.number = room_.data() + room;
        job.string_bytes = room_.data() + 2 * room;
        job.misfits = {this, on_fault, on_kind};
        settled_.mended = kernels_.convert(reader.taken(), job).replaced != 0;
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
        if (kind == ROUNDED) return;  // of a value; no integer is so long that it is left to the host
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

std::vector<SettledField> settle_fields(const ListedFaults& listed, const std::vector<TakenFor>& columns) {
    std::vector<SettledField> settled;
    FieldSettler settler(listed.plan);
    for_each_fault(listed, 0, listed.faults.size(), 0, [&](const FieldFault& fault, const RecordReader& reader) {
        settled.push_back(settler.settle(reader, fault.column, columns[fault.column]));
    });
    return settled;
}

}  // namespace headrace
