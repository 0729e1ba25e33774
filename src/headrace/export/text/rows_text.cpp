#include "export/text/rows_text.hpp"

#include <algorithm>
#include <string_view>

#include "columns/rules/escape_sequences.hpp"
#include "export/text/value_text.hpp"

namespace headrace {
namespace {

std::string special_bytes(const TextOptions& options) {
    std::string bytes = options.sep + "\r\n" + options.line_end;
    if (options.has_quote) bytes += static_cast<char>(options.quote);
    if (options.escape >= 0) bytes += static_cast<char>(options.escape);
    return bytes;
}

bool is_blank(u8 byte) { return byte == ' ' || byte == '\t'; }

// Bytes that mark an encoding or a compression at the start of a file. A text that begins with them cannot begin the
// file unquoted.
constexpr std::string_view FIRST_BYTES[] = {"\xEF\xBB\xBF", "\xFE\xFF",         "\xFF\xFE",         "\x1F\x8B",  "BZh",
                                            "\xFD\x37\x7A", "\x28\xB5\x2F\xFD", "\x04\x22\x4D\x18", "PK\x03\x04"};

// Returns the letter that stands for a byte after an escape; the byte itself if no letter does. A zero byte and 1A are
// written as they are, since PostgreSQL reads their letters otherwise.
u8 escape_letter(u8 byte) {
    for (const char letter : {'b', 'f', 'n', 'r', 't', 'v'}) {
        if (escaped_byte(static_cast<u8>(letter)) == byte) return static_cast<u8>(letter);
    }
    return byte;
}

// Copies a short text, as a whole word if there is room after it.
u8* put_short(u8* out, const std::string& text) {
    if (text.size() == 1) {
        *out = static_cast<u8>(text[0]);
        return out + 1;
    }
    __builtin_memcpy(out, text.data(), text.size());
    return out + text.size();
}

}  // namespace

TextPlan::TextPlan(TextOptions given, const std::vector<ColumnFormat>& formats)
    : options(std::move(given)), special(special_bytes(options)), columns(formats) {
    for (const ColumnFormat& column : columns) {
        ColumnPlan plan;
        plan.width = value_width(column) + VALUE_SLACK;
        const std::string_view alphabet = value_alphabet(column);
        const auto means_something = [&](char c) {
            return special.listed(static_cast<u8>(c)) || options.comment.starts_with(c);
        };
        plan.plain = options.quoting == Quoting::minimal && options.null.empty() && special.few() && !plans.empty();
        plan.checked = options.quoting == Quoting::all || !options.null.empty() ||
                       std::any_of(alphabet.begin(), alphabet.end(), means_something);
        row_width += plan.width + options.sep.size() + options.null.size() + 2;
        plans.push_back(plan);
    }
    row_width += options.line_end.size();
}

void RowsText::reserve(usize bytes) {
    if (static_cast<usize>(limit_ - end_) >= bytes) return;
    const usize used = size();
    const usize capacity = std::max(used + bytes, (used + used / 2) + (usize{1} << 16));
    auto grown = std::make_unique_for_overwrite<u8[]>(capacity);
    std::copy_n(begin_.get(), used, grown.get());
    begin_ = std::move(grown);
    end_ = begin_.get() + used;
    limit_ = begin_.get() + capacity;
}

std::unique_ptr<u8[]> RowsText::release() {
    end_ = limit_ = nullptr;
    return std::move(begin_);
}

void RowsText::add(std::string_view text) {
    reserve(text.size());
    end_ = std::copy(text.begin(), text.end(), end_);
}

void RowsText::add_header() {
    row_ = -1;
    at_start_ = true;
    for (usize i = 0; i < plan_.columns.size(); ++i) {
        if (i > 0) add(plan_.options.sep);
        const std::string& name = plan_.columns[i].name;
        const i64 size = static_cast<i64>(name.size());
        add_text({reinterpret_cast<const u8*>(name.data()), size, size}, i);
        at_start_ = false;
    }
    add(plan_.options.line_end);
}

void RowsText::add_rows(const Batch& batch, i64 begin, i64 end, i64 first) {
    const usize count = batch.columns.size();
    for (i64 row = begin; row < end; ++row) {
        row_ = first + row;
        at_start_ = row_ == 0 && !plan_.options.header;
        reserve(plan_.row_width);
        for (usize i = 0; i < count; ++i) {
            if (i > 0) end_ = put_short(end_, plan_.options.sep);
            add_cell(batch.columns[i], i, row);
        }
        end_ = put_short(end_, plan_.options.line_end);
    }
}

// Adds one field. Before and after, there is room for the fixed-width parts of the rest of the row.
inline void RowsText::add_cell(const ColumnView& column, usize number, i64 row) {
    if (column.is_null(row) || column.format->kind == ArrowKind::null) {
        add_null();
    } else if (column.format->kind == ArrowKind::dictionary) {
        add_cell(*column.dictionary, number, dictionary_index(column, row));
    } else if (is_text(column.format->kind)) {
        const Text text = text_at(column, row);
        if (!add_short_text(text, number)) add_text(text, number);
    } else if (plan_.plans[number].checked) {
        add_checked(column, number, row);
    } else {
        u8* const end = write_value({column, row, plan_.options.plain_nan}, end_);
        if (end == nullptr) [[unlikely]]
            refuse_value(column, number, row);
        end_ = end;
    }
}

void RowsText::add_null() {
    const std::string& null = plan_.options.null;
    if (null.empty() && plan_.columns.size() == 1)
        throw std::invalid_argument("row " + std::to_string(row_) + " of the only column, '" + plan_.columns[0].name +
                                    "', is null: written as nothing it would be a blank line, which readers skip; pass "
                                    "null='NA' and read it with null_values='NA'");
    end_ = put_short(end_, null);
}

void RowsText::add_checked(const ColumnView& column, usize number, i64 row) {
    scratch_.resize(plan_.plans[number].width);
    const u8* end = write_value({column, row, plan_.options.plain_nan}, scratch_.data());
    if (end == nullptr) [[unlikely]]
        refuse_value(column, number, row);
    add_text({scratch_.data(), end - scratch_.data(), static_cast<i64>(scratch_.size())}, number);
}

// Returns whether a text without special bytes needs quotes.
RowsText::Need RowsText::need_of_quotes(const Text& text, usize column) const {
    const TextOptions& options = plan_.options;
    if (text.size == 0) return options.null.empty() || plan_.columns.size() == 1 ? Need::must : Need::better;
    if (column == 0 || !options.null.empty()) {
        const std::string_view bytes(reinterpret_cast<const char*>(text.begin), static_cast<usize>(text.size));
        if (bytes == options.null && row_ >= 0) return Need::must;
        if (column == 0 && begins_specially(bytes)) return Need::must;
    }
    return is_blank(text.begin[0]) || is_blank(text.begin[text.size - 1]) ? Need::better : Need::none;
}

bool RowsText::begins_specially(std::string_view text) const {
    const std::string& comment = plan_.options.comment;
    if (!comment.empty() && text.starts_with(comment)) return true;
    return at_start_ && std::any_of(std::begin(FIRST_BYTES), std::end(FIRST_BYTES),
                                    [&](std::string_view first) { return text.starts_with(first); });
}

// Adds a text of up to 16 bytes that needs no further examination, the common case, without a call. Returns false if
// the text may need it.
inline bool RowsText::add_short_text(const Text& text, usize column) {
    const usize n = static_cast<usize>(text.size);
    if (n - 1 >= 16 || text.readable < 16 || !plan_.plans[column].plain) return false;
    const Bytes16 bytes = load_bytes(text.begin);
    if (plan_.special.any_in(bytes, n) || is_blank(text.begin[0]) || is_blank(text.begin[n - 1])) return false;
    store_bytes(end_, bytes);
    end_ += n;
    return true;
}

void RowsText::add_text(const Text& text, usize column) {
    const usize n = static_cast<usize>(text.size), readable = static_cast<usize>(text.readable);
    reserve(2 * n + 2 + plan_.row_width);
    const Quoting quoting = plan_.options.quoting;
    if (quoting != Quoting::all && plan_.special.copy_plain(text.begin, n, readable, end_)) {
        const Need need = need_of_quotes(text, column);
        if (need == Need::none || (need == Need::better && quoting == Quoting::none)) {
            end_ += n;
            return;
        }
    }
    if (quoting == Quoting::none) return add_escaped({reinterpret_cast<const char*>(text.begin), n}, column);
    *end_++ = plan_.options.quote;
    end_ = copy_doubled(text.begin, n, readable, plan_.options.quote, end_);
    *end_++ = plan_.options.quote;
}

// Adds a text that needs quotes with escapes in their place, for which there is room. An empty text has no byte to
// escape. A text that equals the null text without an escape would be null whatever is escaped.
void RowsText::add_escaped(std::string_view text, usize column) {
    const TextOptions& options = plan_.options;
    const char escape = static_cast<char>(options.escape);
    const bool is_null = text == options.null && row_ >= 0 && text.find(escape) == std::string_view::npos;
    if (options.escape < 0 || text.empty() || is_null) refuse_quotes(column);
    bool needs_escape = column == 0 && begins_specially(text);
    for (const char c : text) {
        const u8 byte = static_cast<u8>(c);
        needs_escape |= plan_.special.listed(byte);
        if (needs_escape) *end_++ = static_cast<u8>(escape);
        *end_++ = needs_escape && options.escape_sequences ? escape_letter(byte) : byte;
        needs_escape = false;
    }
}

void RowsText::refuse_value(const ColumnView& column, usize number, i64 row) const {
    const ArrowKind kind = column.format->kind;
    const bool has_years = kind == ArrowKind::date32 || kind == ArrowKind::date64 || kind == ArrowKind::timestamp;
    const bool is_short = kind == ArrowKind::date32 || (!has_years && column.format->unit <= TimeUnit::ms);
    const i64 value = is_short ? column.value<i32>(row) : column.value<i64>(row);
    throw std::invalid_argument("row " + std::to_string(row_) + " of column '" + plan_.columns[number].name +
                                "' has the value " + std::to_string(value) + ", which lies outside " +
                                (has_years ? "the years 0000 to 9999" : "a day") +
                                ": no text reads back as it; replace the value, or write the column as integers");
}

void RowsText::refuse_quotes(usize column) const {
    const std::string where = row_ < 0 ? "the name of column '" : "row " + std::to_string(row_) + " of column '";
    throw std::invalid_argument(where + plan_.columns[column].name +
                                "' cannot be written without quotes so that it reads back the same; pass "
                                "quoting='minimal', an escape_char, or another sep or null");
}

}  // namespace headrace
