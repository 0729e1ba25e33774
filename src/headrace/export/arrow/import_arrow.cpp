#include "export/arrow/import_arrow.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include "export/arrow/wrong_rows.hpp"

namespace headrace {
namespace {

[[noreturn]] void refuse(const ColumnFormat& column, std::string_view what) {
    throw std::invalid_argument("column '" + column.name + "' is " + std::string(what) +
                                ", which has no text in a CSV file; cast it, or leave it out");
}

[[noreturn]] void malformed(const ColumnFormat& column, std::string_view format) {
    throw StreamFailure("column '" + column.name + "' has the Arrow format '" + std::string(format) +
                        "', which is none that is known");
}

TimeUnit unit_of(char letter) {
    return letter == 's' ? TimeUnit::s : letter == 'm' ? TimeUnit::ms : letter == 'u' ? TimeUnit::us : TimeUnit::ns;
}

// Parses "d:19,10" or "d:19,10,256".
void set_decimal(ColumnFormat& column, const std::string& format) {
    int precision = 0, scale = 0, bits = 128;
    if (std::sscanf(format.c_str(), "d:%d,%d,%d", &precision, &scale, &bits) < 2) malformed(column, format);
    if (bits != 32 && bits != 64 && bits != 128 && bits != 256) malformed(column, format);
    if (scale < -10000 || scale > 10000) refuse(column, "a decimal of more than 10000 digits");
    column.kind = ArrowKind::decimal128;
    column.width = bits / 8;
    column.decimal_words = bits < 64 ? 1 : bits / 64;
    column.scale = scale;
}

// Sets the kind if a type's format begins with these letters, followed by the letter of a unit if it has units.
bool set_if(ColumnFormat& column, const std::string& format, ArrowKind kind, std::string_view letters,
            std::string_view units) {
    const usize size = letters.size();
    if (units.empty() ? format != letters : !format.starts_with(letters) || format.size() <= size) return false;
    if (!units.empty() && units.find(format[size]) == units.npos) return false;
    column.kind = kind;
    if (!units.empty()) column.unit = unit_of(format[size]);
    column.instant = kind == ArrowKind::timestamp && format.size() > 4;
    return true;
}

// Parses the formats of the types in core/types.def, such as "l", "ttu" and "tsn:Europe/Berlin".
bool set_type(ColumnFormat& column, const std::string& format) {
#define HR_TYPE(id, name, bits, family, Value, letters, units) \
    if (set_if(column, format, ArrowKind::id, letters, units)) return true;
#include "core/types.def"
    return false;
}

void set_kind(ColumnFormat& column, const std::string& format) {
    if (format.starts_with('+')) refuse(column, format == "+r" ? "run-end encoded" : "nested");
    if (format.starts_with("ti")) refuse(column, "an interval");
    if (format == "vu" || format == "vz") {
        column.kind = ArrowKind::text_view;
    } else if (format.starts_with("w:")) {
        column.kind = ArrowKind::text_fixed;
        column.width = std::atoi(format.c_str() + 2);
        if (column.width < 0) malformed(column, format);
    } else if (format.starts_with("d:")) {
        set_decimal(column, format);
    } else if (format == "e" || format == "tdm") {
        column.kind = format == "e" ? ArrowKind::float16 : ArrowKind::date64;
    } else if (!set_type(column, format)) {
        malformed(column, format);
    }
}

const void* buffer(const ArrowArray& array, i64 number) { return array.buffers[number]; }

i64 buffers_needed(ArrowKind kind) {
    if (kind == ArrowKind::null) return 0;
    return has_short_offsets(kind) || has_long_offsets(kind) || kind == ArrowKind::text_view ? 3 : 2;
}

}  // namespace

ColumnFormat column_format(const ArrowSchema& schema) {
    ColumnFormat column;
    column.name = schema.name == nullptr ? "" : schema.name;
    const std::string format = schema.format == nullptr ? "" : schema.format;
    set_kind(column, format);
    if (schema.dictionary == nullptr) return column;
    if (column.kind < ArrowKind::int8 || column.kind > ArrowKind::uint64) malformed(column, format);
    column.index = column.kind;
    column.kind = ArrowKind::dictionary;
    column.values = std::make_unique<ColumnFormat>(column_format(*schema.dictionary));
    column.values->name = column.name;
    return column;
}

std::vector<ColumnFormat> table_format(const ArrowSchema& schema) {
    if (schema.format == nullptr || std::string_view(schema.format) != "+s")
        throw std::invalid_argument("a table is needed, not a stream of single arrays");
    std::vector<ColumnFormat> columns;
    for (i64 i = 0; i < schema.n_children; ++i) columns.push_back(column_format(*schema.children[i]));
    return columns;
}

ColumnView::ColumnView(const ColumnFormat& of, const ArrowArray& array, i64 first)
    : format(&of), offset(array.offset + first), length(array.length - first) {
    const i64 needed = buffers_needed(of.kind == ArrowKind::dictionary ? of.index : of.kind);
    if (array.n_buffers < needed || length < 0 || array.offset < 0)
        fail("lacks buffers or rows that its type must have");
    if (needed == 0) return;
    validity = static_cast<const u8*>(array.null_count == 0 ? nullptr : buffer(array, 0));
    values = static_cast<const u8*>(buffer(array, 1));
    if (values == nullptr && length > 0 && (of.kind != ArrowKind::text_fixed || of.width > 0))
        fail("lacks buffers or rows that its type must have");
    if (of.kind == ArrowKind::text_view) {
        set_views(array);
    } else if (needed == 3) {
        data = static_cast<const u8*>(buffer(array, 2));
        if (length > 0) set_texts();
    } else if (of.kind == ArrowKind::text_fixed) {
        data_size = (offset + length) * of.width;
    }
    if (of.kind != ArrowKind::dictionary) return;
    if (array.dictionary == nullptr) fail("lacks its dictionary");
    dictionary = std::make_unique<ColumnView>(*of.values, *array.dictionary, 0);
}

void ColumnView::fail(std::string_view what) const {
    throw StreamFailure("column '" + format->name + "' " + std::string(what));
}

// The interface has no size of the texts' bytes: it is the last offset.
void ColumnView::set_texts() {
    const bool is_short = has_short_offsets(format->kind);
    const i64 end = offset + length;
    data_size = is_short ? i64{reinterpret_cast<const i32*>(values)[end]} : reinterpret_cast<const i64*>(values)[end];
    const int width = is_short ? sizeof(i32) : sizeof(i64);
    const i64 row = wrong_offset(values + offset * width, width, length, data_size);
    if (row >= 0) fail("has a text in row " + std::to_string(row) + " that ends before it begins");
    if (data == nullptr && data_size > 0) fail("lacks the bytes of its texts");
}

void ColumnView::set_views(const ArrowArray& array) {
    buffers = array.buffers + 2;
    buffer_count = array.n_buffers - 3;  // the last buffer contains the sizes of the others
    buffer_sizes = static_cast<const i64*>(buffer(array, array.n_buffers - 1));
    if (buffer_count > 0 && buffer_sizes == nullptr) fail("lacks the sizes of its buffers");
}

// Returns the text of a view. A view is a size, followed by the text if that has at most 12 bytes. Otherwise the first
// 4 bytes follow, the buffer's index and the offset in it.
Text view_at(const ColumnView& column, i64 row) {
    const i64 at = column.offset + row;
    const u8* view = column.values + at * 16;
    i32 parts[4];
    __builtin_memcpy(parts, view, 16);
    if (parts[0] >= 0 && parts[0] <= 12) return {view + 4, parts[0], (column.offset + column.length - at) * 16 - 4};
    const i32 number = parts[2];
    const i64 begin = parts[3];
    if (parts[0] < 0 || number < 0 || number >= column.buffer_count || begin < 0 ||
        begin + parts[0] > column.buffer_sizes[number])
        throw StreamFailure("column '" + column.format->name + "' has a view of bytes that are not there");
    return {static_cast<const u8*>(column.buffers[number]) + begin, parts[0], column.buffer_sizes[number] - begin};
}

i64 dictionary_index(const ColumnView& column, i64 row) {
    i64 index = -1;
    switch (column.format->index) {
        case ArrowKind::int8:
            index = column.value<i8>(row);
            break;
        case ArrowKind::int16:
            index = column.value<i16>(row);
            break;
        case ArrowKind::int32:
            index = column.value<i32>(row);
            break;
        case ArrowKind::uint8:
            index = column.value<u8>(row);
            break;
        case ArrowKind::uint16:
            index = column.value<u16>(row);
            break;
        case ArrowKind::uint32:
            index = column.value<u32>(row);
            break;
        default:
            index = column.value<i64>(row);
    }
    if (index < 0 || index >= column.dictionary->length)
        throw StreamFailure("column '" + column.format->name + "' refers to a value that its dictionary lacks");
    return index;
}

Batch::~Batch() {
    if (array.release != nullptr) array.release(&array);
}

ImportedStream::ImportedStream(ArrowArrayStream* stream) : stream_(*stream) {
    stream->release = nullptr;
    ArrowSchema schema{};
    try {
        if (stream_.release == nullptr) throw StreamFailure("the table's stream has been read already");
        if (const int code = stream_.get_schema(&stream_, &schema); code != 0) fail(code);
        format_ = table_format(schema);
    } catch (...) {
        if (schema.release != nullptr) schema.release(&schema);
        if (stream_.release != nullptr) stream_.release(&stream_);
        throw;
    }
    schema.release(&schema);
}

ImportedStream::~ImportedStream() {
    if (stream_.release != nullptr) stream_.release(&stream_);
}

void ImportedStream::fail(int code) {
    if (code == ENOMEM) throw std::bad_alloc();
    const char* message = stream_.get_last_error(&stream_);
    throw StreamFailure(std::string("the table's stream failed: ") +
                        (message != nullptr ? message : std::strerror(code)));
}

std::shared_ptr<const Batch> ImportedStream::next() {
    auto batch = std::make_shared<Batch>();
    if (const int code = stream_.get_next(&stream_, &batch->array); code != 0) fail(code);
    if (batch->array.release == nullptr) return nullptr;
    const ArrowArray& array = batch->array;
    if (array.n_children != static_cast<i64>(format_.size()) || array.length < 0 || array.offset < 0)
        throw StreamFailure("a batch of the table's stream has other columns than its schema");
    if (array.null_count != 0 && array.n_buffers > 0 && buffer(array, 0) != nullptr)
        throw std::invalid_argument("whole rows are null; pass a table, not an array of structs with nulls");
    batch->rows = array.length;
    for (i64 i = 0; i < array.n_children; ++i) {
        batch->columns.emplace_back(format_[static_cast<usize>(i)], *array.children[i], array.offset);
        if (batch->columns.back().length < array.length)
            throw StreamFailure("column '" + format_[static_cast<usize>(i)].name + "' is shorter than its batch");
    }
    return batch;
}

}  // namespace headrace
