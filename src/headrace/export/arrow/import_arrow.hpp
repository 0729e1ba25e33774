// Tables of any Arrow library, read through the C data interface: what a column's format text means, and where the
// values of one batch lie.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/cpu/portable.hpp"
#include "export/arrow/arrow.hpp"

namespace headrace {

// The producer of a stream failed, or what it gave breaks the interface.
class StreamFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class ArrowKind : u8 {
    null,
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64,
    decimal,
    date32,
    date64,
    time32,
    time64,
    timestamp,
    duration,
    text32,  // strings and binary, by the width of their offsets
    text64,
    text_view,
    text_fixed,
    dictionary,
};

enum class Unit : u8 { s, ms, us, ns };

// A column's type, from its schema.
struct ColumnFormat {
    std::string name;
    ArrowKind kind = ArrowKind::null;
    Unit unit = Unit::s;
    bool instant = false;                  // of a timestamp: it has a zone
    int decimal_words = 0;                 // 64-bit words; 32-bit decimals have one, too
    int width = 0;                         // bytes of a decimal or a text_fixed
    i32 scale = 0;                         // of a decimal
    ArrowKind index = ArrowKind::null;     // of a dictionary
    std::unique_ptr<ColumnFormat> values;  // of a dictionary
};

// Throws std::invalid_argument, which names the column, for types that are no text: nested ones, intervals.
ColumnFormat column_format(const ArrowSchema& schema);
std::vector<ColumnFormat> table_format(const ArrowSchema& schema);

inline bool is_text(ArrowKind kind) { return kind >= ArrowKind::text32 && kind <= ArrowKind::text_fixed; }

// A column's values in one batch; borrowed.
struct ColumnView {
    ColumnView(const ColumnFormat& format, const ArrowArray& array, i64 first);

    bool is_null(i64 row) const {
        const i64 at = offset + row;
        return validity != nullptr && (validity[at >> 3] >> (at & 7) & 1) == 0;
    }
    template <class T>
    T value(i64 row) const {
        T loaded;
        __builtin_memcpy(&loaded, values + (offset + row) * static_cast<i64>(sizeof(T)), sizeof(T));
        return loaded;
    }

    i64 last_offset() const;  // of texts: where the last one ends

    const ColumnFormat* format;
    const u8* validity = nullptr;
    const u8* values = nullptr;            // or offsets, or views
    const u8* data = nullptr;              // of texts with offsets
    i64 data_size = 0;                     // bytes of it that are there for sure
    const void* const* buffers = nullptr;  // of text views, from the first data buffer on
    const i64* buffer_sizes = nullptr;
    i64 buffer_count = 0;
    i64 offset = 0;
    i64 length = 0;
    std::unique_ptr<ColumnView> dictionary;
};

// Of what lies at `begin`, `size` bytes are the text; `readable` may be read, so that vector code need not stop at its
// end.
struct Text {
    const u8* begin;
    i64 size;
    i64 readable;
};

Text view_at(const ColumnView& column, i64 row);  // of a text_view

inline Text text_at(const ColumnView& column, i64 row) {
    const i64 at = column.offset + row;
    i64 begin, end;
    if (column.format->kind == ArrowKind::text32) {
        const auto* offsets = reinterpret_cast<const i32*>(column.values) + at;
        begin = offsets[0], end = offsets[1];
    } else if (column.format->kind == ArrowKind::text64) {
        const auto* offsets = reinterpret_cast<const i64*>(column.values) + at;
        begin = offsets[0], end = offsets[1];
    } else if (column.format->kind == ArrowKind::text_fixed) {
        begin = at * column.format->width, end = begin + column.format->width;
        return {column.values + begin, end - begin, column.data_size - begin};
    } else {
        return view_at(column, row);
    }
    return {column.data + begin, end - begin, column.data_size - begin};
}

i64 dictionary_index(const ColumnView& column, i64 row);  // checked: within the dictionary

// One batch of a stream; gives it back at its end.
class Batch {
public:
    Batch() = default;
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    ArrowArray array{};
    std::vector<ColumnView> columns;
    i64 rows = 0;
};

// A stream that somebody else made; owned from here on.
class ImportedStream {
public:
    explicit ImportedStream(ArrowArrayStream* stream);  // takes it out of `stream`
    ~ImportedStream();
    ImportedStream(const ImportedStream&) = delete;
    ImportedStream& operator=(const ImportedStream&) = delete;

    const std::vector<ColumnFormat>& format() const { return format_; }
    std::shared_ptr<const Batch> next();  // null at the end

private:
    [[noreturn]] void fail(int code);

    ArrowArrayStream stream_;
    std::vector<ColumnFormat> format_;
};

}  // namespace headrace
