// Loads a text in one pass, or two for columns whose type differs from the first guess. Several threads take tiles in
// order. A tile reserves its rows and string bytes in the result when it is its turn (OrderedGate); after that no
// thread waits for another. Memory: the result, and for each thread a tile of text with at most 12 bytes of index for
// each of its bytes. Sources: ParPaRaw (structure); Kumaigorodski, Lutz, Markl, "Fast CSV loading using GPUs and RDMA"
// (a tile converted in place).
#include "columns/load/load.hpp"

#include <algorithm>

#include "columns/finish/finish.hpp"
#include "columns/infer/infer.hpp"
#include "columns/load/load_pass.hpp"
#include "columns/load/shared_load.hpp"

namespace headrace {
namespace {

// The sample is a 64th of the text or 64 bytes a column, within these bounds. Its fields are classified one by one,
// which takes four times as long as their conversion.
constexpr usize MIN_SAMPLE_BYTES = usize{8} << 10, SAMPLE_BYTES = usize{256} << 10;
constexpr usize SAMPLE_SHARE = 64, SAMPLE_COLUMN_BYTES = 64;
// If the preceding files show the kinds of all columns, a file is sampled only if it has this many times the sample.
constexpr usize SAMPLES_PER_FILE = 16;

std::vector<Guess> first_guesses(const LoadPlan& plan) {
    std::vector<Guess> guesses;
    for (const PlannedColumn& column : plan.columns) {
        if (column.inferred) {
            guesses.push_back({type_of_kind(Kind::empty), Kind::empty, true, column.wanted});
        } else {
            guesses.push_back({column.type, Kind::text, false, column.wanted});
        }
    }
    return guesses;
}

// Set the guesses from `kind_of(column)`. Columns whose type changes are marked to be converted (again). Return whether
// any is.
template <class KindOf>
bool follow(const LoadPlan& plan, std::vector<Guess>& guesses, KindOf kind_of) {
    bool any = false;
    for (usize c = 0; c < guesses.size(); ++c) {
        Guess& guess = guesses[c];
        if (!guess.inferred || !plan.columns[c].wanted) {
            guess.wanted = false;
            continue;
        }
        const Kind kind = kind_of(c);
        const ColumnType type = type_of_kind(kind);
        const bool first_values = guess.kind == Kind::empty && kind != Kind::empty;
        guess.wanted = !guess.converted || first_values || !same_type(type, guess.type);
        guess.type = type;
        guess.kind = kind;
        any |= guess.wanted;
    }
    return any;
}

bool follow_ledger(const LoadPlan& plan, const KindLedger& ledger, std::vector<Guess>& guesses) {
    return follow(plan, guesses, [&](usize c) { return ledger.joined(c); });
}

class Loader {
public:
    explicit Loader(const LoadInput& input)
        : input_(input),
          plan_(input.plan),
          share_(input.run.share),
          guesses_(first_guesses(plan_)),
          ledger_(plan_.columns.size(), plan_.file),
          budget_(share_ ? share_->budget : std::make_shared<Budget>(plan_.memory_limit)),
          faults_(plan_, budget_) {
        result_.budget = budget_;
        result_.columns.resize(plan_.columns.size());
        result_.end = plan_.begin;
        if (!share_) return;
        for (usize c = 0; c < plan_.columns.size(); ++c) {
            ledger_.add(c, share_->ledger, plan_.columns[c].share_column, share_->with_unfit);
        }
    }

    LoadResult run() {
        sample();
        convert(EVERY_TILE);
        // If a fault ended the pass, a column that became text before that fault may have an earlier one: invalid
        // UTF-8.
        while (stopped_at_ != EVERY_TILE && follow_ledger(plan_, ledger_, guesses_)) convert(stopped_at_);
        // Each further pass has the kinds of all fields that the preceding guess did not cover, so types only widen, a
        // few times at most. Usually there is no second pass.
        while (stopped_at_ == EVERY_TILE && follow_ledger(plan_, ledger_, guesses_)) convert(EVERY_TILE);
        if (rejects_late_) convert_again();
        input_.source.check_unchanged();
        if (result_.is_cut && plan_.before.is_more)
            return std::move(result_);  // the caller loads the part again, with more text
        for (usize c = 0; c < guesses_.size(); ++c) {
            if (!guesses_[c].inferred) continue;
            result_.columns[c].evidence = ledger_.evidence(c);
            result_.columns[c].rounded = ledger_.rounded(c);
        }
        const bool has_others = result_.has_quotes || result_.counts.blank != 0 || result_.counts.comment != 0;
        result_.records_are_lines = input_.dialect.universal_line_end && !has_others;
        result_.raised = faults_.has_raised();
        result_.fault_count = result_.raised ? 1 : faults_.count();
        result_.faults = faults_.take();
        finish_result(input_.source, input_.dialect, plan_, share_ != nullptr, result_);
        if (share_) share_kinds();
        return std::move(result_);
    }

private:
    // Guess the types from the kinds of the first records, and from those of more records for columns without a value.
    void sample() {
        const bool continues = plan_.before.records != 0;
        const bool small = share_ != nullptr && (continues || input_.source.size() < SAMPLES_PER_FILE * SAMPLE_BYTES);
        const auto want_unknown = [&](bool or_known) {
            for (usize c = 0; c < guesses_.size(); ++c) {
                const bool known = !or_known && ledger_.joined(c) != Kind::empty;
                guesses_[c].wanted = guesses_[c].inferred && plan_.columns[c].wanted && !known;
            }
        };
        want_unknown(!small);
        const usize share = std::max(input_.source.size() / SAMPLE_SHARE, plan_.columns.size() * SAMPLE_COLUMN_BYTES);
        const usize bytes = std::clamp(share, MIN_SAMPLE_BYTES, SAMPLE_BYTES);
        classify(bytes);
        want_unknown(false);
        if (bytes < input_.source.size()) classify(std::max(SAMPLE_BYTES, plan_.tile_bytes));
        follow(plan_, guesses_, [&](usize c) { return ledger_.first_guess(c); });
        for (usize c = 0; c < guesses_.size(); ++c) guesses_[c].wanted = plan_.columns[c].wanted;
    }

    // Add the kinds of the wanted columns in about `bytes` of text to the ledger.
    void classify(usize bytes) {
        LoadPlan plan = plan_;
        plan.tile_bytes = std::min(plan_.tile_bytes, bytes);
        LoadPass pass({input_.source, input_.dialect, plan, input_.run}, guesses_, results());
        if (pass.wants_any()) pass.classify_only(bytes);
    }

    // Convert the wanted columns of all tiles up to `last`.
    void convert(std::uint64_t last) {
        for (usize c = 0; c < guesses_.size(); ++c) {
            guesses_[c].is_text_column = is_empty_text(c) && guesses_[c].classified;
        }
        LoadPass pass(input_, guesses_, results());
        const bool is_first = result_.passes == 0;
        pass.run(last);
        rejects_late_ |= !is_first && pass.rejects_late();
        stopped_at_ = std::min(stopped_at_, pass.stopped_at());
        for (usize c = 0; c < guesses_.size(); ++c) {
            Guess& guess = guesses_[c];
            if (!guess.wanted) continue;
            guess.classified = true;
            guess.converted = !is_empty_text(c) || guess.is_text_column;
        }
    }

    // A later pass has rejected rows that the columns of earlier passes have. Their fault is invalid UTF-8 in a column
    // that the first records do not show to be text.
    void convert_again() {
        for (usize c = 0; c < guesses_.size(); ++c) guesses_[c].wanted = plan_.columns[c].wanted;
        LoadPass(input_, guesses_, results()).run_again();
    }

    PassResults results() { return {ledger_, faults_, result_}; }

    // Return whether a column has only null fields up to here, which make it a text column unless values are found.
    bool is_empty_text(usize column) const {
        const Guess& guess = guesses_[column];
        return guess.inferred && guess.kind == Kind::empty &&
               !plan_.forms[plan_.columns[column].forms].null_words.empty();
    }

    // Add the kinds to those of the other files.
    void share_kinds() {
        for (usize c = 0; c < plan_.columns.size(); ++c) {
            share_->ledger.add(plan_.columns[c].share_column, ledger_, c, true);
        }
    }

    const LoadInput& input_;
    const LoadPlan& plan_;
    LoadShare* const share_;  // or null
    std::vector<Guess> guesses_;
    KindLedger ledger_;
    const std::shared_ptr<Budget> budget_;
    FaultCollector faults_;
    LoadResult result_;
    std::uint64_t stopped_at_ = EVERY_TILE;
    bool rejects_late_ = false;
};

LoadResult load_once(const LoadInput& input) { return Loader(input).run(); }

}  // namespace

void sample_kinds(const Source& source, const Dialect& dialect, const LoadPlan& plan, const SampleRange& range,
                  KindLedger& ledger) {
    std::vector<Guess> guesses = first_guesses(plan);
    for (usize c = 0; c < guesses.size(); ++c) {
        guesses[c].wanted &= guesses[c].inferred && !(range.only_empty && ledger.joined(c) != Kind::empty);
    }
    LoadResult none;
    const PrefixSource text(source, plan.end);
    const LoadRun run;
    FaultCollector faults(plan, std::make_shared<Budget>());
    LoadPass pass({text, dialect, plan, run}, guesses, {ledger, faults, none});
    if (pass.wants_any()) pass.classify_only(range.bytes);
}

// Buffers are reserved for an upper bound of rows and bytes. The system may refuse that much address space (ulimit -v),
// or too little may be left for other allocations. Then the load starts again and measures before it allocates.
LoadResult load(const Source& source, const Dialect& dialect, const LoadPlan& plan, const LoadRun& run) {
    const PrefixSource text(source, plan.end);
    try {
        return load_once({text, dialect, plan, run});
    } catch (const MemoryLimitExceeded&) {
        throw;
    } catch (const std::bad_alloc&) {
        if (plan.exact_memory) throw;
    }
    release_unused_memory();
    LoadPlan exact = plan;
    exact.exact_memory = true;
    return load_once({text, dialect, exact, run});
}

}  // namespace headrace
