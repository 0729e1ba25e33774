#include "export/arrow/arrow.hpp"

#include <cerrno>
#include <exception>
#include <utility>

namespace headrace {
namespace {

constexpr std::int64_t NULLABLE = 2;

// Storage that an exported structure points to; its release callback frees it.
struct SchemaParts {
    std::string format, name;
    std::vector<std::unique_ptr<ArrowSchema>> owned;
    std::vector<ArrowSchema*> children;
    std::unique_ptr<ArrowSchema> dictionary;
};

struct ArrayParts {
    std::vector<std::shared_ptr<const Region>> held;
    std::vector<const void*> buffers;
    std::vector<std::unique_ptr<ArrowArray>> owned;
    std::vector<ArrowArray*> children;
    std::unique_ptr<ArrowArray> dictionary;
};

// Releases an exported structure. A child whose `release` is null was moved out by the consumer.
template <class Arrow, class Parts>
void release(Arrow* exported) {
    auto* parts = static_cast<Parts*>(exported->private_data);
    for (Arrow* child : parts->children) {
        if (child->release != nullptr) child->release(child);
    }
    Arrow* dictionary = parts->dictionary.get();
    if (dictionary != nullptr && dictionary->release != nullptr) dictionary->release(dictionary);
    exported->release = nullptr;
    delete parts;
}

void fill_schema(std::unique_ptr<SchemaParts> parts, std::int64_t flags, ArrowSchema* out) {
    for (const auto& child : parts->owned) parts->children.push_back(child.get());
    *out = ArrowSchema{};
    out->format = parts->format.c_str();
    out->name = parts->name.c_str();
    out->flags = flags;
    out->n_children = static_cast<std::int64_t>(parts->children.size());
    out->children = parts->children.data();
    out->dictionary = parts->dictionary.get();
    out->release = release<ArrowSchema, SchemaParts>;
    out->private_data = parts.release();
}

void fill_array(std::unique_ptr<ArrayParts> parts, std::int64_t length, ArrowArray* out) {
    for (const auto& child : parts->owned) parts->children.push_back(child.get());
    *out = ArrowArray{};
    out->length = length;
    out->n_buffers = static_cast<std::int64_t>(parts->buffers.size());
    out->buffers = parts->buffers.data();
    out->n_children = static_cast<std::int64_t>(parts->children.size());
    out->children = parts->children.data();
    out->dictionary = parts->dictionary.get();
    out->release = release<ArrowArray, ArrayParts>;
    out->private_data = parts.release();
}

void export_column_array(const ArrowColumn& column, std::int64_t length, ArrowArray* out) {
    auto parts = std::make_unique<ArrayParts>();
    parts->held = column.buffers;
    for (const auto& region : column.buffers) parts->buffers.push_back(region ? region->data() : nullptr);
    if (column.dictionary) {
        parts->dictionary = std::make_unique<ArrowArray>();
        export_column_array(*column.dictionary, column.dictionary_length, parts->dictionary.get());
    }
    fill_array(std::move(parts), length, out);
    out->null_count = column.null_count;
    out->offset = column.offset;
}

void export_struct(const ArrowBatch& batch, ArrowArray* out) {
    auto parts = std::make_unique<ArrayParts>();
    parts->buffers.push_back(nullptr);  // no validity: the struct has no nulls
    for (const ArrowColumn& column : batch.columns) {
        parts->owned.push_back(std::make_unique<ArrowArray>());
        export_column_array(column, batch.length, parts->owned.back().get());
    }
    fill_array(std::move(parts), batch.length, out);
}

struct StreamParts {
    std::shared_ptr<const ArrowBatch> schema;
    NextBatch next;
    std::string error;
};

StreamParts& parts_of(ArrowArrayStream* stream) { return *static_cast<StreamParts*>(stream->private_data); }

// Calls `work` and returns an errno value: the interface is C, so no exception may leave it.
template <class Work>
int guarded(StreamParts& parts, Work work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        parts.error = "no more memory for a batch";
        return ENOMEM;
    } catch (const std::exception& error) {
        parts.error = error.what();
        return EIO;
    }
    return 0;
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    StreamParts& parts = parts_of(stream);
    return guarded(parts, [&] { export_schema(*parts.schema, out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
    StreamParts& parts = parts_of(stream);
    return guarded(parts, [&] {
        *out = ArrowArray{};  // a released array marks the end of the stream
        if (const std::shared_ptr<const ArrowBatch> batch = parts.next()) export_struct(*batch, out);
    });
}

const char* stream_error(ArrowArrayStream* stream) { return parts_of(stream).error.c_str(); }

void release_stream(ArrowArrayStream* stream) {
    delete &parts_of(stream);
    stream->release = nullptr;
}

}  // namespace

void export_column_schema(const ArrowColumn& column, ArrowSchema* out) {
    auto parts = std::make_unique<SchemaParts>();
    parts->format = column.format;
    parts->name = column.name;
    if (column.dictionary) {
        parts->dictionary = std::make_unique<ArrowSchema>();
        export_column_schema(*column.dictionary, parts->dictionary.get());
    }
    fill_schema(std::move(parts), NULLABLE, out);
}

void export_schema(const ArrowBatch& batch, ArrowSchema* out) {
    auto parts = std::make_unique<SchemaParts>();
    parts->format = "+s";
    for (const ArrowColumn& column : batch.columns) {
        parts->owned.push_back(std::make_unique<ArrowSchema>());
        export_column_schema(column, parts->owned.back().get());
    }
    fill_schema(std::move(parts), 0, out);
}

void export_column(const ArrowBatch& batch, ArrowArray* out) {
    export_column_array(batch.columns.front(), batch.length, out);
}

void export_stream(std::shared_ptr<const ArrowBatch> schema, NextBatch next, ArrowArrayStream* out) {
    *out = ArrowArrayStream{};
    out->get_schema = stream_schema;
    out->get_next = stream_next;
    out->get_last_error = stream_error;
    out->release = release_stream;
    out->private_data = new StreamParts{std::move(schema), std::move(next), {}};
}

void export_stream(std::shared_ptr<const ArrowBatch> batch, ArrowArrayStream* out) {
    NextBatch once = [left = batch]() mutable { return std::exchange(left, nullptr); };
    export_stream(std::move(batch), std::move(once), out);
}

}  // namespace headrace
