#include "structure/cpu/lenient.hpp"

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

constexpr usize BYTES_OF_ASCII = 2;  // bytes of an ASCII character in the source, at most (UTF-16)

bool may_close(QuoteRun kind) { return kind == QuoteRun::closes || kind == QuoteRun::either; }

TextPart part_of(const Window& window) { return {window.data(), window.size(), window.at_end()}; }

// Most delimiters are one byte.
bool same_bytes(const u8* a, const u8* b, usize size) {
    return *a == *b && (size == 1 || std::memcmp(a, b, size) == 0);
}

usize run_end(const TextPart& part, usize begin, u8 quote) {
    usize end = begin;
    while (end < part.size && part.text[end] == quote) ++end;
    return end;
}

// Return the quote that closes the field that `quote` opens, if it is the next quote, lies before `to`, and a delimiter
// follows it. Otherwise, and for empty fields, return 0. Most quoted fields are such. The dialect has no escapes.
usize end_of_simple(const QuoteRuns& runs, const TextPart& part, usize quote, usize to) {
    const usize begin = quote + 1;
    const auto* found = static_cast<const u8*>(std::memchr(part.text + begin, runs.quote(), to - begin));
    if (found == nullptr || found == part.text + begin) return 0;
    const usize end = static_cast<usize>(found - part.text);
    return end + 1 < part.size && runs.delimiter_at(part, end + 1) ? end : 0;
}

}  // namespace

// Return whether an odd number of escape characters precedes `at`. A run of them longer than half of LOOK_BEHIND is
// assumed to consist of pairs.
bool QuoteRuns::escaped(const TextPart& part, usize at) const {
    if (dialect_.escape < 0) return false;
    usize count = 0;
    while (count < std::min(at, LOOK_BEHIND / 2) && part.text[at - count - 1] == dialect_.escape) ++count;
    return count % 2 == 1;
}

bool QuoteRuns::delimiter_at(const TextPart& part, usize at) const {
    if (at >= part.size) return part.ends_input;
    const auto is = [&](const u8* text, usize size) {
        return part.size - at >= size && same_bytes(part.text + at, text, size);
    };
    if (is(dialect_.separator_text, dialect_.separator_length)) return true;
    if (dialect_.universal_line_end) return part.text[at] == '\n' || part.text[at] == '\r';
    return is(dialect_.line_end_text, dialect_.line_end_length);
}

bool QuoteRuns::delimiter_before(const TextPart& part, usize at) const {
    if (dialect_.trims_fields()) {
        for (usize i = 0; i < LOOK_BEHIND / 4 && at > 0 && part.text[at - 1] == ' '; ++i) --at;
    }
    if (at == 0) return true;
    const auto is = [&](const u8* text, usize size) {
        return at >= size && same_bytes(part.text + at - size, text, size) && !escaped(part, at - size);
    };
    if (is(dialect_.separator_text, dialect_.separator_length)) return true;
    if (!dialect_.universal_line_end) return is(dialect_.line_end_text, dialect_.line_end_length);
    return (part.text[at - 1] == '\n' || part.text[at - 1] == '\r') && !escaped(part, at - 1);
}

// An escaped quote is text, so the run begins after it.
QuoteRun QuoteRuns::kind_of(const TextPart& part, usize begin, usize end) const {
    const bool first_is_text = escaped(part, begin);
    const usize quotes = end - begin - (first_is_text ? 1 : 0);
    if (quotes == 0 || (dialect_.double_quote && quotes % 2 == 0)) return QuoteRun::neutral;
    const bool before = !first_is_text && delimiter_before(part, begin);
    const bool after = delimiter_at(part, end);
    if (before && after) return dialect_.double_quote || quotes == 1 ? QuoteRun::either : QuoteRun::closes;
    if (before) return QuoteRun::opens;
    return after ? QuoteRun::closes : QuoteRun::neutral;
}

QuoteRuns::Found QuoteRuns::next_decisive(const TextPart& part, usize from) const {
    const u8 quote = static_cast<u8>(dialect_.quote);
    while (from < part.size) {
        const auto* found = static_cast<const u8*>(std::memchr(part.text + from, quote, part.size - from));
        if (found == nullptr) break;
        const usize begin = static_cast<usize>(found - part.text);
        const usize end = run_end(part, begin, quote);
        if (!shows(part, end)) return {QuoteRun::none, begin};
        const QuoteRun kind = kind_of(part, begin, end);
        if (kind != QuoteRun::neutral) return {kind, begin};
        from = end;
    }
    return {QuoteRun::none, part.size};
}

QuoteRun QuoteRuns::next_in_source(std::uint64_t from) {
    const std::lock_guard lock(mutex_);
    if (quiet_begin_ <= from && from <= quiet_end_) return after_quiet_;
    constexpr usize STEP = usize{256} << 10;  // bytes read at a time
    Window window(source_);
    quiet_begin_ = from;
    std::uint64_t searched = from;  // no decisive run begins from `from` up to this byte
    for (usize size = STEP;;) {
        const std::uint64_t begin = searched - std::min<std::uint64_t>(searched, LOOK_BEHIND * BYTES_OF_ASCII);
        window.open(begin, size);
        const TextPart part = part_of(window);
        const Found found = next_decisive(part, window.place_of(searched));
        quiet_end_ = window.origin(found.at);
        after_quiet_ = found.kind;
        if (found.kind != QuoteRun::none || part.ends_input) return found.kind;
        size = quiet_end_ == searched ? size * 2 : STEP;  // a run longer than the window
        searched = quiet_end_;
    }
}

bool QuoteRuns::closes_behind(const Window& window, usize from) {
    const Found found = next_decisive(part_of(window), from);
    if (found.kind != QuoteRun::none || window.at_end()) return may_close(found.kind);
    return may_close(next_in_source(window.origin(found.at)));
}

bool QuoteRuns::opens(const Window& window, usize at) {
    const TextPart part = part_of(window);
    const usize end = run_end(part, at, static_cast<u8>(dialect_.quote));
    if (!shows(part, end)) {
        Window wider(source_);
        wider.open(window.origin(at), std::max((end - at) * 2, LOOK_BEHIND) * BYTES_OF_ASCII);
        return opens(wider, 0);
    }
    // Fields of quotes alone: "" is empty; """" is one quote, or two if the dialect does not double quotes.
    if (dialect_.double_quote && (end - at) % 2 == 0) return delimiter_at(part, end);
    if (!dialect_.double_quote && end - at > 1 && delimiter_at(part, end)) return true;
    return closes_behind(window, end);
}

QuoteRun QuoteRuns::run_before(const Window& window, usize end, usize& begin) const {
    const TextPart part = part_of(window);
    begin = end;
    while (begin > 0 && part.text[begin - 1] == dialect_.quote) --begin;
    if (begin < LOOK_BEHIND || !shows(part, end)) return QuoteRun::none;
    return kind_of(part, begin, end);
}

QuoteLook WindowQuotes::look() {
    return {this,
            [](void* context, usize at) {
                const auto& quotes = *static_cast<WindowQuotes*>(context);
                return quotes.runs.opens(quotes.window, at);
            },
            [](void* context, usize from) {
                const auto& quotes = *static_cast<WindowQuotes*>(context);
                return quotes.runs.closes_behind(quotes.window, from);
            },
            [](void* context, usize end, usize* begin) {
                const auto& quotes = *static_cast<WindowQuotes*>(context);
                return static_cast<u8>(quotes.runs.run_before(quotes.window, end, *begin));
            }};
}

void LenientMarks::begin(const Automaton& automaton, u8 state) {
    bits_.clear();
    strays_.clear();
    done_ = 0;
    inside_ = automaton.is_quoted(state);
    // After quotes that may have closed the field, any other byte is inside again. At a field's start, a quote may open
    // it.
    const u8 quote_group = automaton.class_of[runs_.quote()];
    at_field_start_ = !inside_ && automaton.next[quote_group][state] != automaton.next[runs_.unreal_group()][state];
    behind_quote_ = !inside_ && automaton.is_quoted(automaton.next[automaton.groups - 1][state]);
}

void LenientMarks::toggle(usize at) { bits_[at / 64] ^= u64{1} << (at % 64); }

// Handle a quote inside quotes: two mean one, one before a delimiter closes, any other is text. Return where to
// continue.
usize LenientMarks::next_inside(Window& window, usize quote) {
    if (quote + 1 == window.size() && !window.at_end()) window.extend(window.size() + 4096);
    const TextPart part = {window.data(), window.size(), window.at_end()};
    const bool followed = quote + 1 < part.size && part.text[quote + 1] == runs_.quote();
    if (followed && runs_.doubles()) return quote + 2;
    if (runs_.delimiter_at(part, quote + 1)) {
        toggle(quote);
        inside_ = false;
    } else {
        strays_.push_back(static_cast<u32>(quote + 1));
    }
    return quote + 1;
}

// Handle the quote before the tile, which may have closed its field.
void LenientMarks::enter(Window& window) {
    const TextPart part = {window.data(), window.size(), window.at_end()};
    if (!behind_quote_ || runs_.delimiter_at(part, 0)) return;
    behind_quote_ = false;
    inside_ = true;
    toggle(0);
    if (part.text[0] == runs_.quote() && runs_.doubles()) {
        done_ = 1;
    } else {
        strays_.push_back(0);
    }
}

void LenientMarks::mark(Window& window, usize to) {
    bits_.resize(to / 64 + 3);
    if (done_ == 0 && to > 0) enter(window);
    while (done_ < to) {
        const u8* const text = window.data();
        const auto* found = static_cast<const u8*>(std::memchr(text + done_, runs_.quote(), to - done_));
        if (found == nullptr) {
            done_ = to;
            return;
        }
        const usize quote = static_cast<usize>(found - text);
        if (inside_) {
            done_ = next_inside(window, quote);
            continue;
        }
        done_ = quote + 1;
        const TextPart part = {text, window.size(), window.at_end()};
        const bool starts = quote == 0 ? at_field_start_ : runs_.delimiter_before(part, quote);
        const usize end = starts ? end_of_simple(runs_, part, quote, to) : 0;
        if (end != 0) {
            toggle(quote);
            toggle(end);
            done_ = end + 1;
        } else if (starts && runs_.opens(window, quote)) {
            toggle(quote);
            inside_ = true;
        } else {
            strays_.push_back(static_cast<u32>(quote));
        }
    }
}

}  // namespace headrace
