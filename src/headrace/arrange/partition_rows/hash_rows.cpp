#include <random>
#include <stdexcept>

#include "arrange/partition_rows/hash_rows_host.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {
namespace {

template <class Work>
void each_row(const HashedColumn& column, u64 count, unsigned threads, const Work& work) {
    if (column.width > 16 || (column.width & (column.width - 1)) != 0) throw std::invalid_argument("no such width");
    const Pieces pieces(count, sizeof(u64));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) work(i);
    });
}

// Returns the secret of this process.
u64 process_secret() {
    static const u64 secret = [] {
        std::random_device random;
        return u64{random()} << 32 | random();
    }();
    return secret;
}

u64 secret_word_at(const HashedColumn& column, u64 row, u64 secret) {
    row += column.first;
    if (is_null_row(column, row)) return word_of_null;
    if (column.words == nullptr && has_plain_texts(column)) {
        const RowText text = plain_text(column, row);
        return hash_text(text.begin, text.size, secret);
    }
    if (column.words == nullptr && column.width == 16) {
        return hash_text(static_cast<const u8*>(column.values) + row * 16, 16, secret);
    }
    return word_of_row(column, row);
}

// Combines a hash with the next word: for one hash, different words have different results.
u64 combine_by_secret(u64 hash, u64 word, u64 secret) {
    return mix_bits(fold_product(hash ^ secret, secret * golden_ratio | 1) + word);
}

}  // namespace

void hash_rows(const HashedColumn& column, u64 count, u64* hashes, bool by_secret, unsigned threads) {
    if (!by_secret) {
        each_row(column, count, threads, [&](u64 i) { hashes[i] = combine_hash(hashes[i], word_at(column, i)); });
        return;
    }
    each_row(column, count, threads, [&, secret = process_secret()](u64 i) {
        hashes[i] = combine_by_secret(hashes[i], secret_word_at(column, i, secret), secret);
    });
}

void hash_words(const HashedColumn& column, u64 count, u64* words, bool by_secret, unsigned threads) {
    const u64 secret = process_secret();
    each_row(column, count, threads,
             [&](u64 i) { words[i] = by_secret ? secret_word_at(column, i, secret) : word_at(column, i); });
}

}  // namespace headrace
