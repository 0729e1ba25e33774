// Exports columns through Arrow's C data interface, from a description of them; no Arrow library is needed. The
// structures are those of the published interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/cpu/memory.hpp"

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

namespace headrace {

// A column to export. `buffers`: the buffers that its format requires, null where one is absent.
struct ArrowColumn {
    std::string name;
    std::string format;
    std::int64_t null_count = 0;
    std::int64_t offset = 0;
    std::vector<std::shared_ptr<const Region>> buffers;
    std::shared_ptr<const ArrowColumn> dictionary;  // the values that codes index
    std::int64_t dictionary_length = 0;
};

// Columns of equal length.
struct ArrowBatch {
    std::vector<ArrowColumn> columns;
    std::int64_t length = 0;
};

// Each function fills `out`; the receiver calls out->release.
void export_schema(const ArrowBatch& batch, ArrowSchema* out);  // a struct of all columns
void export_column_schema(const ArrowColumn& column, ArrowSchema* out);
void export_column(const ArrowBatch& batch, ArrowArray* out);                        // the batch's only column
void export_stream(std::shared_ptr<const ArrowBatch> batch, ArrowArrayStream* out);  // a single batch

// Returns the next batch of a stream, null after the last. The receiver gets the message of a std::exception that it
// throws.
using NextBatch = std::function<std::shared_ptr<const ArrowBatch>()>;

// Exports a stream whose batches are made on request; `schema` is a batch with the same types.
void export_stream(std::shared_ptr<const ArrowBatch> schema, NextBatch next, ArrowArrayStream* out);

}  // namespace headrace
