// Interprets lenient quotes. A quote at the start of a field opens it only if a later quote closes it. A quote that is
// malformed where it stands is text. The kind of a run of quotes depends only on the bytes around it:
// | odd, after a delimiter, before other text     opens    ,"ab
// | odd, after other text, before a delimiter     closes   ab",   (or the input's end)
// | odd, between delimiters                       either   ,",
// | all others                                    neutral  ""     (a quote inside quotes), a"b
// If the dialect does not double quotes, every run counts as odd. A run of two quotes or more between delimiters is
// then a field of its own, and closes a field that is open. A field is quoted if the next run after its opening one
// that is not neutral may close it. So an unclosed quote cannot swallow the text after it, and text whose quotes are
// all well-formed is read as with strict quotes.
#pragma once

#include <mutex>
#include <vector>

#include "sources/window.hpp"
#include "structure/cpu/find.hpp"

namespace headrace {

enum class QuoteRun : u8 { neutral, opens, closes, either, none };

// Text in memory. `ends_input`: the input ends with it.
struct TextPart {
    const u8* text;
    usize size;
    bool ends_input;
};

// Classifies runs of quotes in one source. Several threads may call it.
class QuoteRuns {
public:
    QuoteRuns(const Source& source, const Dialect& dialect) : source_(source), dialect_(dialect) {}

    // Return whether the quote at `at`, the first byte of a field, opens the field.
    bool opens(const Window& window, usize at);

    // Return whether a field opened before the window's byte `from` is closed later.
    bool closes_behind(const Window& window, usize from);

    // Return the kind of the run that ends at `end`, and where it begins; `none` if the window has too little context.
    QuoteRun run_before(const Window& window, usize end, usize& begin) const;

    bool delimiter_before(const TextPart& part, usize at) const;
    bool delimiter_at(const TextPart& part, usize at) const;
    bool doubles() const { return dialect_.double_quote; }
    u8 quote() const { return static_cast<u8>(dialect_.quote); }
    u32 unreal_group() const { return dialect_.unreal_group; }

private:
    struct Found {
        QuoteRun kind;  // `none`: not in this part
        usize at;       // the run's first quote; if there is none, where the search continues
    };
    Found next_decisive(const TextPart& part, usize from) const;
    QuoteRun next_in_source(std::uint64_t from);
    QuoteRun kind_of(const TextPart& part, usize begin, usize end) const;
    bool escaped(const TextPart& part, usize at) const;
    bool shows(const TextPart& part, usize end) const { return part.ends_input || end + LOOK_AHEAD <= part.size; }

    static constexpr usize LOOK_BEHIND = 64;
    static constexpr usize LOOK_AHEAD = 8;  // the longest delimiter

    const Source& source_;
    const Dialect& dialect_;
    std::mutex mutex_;
    // Cache of the last search beyond a window: no decisive run begins in [quiet_begin_, quiet_end_); the next is of
    // this kind.
    std::uint64_t quiet_begin_ = 1, quiet_end_ = 0;
    QuoteRun after_quiet_ = QuoteRun::none;
};

// The quotes in one window, as the kernels ask about them. Both must outlive what `look` returns.
struct WindowQuotes {
    QuoteRuns& runs;
    const Window& window;

    QuoteLook look();
};

// Marks where the lenient quotes of one tile open and close, for the mask kernels. It works from left to right.
class LenientMarks {
public:
    explicit LenientMarks(QuoteRuns& runs) : runs_(runs) {}

    // Start a tile with the automaton in `state`.
    void begin(const Automaton& automaton, u8 state);

    // Mark the window up to `to`. The window is extended if the byte after a quote is needed.
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
    bool behind_quote_ = false;   // a quote that may have closed its field precedes the tile
    bool at_field_start_ = true;  // a quote as the tile's first byte would open a field
};

}  // namespace headrace
