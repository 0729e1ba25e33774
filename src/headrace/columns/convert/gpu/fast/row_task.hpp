// What the conversion by rows (convert_rows.cu) is told; rows_gpu.py packs the same structs. Pointers are to device
// memory.
#pragma once

#include "structure/gpu/tile_start.hpp"

HR_BEGIN_NAMESPACE

// What a field is read as. `skip`: so many fields as `largest` says are stepped over, because nobody wants them.
enum class RowKind : u8 { int4, float4, int1, int2, int8, float8, date, timestamp, text, skip };

enum RowFlag : u8 {
    ROW_EMPTY_IS_NULL = 1,
    ROW_CANONICAL = 2,    // as inference demands: no zero before other digits
    ROW_SIGNED = 4,       // integers
    ROW_LONG_OFFSETS = 8  // strings: 64 bits
};

// A column of the table, or fields of a record that are stepped over. Row r of the result is record r of the
// text. `validity` is all ones before the launch: it is cleared where there is no value.
struct RowColumn {
    u8* values;
    u32* validity;
    u64 more;     // strings: address of the offsets; timestamps: units a second
    u32 largest;  // integers: of 8 digits, or of the type if that is less; fields to skip
    RowKind kind;
    u8 flags;
    u8 string;  // strings: which of them
    u8 reserved;
};
static_assert(sizeof(RowColumn) == 32);

enum RowTaskFlag : u16 {
    ROWS_ASCII = 1,   // some text must be UTF-8: a tile with bytes outside ASCII is declined
    ROWS_QUOTED = 2,  // quotes mean something
    ROWS_STEPS = 4    // also what an automaton read is read by rows, where no watched byte is
};

// What all tiles share.
struct RowTask {
    u64 size;     // bytes of text
    u32 tiles;    // entries[tiles] speaks of the text's end
    u32 columns;  // of the table, which hold a record's fields from left to right
    u32 strings;  // columns of kind text
    u16 flags;    // RowTaskFlag
    u16 forms;    // of the search that read by masks; what none of them read, an automaton did
    PlainDialect dialect;
    u64 inside;  // states of that automaton, a bit for each, that are inside quotes
    u32 groups;  // of 32 records that a tile has, at most, one that is open at its end included
    u32 reserved;
};
static_assert(sizeof(RowTask) == 48);

// Columns of strings that are read by rows: each has a lane of a warp that knows its places.
constexpr u32 MOST_ROW_STRINGS = 16;

HR_END_NAMESPACE
