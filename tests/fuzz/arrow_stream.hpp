// Tables as another Arrow library would hand them over: every buffer just as long as it must be, and gone with its
// batch.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/cpu/portable.hpp"
#include "export/arrow/arrow.hpp"

namespace fuzz {

using namespace headrace;

enum class Layout : u8 { none, bits, fixed, offsets32, offsets64, views, dictionary };

struct Cell {
    bool null = false;
    std::string bytes;  // a text, or the value as it lies in memory; of a bool one byte
};

struct ArrowInput {
    const char* format;
    Layout layout;
    std::string name;
    std::vector<Cell> cells;
};

// Rows [begin, end) of all columns as one batch; `shift` rows of something else lie before them.
struct BatchRows {
    usize begin, end, shift;
};

class OwnedArray {
public:
    ArrowArray array{};

    static std::unique_ptr<OwnedArray> column(const ArrowInput& input, const BatchRows& rows) {
        auto made = std::make_unique<OwnedArray>();
        const usize width = input.layout == Layout::fixed ? input.cells.front().bytes.size() : 0;
        std::vector<Cell> cells(rows.shift, Cell{true, std::string(width, '\xAA')});
        cells.insert(cells.end(), input.cells.begin() + static_cast<i64>(rows.begin),
                     input.cells.begin() + static_cast<i64>(rows.end));
        made->set_rows(cells.size() - rows.shift, rows.shift);
        made->fill(input.layout, cells);
        return made;
    }

    static std::unique_ptr<OwnedArray> table(const std::vector<ArrowInput>& columns, const BatchRows& rows) {
        auto made = std::make_unique<OwnedArray>();
        for (const ArrowInput& input : columns) {
            made->children_.push_back(column(input, rows));
            made->child_arrays_.push_back(&made->children_.back()->array);
        }
        made->set_rows(rows.end - rows.begin, 0);
        made->add_nothing();
        made->point();
        return made;
    }

    // Moves it to `out`, whose release ends it.
    static void hand_over(std::unique_ptr<OwnedArray> owned, ArrowArray* out) {
        *out = owned->array;
        out->private_data = owned.release();
        out->release = [](ArrowArray* self) {
            delete static_cast<OwnedArray*>(self->private_data);
            self->release = nullptr;
        };
    }

private:
    void set_rows(usize rows, usize offset) {
        array.length = static_cast<i64>(rows);
        array.offset = static_cast<i64>(offset);
    }

    void add_nothing() { pointers_.push_back(nullptr); }

    void add(const std::string& bytes) {
        owned_.push_back(std::make_unique<char[]>(bytes.size()));
        std::memcpy(owned_.back().get(), bytes.data(), bytes.size());
        pointers_.push_back(owned_.back().get());
    }

    template <class T>
    static void append(std::string& to, T value) {
        to.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    static std::string bits(const std::vector<Cell>& cells, bool (*set)(const Cell&)) {
        std::string bytes((cells.size() + 7) / 8, '\0');
        for (usize i = 0; i < cells.size(); ++i) {
            if (set(cells[i])) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << (i % 8));
        }
        return bytes;
    }

    void fill(Layout layout, const std::vector<Cell>& cells) {
        if (layout != Layout::none) add(bits(cells, [](const Cell& cell) { return !cell.null; }));
        array.null_count = -1;
        switch (layout) {
            case Layout::none:
                break;
            case Layout::bits:
                add(bits(cells, [](const Cell& cell) { return !cell.bytes.empty() && (cell.bytes[0] & 1) != 0; }));
                break;
            case Layout::fixed:
                add(joined(cells));
                break;
            case Layout::offsets32:
                add_offsets<i32>(cells);
                break;
            case Layout::offsets64:
                add_offsets<i64>(cells);
                break;
            case Layout::views:
                add_views(cells);
                break;
            case Layout::dictionary:
                add_dictionary(cells);
                break;
        }
        point();
    }

    static std::string joined(const std::vector<Cell>& cells) {
        std::string bytes;
        for (const Cell& cell : cells) bytes += cell.bytes;
        return bytes;
    }

    template <class Offset>
    void add_offsets(const std::vector<Cell>& cells) {
        std::string offsets;
        Offset end = 0;
        append(offsets, end);
        for (const Cell& cell : cells)
            append(offsets, end = static_cast<Offset>(end + static_cast<Offset>(cell.bytes.size())));
        add(offsets);
        add(joined(cells));
    }

    // Long texts lie in two buffers, in turn.
    void add_views(const std::vector<Cell>& cells) {
        std::string views, data[2], sizes;
        for (usize i = 0; i < cells.size(); ++i) {
            const std::string& text = cells[i].bytes;
            append(views, static_cast<i32>(text.size()));
            if (text.size() <= 12) {
                views += text + std::string(12 - text.size(), '\0');
                continue;
            }
            views += text.substr(0, 4);
            append(views, static_cast<i32>(i % 2));
            append(views, static_cast<i32>(data[i % 2].size()));
            data[i % 2] += text;
        }
        for (const std::string& bytes : data) append(sizes, static_cast<i64>(bytes.size()));
        for (const std::string& bytes : {views, data[0], data[1], sizes}) add(bytes);
    }

    // Each text of its own, indexes of one byte.
    void add_dictionary(const std::vector<Cell>& cells) {
        std::string indexes;
        for (usize i = 0; i < cells.size(); ++i) indexes += static_cast<char>(i);
        add(indexes);
        dictionary_ = std::make_unique<OwnedArray>();
        dictionary_->set_rows(cells.size(), 0);
        dictionary_->fill(Layout::offsets32, cells);
    }

    void point() {
        array.n_buffers = static_cast<i64>(pointers_.size());
        array.buffers = pointers_.data();
        array.n_children = static_cast<i64>(child_arrays_.size());
        array.children = child_arrays_.data();
        array.dictionary = dictionary_ ? &dictionary_->array : nullptr;
        array.release = [](ArrowArray*) {};
    }

    std::vector<std::unique_ptr<char[]>> owned_;
    std::vector<const void*> pointers_;
    std::vector<std::unique_ptr<OwnedArray>> children_;
    std::vector<ArrowArray*> child_arrays_;
    std::unique_ptr<OwnedArray> dictionary_;
};

// A stream of batches; `columns` and this outlive it.
class TableStream {
public:
    TableStream(const std::vector<ArrowInput>& columns, std::vector<BatchRows> batches)
        : columns_(columns), batches_(std::move(batches)) {
        stream.private_data = this;
        stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) { return of(self).schema(out); };
        stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) { return of(self).next(out); };
        stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
        stream.release = [](ArrowArrayStream* self) { self->release = nullptr; };
    }

    ArrowArrayStream stream{};

private:
    static TableStream& of(ArrowArrayStream* self) { return *static_cast<TableStream*>(self->private_data); }

    static ArrowSchema schema_of(const char* format, const char* name) {
        ArrowSchema made{};
        made.format = format;
        made.name = name;
        made.release = [](ArrowSchema* self) { self->release = nullptr; };
        return made;
    }

    int schema(ArrowSchema* out) {
        schemas_.clear();
        pointers_.clear();
        values_ = schema_of("u", "");
        for (const ArrowInput& column : columns_) {
            schemas_.push_back(schema_of(column.format, column.name.c_str()));
            if (column.layout == Layout::dictionary) schemas_.back().dictionary = &values_;
        }
        for (ArrowSchema& each : schemas_) pointers_.push_back(&each);
        *out = schema_of("+s", "");
        out->n_children = static_cast<i64>(pointers_.size());
        out->children = pointers_.data();
        return 0;
    }

    int next(ArrowArray* out) {
        *out = ArrowArray{};
        if (next_ < batches_.size()) OwnedArray::hand_over(OwnedArray::table(columns_, batches_[next_++]), out);
        return 0;
    }

    const std::vector<ArrowInput>& columns_;
    const std::vector<BatchRows> batches_;
    usize next_ = 0;
    std::vector<ArrowSchema> schemas_;
    std::vector<ArrowSchema*> pointers_;
    ArrowSchema values_{};
};

}  // namespace fuzz
