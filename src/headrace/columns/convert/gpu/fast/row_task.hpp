// Declares the arguments of the fast conversion (convert_rows.cu, measure_rows.cu), which reads one record per thread.
// Python packs the same structs (columns/convert/gpu/row_columns.py). Pointers are to device memory.
#pragma once

#include "structure/gpu/dfa_tables.hpp"
#include "structure/gpu/tile_start.hpp"

HR_BEGIN_NAMESPACE

// How a field is parsed. `skip`: a run of fields that are not converted; `largest` is their number. `empty`: an
// inferred column that had no value in the sample; others of its fields are left to the general path, which finds their
// kinds.
enum class RowKind : u8 {
    int4,
    float4,
    int1,
    int2,
    int8,
    float8,
    date,
    timestamp,
    text,
    skip,
    empty,
    boolean,
    time4,
    time8,
    duration,
    decimal
};

// Bits of a program's mask of kinds after those of RowKind: forms that only few columns have.
enum RowForm : u32 {
    ROW_MARKS = 1u << 16,    // numbers have other marks than a decimal point
    ROW_FORMATS = 1u << 17,  // dates and timestamps have formats
    ROW_WORDS = 1u << 18,    // some word looks like a value, such as a null text -999
    ROW_ESCAPES = 1u << 19,  // letters after escapes are decoded, or a null text of strings begins with one
    ROW_SHORT = 1u << 20,    // the missing fields of short records are null
    ROW_ZONES = 1u << 21,    // timestamps without an offset are local times of a zone
    ROW_NULLS = 1u << 22     // words of the rules are null among strings
};
constexpr u32 ALL_ROW_KINDS = (1u << 23) - 1;

enum RowColumnFlag : u8 {
    ROW_EMPTY_IS_NULL = 1,
    ROW_CANONICAL = 2,     // inferred numbers: a leading zero before other digits is no number
    ROW_SIGNED = 4,        // integers
    ROW_LONG_OFFSETS = 8,  // strings: offsets have 64 bits
    ROW_UTC = 16,          // timestamps: instants
    ROW_RESERVED = 32,     // some word looks like a value, so words are looked up first
    ROW_HEX = 64,          // inferred hexadecimal numbers: a decimal one is no number
    ROW_ZONE = 128         // timestamps: ConvertColumn::zone is not null
};

// A column of the table, or a run of skipped fields. Row r of the result is record r of the text. `validity` is all
// ones before the launch; the kernel clears the bits of nulls.
struct RowColumn {
    u8* values;
    u32* validity;
    u64 offsets_or_rules;  // strings: address of the offsets; others: of FieldRules
    // Integers: 99'999'999, or the type's maximum if that is less. Timestamps, times and durations: units per second.
    // Decimals: precision + 256 * scale. Strings: the null text, an escape and up to three bytes as written, before
    // zeros; 0 if there is none; ROW_NULL_WORDS. `skip`: number of fields.
    u32 largest;
    RowKind kind;
    u8 flags;    // RowColumnFlag
    u16 number;  // index in the table of ConvertColumn, where strings come first
};
static_assert(sizeof(RowColumn) == 32);

constexpr u32 ROW_NULL_WORDS = ~u32{0};  // RowColumn::largest of strings of which the rules' words are null

enum RowTaskFlag : u16 {
    ROW_TASK_UTF8 = 1,     // some column must be UTF-8: tiles with errors are not measured
    ROW_TASK_QUOTED = 2,   // the dialect has quotes
    ROW_TASK_DFA = 4,      // tiles that the DFA search read are converted here too, if they have no watched byte
    ROW_TASK_FILLS = 8,    // the missing fields of short records are null
    ROW_TASK_CLEARED = 16  // all values are 0 before the conversion
};

// Arguments that all tiles share.
struct RowTask {
    u64 size;           // bytes of text
    u32 tiles;          // entries[tiles] is the state at the text's end
    u32 columns;        // entries of the column table, in the order of a record's fields
    u32 strings;        // columns of kind `text`
    u16 flags;          // RowTaskFlag
    u16 mask_variants;  // search variants that use byte masks; if all of them declined, the DFA search read the text
    PlainDialect dialect;
    u64 quoted_states;  // bit s set: state s of the DFA is inside quotes
    u32 groups;         // groups of 32 records in a tile, at most, including the one open at the tile's end
    u32 sums;           // words of a tile in `sums`: columns of strings and of kind `empty`, the latter last
    DfaTask dfa;        // of texts that only the DFA search reads
};
static_assert(sizeof(RowTask) == 80);

// Bits of a tile's mark. The first two select the columns that the general path converts.
enum RowMark : u32 {
    ROW_MARK_ALL = 1,      // the fast path declined the tile
    ROW_MARK_KINDS = 2,    // columns of kind `empty` have values
    ROW_MARK_WANTED = 3,   // any of these
    ROW_MARK_COUNTED = 4,  // the fast path has counted the tile's short records
};

// Columns of strings in a table, at most: one lane of a warp keeps the offsets of each.
constexpr u32 MAX_ROW_STRINGS = 16;

// The part of a RowColumn that measuring strings needs. Passed by value, since the column table is not yet uploaded.
struct MeasuredColumn {
    u32 largest;
    RowKind kind;
    u8 reserved;
    u16 number;
};

// Columns of strings, and the runs of other fields before, between and after them.
struct MeasuredColumns {
    MeasuredColumn columns[2 * MAX_ROW_STRINGS + 1];
};

// The fields of a tile's first record that end in the tile, if the record begins before what is staged with the tile.
// The search does not know their columns. `ends`, `open`: positions in the tile, without the dropped quotes before
// them.
constexpr u32 MAX_FAR = 12, NOT_FAR = 0xFFFF;
struct FarFields {
    u16 count;    // NOT_FAR if the record begins later
    u16 is_text;  // not 0 if the tile is text of one field if it begins inside quotes: it has no quotes
    u16 open;     // up to where the tile copies a string that goes on after it
    u16 dropped;  // number of dropped quotes in the STRING_HEAD bytes before the tile
    u16 ends[MAX_FAR];
};
static_assert(sizeof(FarFields) == 32);
// Fields that began more than this before a tile are copied by several tiles (general/tile_strings.cuh).
constexpr u32 STRING_HEAD = 64;
// Returns the far fields of all tiles, which follow the sizes of 32 records each.
HR_FN FarFields* far_fields(u16* sizes, const RowTask& task) {
    return reinterpret_cast<FarFields*>(sizes + u64{task.tiles} * task.groups * task.strings);
}
static_assert(sizeof(MeasuredColumns) == 264);

HR_END_NAMESPACE
