// Imports tables of any Arrow library through the C data interface. It parses the format strings of columns, and gives
// access to the values of one batch.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/cpu/portable.hpp"
#include "export/arrow/arrow.hpp"

namespace headrace {

// The producer of a stream failed, or violated the interface.
class StreamFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The types of core/types.def, and types that only other libraries have. A decimal128 may have any width here.
enum class ArrowKind : u8 {
#define HR_TYPE(id, ...) id,
#include "core/types.def"
    float16,
    date64,
    text_view,
    text_fixed,
    dictionary,
};

enum class TimeUnit : u8 { s, ms, us, ns };

// The type of a column, parsed from its schema.
struct ColumnFormat {
    std::string name;
    ArrowKind kind = ArrowKind::null;
    TimeUnit unit = TimeUnit::s;
    bool instant = false;                  // a timestamp with a zone
    int decimal_words = 0;                 // 64-bit words of a decimal; one for 32-bit decimals too
    int width = 0;                         // bytes of a value: decimal, text_fixed
    i32 scale = 0;                         // decimal only
    ArrowKind index = ArrowKind::null;     // type of a dictionary's codes
    std::unique_ptr<ColumnFormat> values;  // type of a dictionary's values
};

// Returns the type of a column. Throws std::invalid_argument with the column's name for types without text: nested
// types, intervals.
ColumnFormat column_format(const ArrowSchema& schema);
std::vector<ColumnFormat> table_format(const ArrowSchema& schema);

// Returns whether the column has offsets of 32 bits, or of 64 bits.
inline bool has_short_offsets(ArrowKind kind) { return kind == ArrowKind::string || kind == ArrowKind::binary; }
inline bool has_long_offsets(ArrowKind kind) {
    return kind == ArrowKind::large_string || kind == ArrowKind::large_binary;
}

inline bool is_text(ArrowKind kind) {
    return has_short_offsets(kind) || has_long_offsets(kind) || kind == ArrowKind::text_view ||
           kind == ArrowKind::text_fixed;
}

// The values of a column in one batch. The batch owns the memory.
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

    const ColumnFormat* format;
    const u8* validity = nullptr;
    const u8* values = nullptr;            // values, offsets or views
    const u8* data = nullptr;              // bytes of strings with offsets
    i64 data_size = 0;                     // bytes of `data` known to exist
    const void* const* buffers = nullptr;  // data buffers of string views
    const i64* buffer_sizes = nullptr;
    i64 buffer_count = 0;
    i64 offset = 0;
    i64 length = 0;
    std::unique_ptr<ColumnView> dictionary;

private:
    void set_texts();  // strings with offsets
    void set_views(const ArrowArray& array);
    [[noreturn]] void fail(std::string_view what) const;
};

// A text of `size` bytes. `readable` bytes from `begin` on may be read, so that vector code may read past the text's
// end.
struct Text {
    const u8* begin;
    i64 size;
    i64 readable;
};

Text view_at(const ColumnView& column, i64 row);  // for kind text_view

inline Text text_at(const ColumnView& column, i64 row) {
    const i64 at = column.offset + row;
    i64 begin, end;
    if (has_short_offsets(column.format->kind)) {
        const auto* offsets = reinterpret_cast<const i32*>(column.values) + at;
        begin = offsets[0], end = offsets[1];
    } else if (has_long_offsets(column.format->kind)) {
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

i64 dictionary_index(const ColumnView& column, i64 row);  // throws if it is outside the dictionary

// One batch of a stream; the destructor releases it.
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

// A stream of another library, owned by this object.
class ImportedStream {
public:
    explicit ImportedStream(ArrowArrayStream* stream);  // moves the stream out of `stream`
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
