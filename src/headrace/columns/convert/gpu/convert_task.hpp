// What the conversion on a GPU (convert.cu) is told, and what it leaves; layouts.py packs and reads the same
// structs. Pointers are to device memory.
#pragma once

#include "columns/rules/kinds.hpp"
#include "structure/gpu/tile_start.hpp"

HR_BEGIN_NAMESPACE

enum ConvertFlag : u8 {
    CONVERT_INFERRED = 1,  // a field that `guess` does not hold is a sighting of a kind, and no fault
    CONVERT_UTC = 2,       // as ColumnType::utc
    CONVERT_RAW = 4,       // strings: the bytes as they stand, quotes included
    // What the column's rules say, here for the many fields:
    CONVERT_EMPTY_IS_NULL = 8,
    CONVERT_NULL_WORDS = 16,   // strings: other texts than the empty one mean null
    CONVERT_QUOTED_NULL = 64,  // strings: a quoted text may mean null
    CONVERT_FAST = 32          // the common shapes mean what they mean everywhere, and are no word
};

// What is converted alike.
enum class ConvertFamily : u8 { others, integer, float32, float64, date, timestamp, decimal, text };

// A wanted column. Row r of the result is record r of the text, from 0: rows that have to go are taken out afterwards.
//
// Words of bits are written by several tiles: `validity` is all ones before the launch, and those of bools are zeros.
// Nothing else has to be anything before. Record r's value, and of strings offsets[r + 1], are written by the tile in
// which its field of this column ends, or in which it ends without such a field, also if it has to go; where rows are
// read, by the tile in which it ends. offsets[0] is count_values', behind all tiles.
struct ConvertColumn {
    const FieldRules* rules;
    const Zone* zone;  // or null
    i64 units_per_second;
    u8* values;      // fixed width: the values; bool: words of 32 bits; strings: their bytes
    u8* offsets;     // strings: one more than rows, of 32 or 64 bits
    u32* validity;   // words of 32 rows, bit set: a value
    u64* sightings;  // inferred: SIGHTINGS words of positions, then as many of records; ~0 where none
    u32 position;    // among the fields of a record
    u32 largest;     // integers: of 8 digits, or of the type if that is less
    TypeId type;
    Kind guess;
    u8 flags;
    u8 precision;
    u8 scale;
    ConvertFamily family;
    u8 width;      // bytes of a value, of a string's offset; 0 of bool and null
    u8 is_signed;  // integers
};
static_assert(sizeof(ConvertColumn) == 72);

// A field, or a record, that is not what it should be. Records count from 0.
struct FieldFault {
    u64 record;
    u64 record_begin;
    u64 begin, end;  // raw bytes of the field; of a structural fault those of the record
    u64 at;          // the byte that is wrong; of too many fields the record's begin
    u32 column;      // position among the fields of a record; NO_FIELD where the record is at fault
    u32 kind;        // Fault, or FAULT_DEFERRED
};
static_assert(sizeof(FieldFault) == 48);

constexpr u32 NO_FIELD = ~u32{0};
// A field that this kernel leaves to the caller, who has to convert it and to put its value: one that is longer than a
// thread should read, or whose text lies in pieces and is longer than it may hold. Of a text: some of it is no UTF-8;
// it may be listed more than once.
constexpr u32 FAULT_DEFERRED = 255;
constexpr u32 RAISES_DEFERRED = 1u << 31;  // in ConvertTask::raises
// No fault: a record with text behind its last column, which the caller collects (ROWS_COLLECT_LONG).
constexpr u32 FAULT_COLLECTED = 254;

struct ConvertTotals {
    u64 faults;  // all of them, whether there was room or not
    u64 filled;  // records that were short, and were filled with nulls
    u64 raised;  // complement of the first record with a fault of a kind in ConvertTask::raises; 0 if there is none
};
static_assert(sizeof(ConvertTotals) == 24);

// What becomes of records whose fields are fewer than `base` or more than `width`. Otherwise their values are not
// looked at, and the record has to go.
enum RowFlag : u32 {
    ROWS_FILL_SHORT = 1,    // nulls for the fields that a record lacks, and no fault
    ROWS_KEEP_LONG = 2,     // a fault, and the first `width` fields count
    ROWS_COLLECT_LONG = 4,  // no fault: told as FAULT_COLLECTED, for a column that is none of the kernel's
    ROWS_KNOWN = 8          // faults of records, and filled ones, are known from an earlier pass and not told again
};

// What only an automaton can read: how the search left it (structure/gpu/summarize_dfa.cu), and how fields are written.
struct StepsTask {
    const void* tables;  // StepTables<count>
    const u8* states;    // of the automaton before each 32 bytes: `chunk` of them, then `stride` bytes to the next ones
    const u32* marks;    // lenient quotes that open no field, a bit for each byte; or null
    u16 chunk;
    u16 stride;
    u8 count;           // 8, 16 or 64
    u8 separator_more;  // bytes of a separator but its last
    u8 line_end_more;
    u8 flags;  // StepsFlag
    u8 escape;
    u8 reserved[7];
};
static_assert(sizeof(StepsTask) == 40);

enum StepsFlag : u8 { STEPS_ESCAPES = 1, STEPS_SKIP_SPACES = 2, STEPS_LENIENT = 4 };

// What all tiles share.
struct ConvertTask {
    u64 size;        // bytes of text
    u64 fault_room;  // entries
    u32 tiles;       // entries[tiles] speaks of the text's end
    u32 base;        // fields of a whole record, at least
    u32 width;       // and at most: columns of the table, wanted or not
    u32 columns;     // wanted ones; those of strings come first
    u32 strings;     // how many they are
    u32 rows;        // RowFlag
    PlainDialect dialect;
    StepsTask steps;  // of texts that the search read by steps
    const u64* gone;  // records that have to go, ascending: what their fields hold is nobody's business
    u64 gone_count;
    u64 last_record;  // the same of all records behind this one
    u32 raises;       // a bit for each Fault that is to be raised, and FAULT_DEFERRED's
    u32 reserved;
};
static_assert(sizeof(ConvertTask) == 120);

HR_END_NAMESPACE
