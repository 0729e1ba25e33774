// Gathers the values of packed codes. A piece of codes is unpacked in a core's cache, and its values are copied from
// there, so no array of codes is written. Texts take two passes: the first sums the sizes of each piece, the second
// copies the texts. The begins of a piece's texts are gathered before any text is read, so that cache misses overlap.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"
#include "store/dictionary/cpu/text_words.hpp"

namespace headrace {
namespace {

constexpr u64 piece_codes = 1 << 13;
static_assert(piece_codes % 64 == 0);
constexpr u64 texts_ahead = 16;  // texts between a prefetch and its copy

// The largest code of pieces of several threads.
class LargestCode {
public:
    // Returns whether the largest code of a piece is below `count`.
    bool is_below(u32 largest, u64 count) {
        if (largest < count) return true;
        u64 seen = found_.load(std::memory_order_relaxed);
        while (seen < largest && !found_.compare_exchange_weak(seen, largest, std::memory_order_relaxed)) {
        }
        return false;
    }
    u64 found() const { return found_.load(std::memory_order_relaxed); }

private:
    std::atomic<u64> found_{0};
};

// A text of a dictionary.
struct TextPlace {
    u64 begin;
    u64 size;
};

// The codes of a piece, and the texts of them.
struct DecodedPiece {
    std::vector<u32> unpacked;
    std::vector<TextPlace> places;
    const u32* codes = nullptr;
    u64 begin = 0;   // of the first code
    u64 number = 0;  // of codes
};

// Unpacks the codes of each piece on several threads, and calls `work(piece)`. Codes of 32 bits are read in place.
template <class Work>
void for_each_codes(const CodeSource& source, unsigned threads, const Work& work) {
    for_each_piece((source.count + piece_codes - 1) / piece_codes, threads, [] { return DecodedPiece(); },
                   [&](DecodedPiece& piece, u64 i) {
                       piece.begin = i * piece_codes;
                       piece.number = std::min(piece_codes, source.count - piece.begin);
                       const u64 first = source.first + piece.begin;
                       if (source.bits == 32) {
                           piece.codes = reinterpret_cast<const u32*>(source.words) + first;
                       } else {
                           piece.unpacked.resize(piece_codes);
                           unpack_piece(source, first, piece.number, piece.unpacked.data());
                           piece.codes = piece.unpacked.data();
                       }
                       work(piece);
                   });
}

template <class Item>
u64 decode_items(const CodeSource& source, const NumberArray& values, void* to, unsigned threads) {
    const CodedItems items{static_cast<const u8*>(values.items), static_cast<u32>(values.count - 1)};
    auto* const out = static_cast<u8*>(to);
    LargestCode largest;
    for_each_piece((source.count + piece_codes - 1) / piece_codes, threads, [&](u64 i) {
        const u64 begin = i * piece_codes, count = std::min(piece_codes, source.count - begin);
        largest.is_below(gather_piece<Item>(source, source.first + begin, count, items, out + begin * sizeof(Item)),
                         values.count);
    });
    return largest.found();
}

class TextDecoder {
public:
    TextDecoder(const CodeSource& source, const EncodedTextValues& texts, unsigned threads)
        : source_(source), texts_(texts), threads_(threads), begins_((source.count + piece_codes - 1) / piece_codes) {}

    // Finds the begin of each piece's texts, and returns the bytes of all.
    u64 measure() {
        for_each_codes(source_, threads_, [&](const DecodedPiece& piece) {
            const u32* const codes = piece.codes;
            u32 largest = 0;
            for (u64 i = 0; i < piece.number; ++i) largest = std::max(largest, codes[i]);
            if (!largest_.is_below(largest, texts_.count)) return;
            u64 bytes = 0;
            for (u64 i = 0; i < piece.number; ++i) bytes += place(codes[i]).size;
            begins_[piece.begin / piece_codes] = bytes;
        });
        u64 sum = 0;
        for (u64& begin : begins_) {
            const u64 bytes = begin;
            begin = sum;
            sum += bytes;
        }
        return sum;
    }

    u64 largest() const { return largest_.found(); }

    template <class Offset>
    void write(u64 bytes, const NewTexts& to) const {
        u8* const offsets = static_cast<u8*>(to.offsets);
        for_each_codes(source_, threads_, [&](DecodedPiece& piece) {
            piece.places.resize(piece_codes);
            TextPlace* const places = piece.places.data();
            const u64 i = piece.begin / piece_codes, end = i + 1 < begins_.size() ? begins_[i + 1] : bytes;
            for (u64 k = 0; k < piece.number; ++k) places[k] = place(piece.codes[k]);
            put_offsets<Offset>(places, piece.number, begins_[i], offsets + piece.begin * sizeof(Offset));
            copy(places, piece.number, to.bytes + begins_[i], to.bytes + end);
        });
        const Offset last = static_cast<Offset>(bytes);
        std::memcpy(offsets + source_.count * sizeof(Offset), &last, sizeof last);
    }

private:
    TextPlace place(u32 code) const {
        const u64 begin = offset(code);
        return {begin, offset(u64{code} + 1) - begin};
    }
    u64 offset(u64 i) const {
        u64 found = 0;
        if (texts_.width == 8) {
            std::memcpy(&found, static_cast<const u8*>(texts_.offsets) + i * 8, 8);
        } else {
            std::memcpy(&found, static_cast<const u8*>(texts_.offsets) + i * 4, 4);
        }
        return found;
    }

    template <class Offset>
    static void put_offsets(const TextPlace* places, u64 number, u64 at, u8* to) {
        for (u64 i = 0; i < number; ++i) {
            const Offset offset = static_cast<Offset>(at);
            std::memcpy(to + i * sizeof offset, &offset, sizeof offset);
            at += places[i].size;
        }
    }

    // Copies texts to `out`, up to `end`.
    void copy(const TextPlace* places, u64 number, u8* out, const u8* end) const {
        const u64 all = texts_.bytes_count;
        for (u64 i = 0; i < number; ++i) {
            if (i + texts_ahead < number) __builtin_prefetch(texts_.bytes + places[i + texts_ahead].begin);
            const auto [begin, size] = places[i];
            copy_text({texts_.bytes + begin, size, all - begin}, out, end);
            out += size;
        }
    }

    CodeSource source_;
    EncodedTextValues texts_;
    unsigned threads_;
    std::vector<u64> begins_;
    LargestCode largest_;
};

}  // namespace

u64 decode_numbers(const CodeSource& source, const NumberArray& values, void* to, unsigned threads) {
    if (values.count == 0) return 0;
    return with_width<u8, u16, u32, u64, Item16>(
        values.width, [&]<class Item>(Item) { return decode_items<Item>(source, values, to, threads); });
}

u64 decode_texts(const CodeSource& source, const EncodedTextValues& texts, const std::function<NewTexts(u64)>& allocate,
                 unsigned threads) {
    TextDecoder decoder(source, texts, threads);
    const u64 bytes = decoder.measure();
    if (decoder.largest() != 0) return decoder.largest();
    const NewTexts to = allocate(bytes);
    if (to.width == 8) {
        decoder.write<u64>(bytes, to);
    } else {
        decoder.write<u32>(bytes, to);
    }
    return 0;
}

}  // namespace headrace
