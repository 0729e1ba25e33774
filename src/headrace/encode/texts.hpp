// Declares the conversion of text columns to views and to plain strings.
#pragma once

#include "columns/dictionary/text_column.hpp"

namespace headrace {

// Converts texts to views. Their buffers have only bytes of the rows, and at most `max_bytes` each; no text may be
// longer.
EncodedTexts make_views(const TextColumn& texts, unsigned threads, u64 max_bytes = MAX_INT32);

// Concatenates the texts, with offsets of 32 bits if they have at most `max_small` bytes, else of 64.
EncodedTexts make_plain(const TextColumn& texts, unsigned threads, u64 max_small = MAX_INT32);

// Returns an upper bound of the sizes of texts: the bytes of all if they are at most `limit`, else the longest.
u64 longest_text(const TextColumn& texts, unsigned threads, u64 limit);

}  // namespace headrace
