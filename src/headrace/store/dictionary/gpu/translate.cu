// Translates packed codes in one pass: unpacks them, looks up the new codes, and packs these. A warp has 32 codes at a
// time, which fill whole words of 32 bits, so no two warps write one word. Codes of main and delta follow one another.
// For example, codes 0 1 2 of 2 bits become 0b1000_0110_0101 with the table 5 6 8:
//
//   lane 0: word 0b100100, code 0, new code 5    lane 1: code 1, new code 6    lane 2: code 2, new code 8
//
// With HR_ON_CHIP the table of the main codes is in shared memory as counts and bits (rules/codes.hpp), 8 bytes for 32
// codes. (Krueger et al. 2011, section 2.2, step 2b.) Bytes moved per code: (old bits + new bits) / 8.
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"
#include "store/dictionary/rules/codes.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 turn_groups = HR_TURN_GROUPS;  // groups of 32 codes whose loads a warp has under way at once

// Returns code `i`, read as words of 32 bits, which lanes next to each other share.
HR_FN u32 packed_code(const u32* words, u64 i, u32 bits) {
    if (bits == 0) return 0;
    const u64 bit = i * bits;
    const u32 shift = static_cast<u32>(bit % 32);
    const u32* const word = words + bit / 32;
    u64 found = word[0];
    if (shift + bits > 32) found |= u64{word[1]} << 32;
    return static_cast<u32>(found >> shift & code_mask(bits));
}

// The codes of both sources, one after another.
struct BothCodes {
    CodeSource main, delta;

    HR_MEMBER u64 count() const { return main.count + delta.count; }

    // Returns the code of a row as it is packed; 0 after the last row.
    HR_MEMBER u32 old_code(u64 row) const {
        if (row < main.count) return code_of(main, row);
        return row < count() ? code_of(delta, row - main.count) : 0;
    }
    HR_MEMBER u32 translated(u64 row, u32 code) const {
        if (row < main.count) return new_code(main, main.first + row, code);
        return row < count() ? new_code(delta, delta.first + row - main.count, code) : 0;
    }

private:
    HR_MEMBER static u32 code_of(const CodeSource& source, u64 i) {
        const u32 bits = static_cast<u32>(source.bits);
        return packed_code(reinterpret_cast<const u32*>(source.words), source.first + i, bits);
    }
};

// Translates groups of 32 codes of one source, from code `first` on. All loads of codes come before the first lookup. A
// group has as many words as a code has bits. So codes of a lane begin at the same bit of a word in all groups.
HR_FN void translate_groups(const CodeSource& source, u64 first, u32 (&codes)[turn_groups]) {
    const u32 bits = static_cast<u32>(source.bits), mask = static_cast<u32>(code_mask(bits));
    const u64 begin = first * bits;
    const u32 bit = static_cast<u32>(begin % 32) + tile::lane() * bits, shift = bit % 32;
    const u32* const word = reinterpret_cast<const u32*>(source.words) + begin / 32 + bit / 32;
#pragma unroll
    for (u32 turn = 0; turn < turn_groups; ++turn) {
        const u64 low = bits != 0 ? word[turn * bits] : 0, high = shift + bits > 32 ? word[turn * bits + 1] : 0;
        codes[turn] = static_cast<u32>((high << 32 | low) >> shift) & mask;
    }
#pragma unroll
    for (u32 turn = 0; turn < turn_groups; ++turn) {
        codes[turn] = new_code(source, first + turn * 32 + tile::lane(), codes[turn]);
    }
}

// The codes of a warp that have bits in a lane's word: `first`, which begins `skipped` bits before the word, and
// the following ones.
struct WordPlace {
    u32 first, skipped;
};

HR_FN WordPlace place_of_word(u32 bits) {
    const u32 begin = tile::lane() * 32, first = begin / bits;
    return {first, begin - first * bits};
}

// Packs the codes of groups of a warp. In lane i < bits, `codes` become word i of each. `max_codes`: maximum number of
// codes of a word, 0 if it is not known when this is compiled.
template <u32 max_codes>
HR_FN void pack_groups(u32 (&codes)[turn_groups], u32 bits, const WordPlace& place) {
    const u32 count = max_codes != 0 ? max_codes : (bits + 30) / bits + 1;
    u32 words[turn_groups];
#pragma unroll
    for (u32 turn = 0; turn < turn_groups; ++turn) {
        words[turn] = tile::shuffle(codes[turn], place.first % tile::lanes) >> place.skipped;
    }
    u32 shift = bits - place.skipped;
#pragma unroll
    for (u32 i = 1; i < count; ++i, shift += bits) {
#pragma unroll
        for (u32 turn = 0; turn < turn_groups; ++turn) {
            const u32 found = tile::shuffle(codes[turn], (place.first + i) % tile::lanes);
            words[turn] |= shift < 32 ? found << shift : 0;
        }
    }
#pragma unroll
    for (u32 turn = 0; turn < turn_groups; ++turn) codes[turn] = words[turn];
}

HR_FN void pack_groups(u32 (&codes)[turn_groups], u32 bits, const WordPlace& place) {
    if (bits > 30) return pack_groups<2>(codes, bits, place);
    if (bits > 15) return pack_groups<3>(codes, bits, place);
    if (bits > 10) return pack_groups<4>(codes, bits, place);
    if (bits > 7) return pack_groups<5>(codes, bits, place);
    pack_groups<0>(codes, bits, place);
}

extern "C" __global__ void __launch_bounds__(threads)
    translate_codes(const __grid_constant__ CodeSource main, const __grid_constant__ CodeSource delta, u32* words,
                    u32 bits) {
    CodeSource first = main;
#if HR_ON_CHIP
    HR_DYNAMIC_SHARED(u64, block_words);
    const u64 blocks = ((u64{1} << main.bits) + counted_codes - 1) / counted_codes;
    for (u64 i = threadIdx.x; i < blocks; i += threads) block_words[i] = main.blocks.words[i];
    __syncthreads();
    first.blocks.words = block_words;
#endif
    const BothCodes both{first, delta};
    const u64 end = words_of_codes(both.count(), bits) * 2;
    const WordPlace place = place_of_word(bits);
    // An even number of groups, so that the last word of 64 bits is written as a whole.
    const u64 groups = (both.count() + 63) / 64 * 2, warps = u64{threads / tile::lanes} * gridDim.x;
    const u64 warp = static_cast<u64>(blockIdx.x) * (threads / tile::lanes) + tile::warp();
    for (u64 begin = warp * turn_groups; begin < groups; begin += warps * turn_groups) {
        u32 codes[turn_groups];
        const u64 row = begin * 32, past = row + u64{turn_groups} * 32;
        if (past <= main.count) {
            translate_groups(first, first.first + row, codes);
        } else if (row >= main.count && past <= both.count()) {
            translate_groups(delta, delta.first + row - main.count, codes);
        } else {
            for (u32 turn = 0; turn < turn_groups; ++turn) {
                const u64 i = row + turn * 32 + tile::lane();
                codes[turn] = both.translated(i, both.old_code(i));
            }
        }
        pack_groups(codes, bits, place);
        const u64 first_word = begin * bits + tile::lane();
#pragma unroll
        for (u32 turn = 0; turn < turn_groups; ++turn) {
            const u64 at = first_word + turn * bits;
            if (tile::lane() < bits && at < end) words[at] = codes[turn];
        }
    }
}

// Writes the counts and bits of a table of `count` codes, a warp for each block of 32.
extern "C" __global__ void __launch_bounds__(threads) make_code_blocks(const u32* table, u64 count, u64* block_words) {
    const u64 block = static_cast<u64>(blockIdx.x) * (threads / tile::lanes) + tile::warp(),
              first = block * counted_codes;
    if (first >= count) return;
    const u64 i = first + tile::lane();
    const u32 between = i > first && i < count ? table[i] - table[i - 1] - 1 : 0;
    u32 bits = __ballot_sync(tile::all_lanes, between == 1);
    if (__any_sync(tile::all_lanes, between > 1)) bits |= 1;
    if (tile::lane() == 0) block_words[block] = u64{table[first]} << 32 | bits;
}
