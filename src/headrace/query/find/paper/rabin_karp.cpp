// Threads take pieces of the text (DRK: section 2.4 of Ashkiani 2017). A piece computes the fingerprint of its first
// window and rolls it from position to position.
//
// The matrix form rolls a product (the second class of section 2.3.1). The hybrid form (HRK) stores the
// products of all prefixes of a sub-text. They stay in the cache, as on a GPU they stay in shared memory.
#include "query/find/paper/rabin_karp.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <vector>

#include "core/cpu/cache_blocks.hpp"

namespace headrace {

namespace {

constexpr u64 patterns_a_piece = 4;
constexpr u64 sub_text = 1024;  // positions whose prefixes are stored at once
constexpr u32 byte_bits = 8;

bool differ(const std::bitset<256>& letters, u32 bits, u32 shift) {
    std::bitset<256> codes;
    for (u32 byte = 0; byte < letters.size(); ++byte) {
        if (letters[byte]) codes.set(byte >> shift & ((1u << bits) - 1));
    }
    return codes.count() == letters.count();
}

bool is_prime(u32 number) {
    for (u32 factor = 3; static_cast<u64>(factor) * factor <= number; factor += 2) {
        if (number % factor == 0) return false;
    }
    return number % 2 != 0;
}

// Greatest prime below 2^(31 - bits).
u32 prime_for(u32 bits) {
    u32 number = (1u << (31 - bits)) - 1;
    while (!is_prime(number)) number -= 2;
    return number;
}

class PieceSearch {
public:
    PieceSearch(const FindPattern& pattern, const FindText& text, const Fingerprint& print, std::vector<u64>& found)
        : pattern_(pattern), text_(text), print_(print), found_(found) {}

    void run(FingerprintForm form, u64 begin, u64 end) {
        switch (form) {
            case FingerprintForm::bits32:
                return roll<u32>(begin, end);
            case FingerprintForm::bits64:
                return roll<u64>(begin, end);
            case FingerprintForm::modulo:
                return roll_integer(begin, end);
            case FingerprintForm::matrix:
                return roll_matrix(begin, end);
            case FingerprintForm::hybrid:
                return store_prefixes(begin, end);
        }
    }

private:
    u32 code(u64 at) const { return code_of(print_, text_.bytes[at]); }

    void verify(u64 position) {
        const std::vector<u8>& bytes = pattern_.bytes;
        if (std::memcmp(text_.bytes + position, bytes.data(), bytes.size()) == 0) found_.push_back(position);
    }

    template <class Word>
    void roll(u64 begin, u64 end) {
        const Word remaining = static_cast<Word>(remaining_bits(print_)), wanted = static_cast<Word>(print_.value);
        const u64 last = print_.offset + print_.width - 1;  // of a window, from its position on
        Word value = 0;
        for (u64 i = begin + print_.offset; i < begin + last; ++i)
            value = roll_bits(value, remaining, print_.bits, code(i));
        for (u64 position = begin; position < end; ++position) {
            value = roll_bits(value, remaining, print_.bits, code(position + last));
            if (value == wanted) verify(position);
        }
    }

    void roll_integer(u64 begin, u64 end) {
        const u32 wanted = static_cast<u32>(print_.value);
        u32 value = 0;
        for (u64 i = begin; i < begin + print_.width; ++i) value = append_modulo(print_, value, code(i));
        for (u64 position = begin;; ++position) {
            if (value == wanted) verify(position);
            if (position + 1 == end) return;
            value = roll_modulo(print_, value, code(position), code(position + print_.width));
        }
    }

    void roll_matrix(u64 begin, u64 end) {
        const Matrix wanted = matrix_of(print_);
        Matrix product = unit_matrix();
        for (u64 i = begin; i < begin + print_.width; ++i) product = append_code(product, print_.bits, code(i));
        for (u64 position = begin;; ++position) {
            if (is_equal(product, wanted)) verify(position);
            if (position + 1 == end) return;
            product = drop_code(product, print_.bits, code(position));
            product = append_code(product, print_.bits, code(position + print_.width));
        }
    }

    void store_prefixes(u64 begin, u64 end) {
        const Matrix wanted = matrix_of(print_);
        std::vector<Matrix> prefixes(sub_text + print_.width);
        prefixes[0] = unit_matrix();
        for (u64 first = begin; first < end; first += sub_text) {
            const u64 count = std::min(sub_text, end - first);
            for (u64 i = 0; i + 1 < count + print_.width; ++i) {
                prefixes[i + 1] = append_code(prefixes[i], print_.bits, code(first + i));
            }
            for (u64 i = 0; i < count; ++i) {
                if (is_equal(between(prefixes[i], prefixes[i + print_.width]), wanted)) verify(first + i);
            }
        }
    }

    const FindPattern& pattern_;
    const FindText& text_;
    const Fingerprint& print_;
    std::vector<u64>& found_;
};

// Returns the positions of each piece of the text.
std::vector<std::vector<u64>> search_pieces(const FindPattern& pattern, const FindText& text,
                                            const RabinKarpSearch& search, unsigned threads) {
    const u64 length = pattern.bytes.size();
    Pieces starts(text.size < length ? 0 : text.size - length + 1, 1);
    starts.length = std::max(starts.length, search.is_serial ? starts.count : patterns_a_piece * length);
    std::vector<std::vector<u64>> found(starts.number());
    for_each_piece(starts.number(), threads, [&](u64 piece) {
        const u64 begin = starts.begin(piece);
        PieceSearch(pattern, text, search.print, found[piece]).run(search.form, begin, begin + starts.size(piece));
    });
    return found;
}

u64 total_of(const std::vector<std::vector<u64>>& found) {
    u64 total = 0;
    for (const std::vector<u64>& positions : found) total += positions.size();
    return total;
}

}  // namespace

Fingerprint code_for(const FindPattern& pattern, std::string_view sample) {
    std::bitset<256> letters;
    for (const u8 byte : pattern.bytes) letters.set(byte);
    for (const char byte : sample) letters.set(static_cast<u8>(byte));
    Fingerprint code{};
    for (code.bits = 1; code.bits < byte_bits; ++code.bits) {
        for (code.shift = 0; code.shift + code.bits <= byte_bits; ++code.shift) {
            if (differ(letters, code.bits, code.shift)) return code;
        }
    }
    code.shift = 0;
    return code;
}

Fingerprint fingerprint_of(const FindPattern& pattern, FingerprintForm form, const Fingerprint& code) {
    Fingerprint print = code;
    print.prime = prime_for(print.bits);
    print.lead = 1;
    for (u64 i = 1; i < print.width; ++i) print.lead = append_modulo(print, print.lead, 0);
    const bool is_exact = form == FingerprintForm::bits32 || form == FingerprintForm::bits64;
    Matrix product = unit_matrix();
    for (u64 i = print.offset; i < print.offset + print.width; ++i) {
        const u32 next = code_of(print, pattern.bytes[i]);
        print.value = is_exact ? roll_bits(print.value, remaining_bits(print), print.bits, next)
                               : append_modulo(print, static_cast<u32>(print.value), next);
        product = append_code(product, print.bits, next);
    }
    print.matrix[0] = product.a;
    print.matrix[1] = product.b;
    print.matrix[2] = product.c;
    print.matrix[3] = product.d;
    return print;
}

u64 rabin_karp_count(const FindPattern& pattern, const FindText& text, const RabinKarpSearch& search,
                     unsigned threads) {
    return total_of(search_pieces(pattern, text, search, threads));
}

void rabin_karp_positions(const FindPattern& pattern, const FindText& text, const RabinKarpSearch& search,
                          const std::function<u64*(u64)>& allocate, unsigned threads) {
    const auto found = search_pieces(pattern, text, search, threads);
    u64* out = allocate(total_of(found));
    for (const std::vector<u64>& positions : found) out = std::copy(positions.begin(), positions.end(), out);
}

}  // namespace headrace
