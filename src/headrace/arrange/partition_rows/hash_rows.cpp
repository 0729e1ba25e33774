#include <stdexcept>

#include "arrange/partition_rows/hash_rows_host.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/random_seed.hpp"

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

}  // namespace

u64 process_secret() {
    static const u64 secret = random_seed() | 1;
    return secret;
}

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
