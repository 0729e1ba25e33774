// Lenient quotes: a quote at the start of a field opens it only if the quotes behind it close it again; any other quote
// that could not stand where it does is text. Runs of quotes are told apart by the bytes around them alone:
//   odd, behind a delimiter, before other text    opens    ,"ab
//   odd, behind other text, before a delimiter    closes   ab",   (or the input's end)
//   odd, between delimiters                       either   ,",
//   all others                                    neutral  ""     (quotes in quotes), a"b
// Where two quotes do not stand for one, every run counts as an odd one does; one of two quotes or more between
// delimiters is a field of its own, and closes a field that is open.
// A field is quoted if the next run behind its first that is not neutral may close: so a quote that nobody closes
// cannot swallow what follows it, and where all quotes are well-formed nothing is read otherwise than strictly.
#pragma once

#include <mutex>
#include <vector>

#include "sources/window.hpp"
#include "structure/cpu/find.hpp"

namespace headrace {

enum class QuoteRun : u8 { neutral, opens, closes, either, none };

// Text in memory; `ends_input` if the input ends with it.
struct TextPart {
    const u8* text;
    usize size;
    bool ends_input;
};

// Runs of one source, asked by several threads.
class QuoteRuns {
public:
    QuoteRuns(const Source& source, const Dialect& dialect) : source_(source), dialect_(dialect) {}

    // Whether the quote at `at`, the first byte of a field, opens it.
    bool opens(const Window& window, usize at);

    // Whether a field that a quote before the window's byte `from` has opened is closed again.
    bool closes_behind(const Window& window, usize from);

    // The kind of the run that ends at `end`, and where it begins; none if the window does not show all that tells it.
    QuoteRun run_before(const Window& window, usize end, usize& begin) const;

    bool delimiter_before(const TextPart& part, usize at) const;
    bool delimiter_at(const TextPart& part, usize at) const;
    bool doubles() const { return dialect_.double_quote; }
    u8 quote() const { return static_cast<u8>(dialect_.quote); }
    u32 unreal_group() const { return dialect_.unreal_group; }

private:
    struct Found {
        QuoteRun kind;  // none: not in this part
        usize at;       // of the run's first quote; of a part without one, where to look on
    };
    Found next_decisive(const TextPart& part, usize from) const;
    QuoteRun next_in_source(std::uint64_t from);
    QuoteRun kind_of(const TextPart& part, usize begin, usize end) const;
    bool escaped(const TextPart& part, usize at) const;
    bool shows(const TextPart& part, usize end) const { return part.ends_input || end + LOOK_AHEAD <= part.size; }

    static constexpr usize LOOK_BEHIND = 64;
    static constexpr usize LOOK_AHEAD = 8;  // no delimiter is longer

    const Source& source_;
    const Dialect& dialect_;
    std::mutex mutex_;
    // The last long search: no decisive run begins in [quiet_begin_, quiet_end_), and then comes one of this kind.
    std::uint64_t quiet_begin_ = 1, quiet_end_ = 0;
    QuoteRun after_quiet_ = QuoteRun::none;
};

// The quotes in one window, as the kernels ask about them. Both must outlive what `look` returns.
struct WindowQuotes {
    QuoteRuns& runs;
    const Window& window;

    QuoteLook look();
};

// Where the lenient quotes of one tile open and close, found from left to right: the form that masks take.
class LenientMarks {
public:
    explicit LenientMarks(QuoteRuns& runs) : runs_(runs) {}

    // Before the tile's first byte the automaton is in `state`.
    void begin(const Automaton& automaton, u8 state);

    // Marks the window up to `to`, which is extended if the byte behind a quote has to be seen.
    void mark(Window& window, usize to);

    const u64* bits() const { return bits_.data(); }
    const std::vector<u32>& strays() const { return strays_; }

private:
    void toggle(usize at);
    usize next_inside(Window& window, usize quote);
    void enter(Window& window);

    QuoteRuns& runs_;
    std::vector<u64> bits_;
    std::vector<u32> strays_;
    usize done_ = 0;
    bool inside_ = false;
    bool behind_quote_ = false;   // before the tile: a quote that may have closed its field
    bool at_field_start_ = true;  // before the tile
};

}  // namespace headrace
