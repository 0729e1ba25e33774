// Declares the arguments and results of the general conversion on a GPU (general/convert.cu). Python reads the layouts
// of these structs (columns/convert/gpu/layouts.py). Pointers are to device memory.
#pragma once

#include "columns/rules/fault.hpp"
#include "columns/rules/kinds.hpp"
#include "structure/gpu/dfa_tables.hpp"
#include "structure/gpu/tile_start.hpp"

HR_BEGIN_NAMESPACE

enum ConvertFlag : u8 {
    CONVERT_INFERRED = 1,  // a field whose kind `guess` does not cover is recorded as a kind seen, not as a fault
    CONVERT_UTC = 2,       // as ColumnType::utc
    CONVERT_RAW = 4,       // strings: the bytes of the field unchanged, with quotes
    // Properties of the column's rules that most fields depend on:
    CONVERT_EMPTY_IS_NULL = 8,
    CONVERT_NULL_WORDS = 16,   // strings: texts other than the empty one mean null
    CONVERT_QUOTED_NULL = 32,  // strings: a quoted text may mean null
    CONVERT_RESERVED = 64      // some word looks like a value, so words are looked up first
};

// Columns of one family share their conversion code.
enum class ConvertFamily : u8 { others, integer, float32, float64, date, timestamp, decimal, text, boolean, time };

// A wanted column. Row r of the result is record r of the text, counted from 0. Rejected rows are removed afterwards.
//
// Several tiles write to one word of bits. So `validity` must be all ones before the launch, and the values of bools
// all zeros. Other buffers need no initialisation. Record r's value (and offsets[r + 1] of strings) is written by the
// tile in which its field of this column ends. Without that field, the tile in which the record ends writes it. Values
// of rejected records are written, too. The fast conversion writes both in the tile in which the record ends.
// count_values writes offsets[0] after all tiles.
struct ConvertColumn {
    const FieldRules* rules;
    const Zone* zone;  // or null
    i64 units_per_second;
    u8* values;      // fixed width: the values; bool: words of 32 bits; strings: their bytes
    u8* offsets;     // strings: rows + 1 offsets of 32 or 64 bits
    u32* validity;   // words of 32 rows; bit set: not null
    u64* sightings;  // inferred: SIGHTINGS byte positions, then as many record indices; ~0 if the kind was not seen
    u32 position;    // index among the fields of a record
    u32 largest;     // of integers and strings: as RowColumn::largest
    TypeId type;
    Kind guess;
    u8 flags;  // ConvertFlag
    u8 precision;
    u8 scale;
    ConvertFamily family;
    u8 width;      // bytes of a value, or of a string's offset; 0 for bool and null
    u8 is_signed;  // integers
};
static_assert(sizeof(ConvertColumn) == 72);

// A fault of a field or of a record. Records count from 0.
struct FieldFault {
    u64 record;
    u64 record_begin;
    u64 begin, end;  // raw bytes of the field; for a structural fault those of the record
    u64 at;          // the offending byte; for too many fields the record's begin
    u32 column;      // index among the fields of a record; NO_FIELD for a fault of the record
    u32 kind;        // Fault, or FAULT_DEFERRED, or FAULT_COLLECTED
};
static_assert(sizeof(FieldFault) == 48);

constexpr u32 NO_FIELD = ~u32{0};
// A field that the kernel leaves to the caller, who converts it and stores its value. The field may be longer than one
// thread should read. Its text may lie in several pieces and exceed the thread's buffer. Or it is a string with invalid
// UTF-8. A string may be listed more than once.
constexpr u32 FAULT_DEFERRED = 255;
constexpr u32 RAISE_DEFERRED = 1u << 31;  // FAULT_DEFERRED's bit in ConvertTask::raise_mask
// Not a fault: a record with text after its last column, which the caller collects (RECORDS_COLLECT_LONG).
constexpr u32 FAULT_COLLECTED = 254;

// A field that the fast conversion leaves to the rules. Such fields follow the list of faults, as many as it may have.
struct LeftField {
    u32 tile;
    u32 record;      // index among those that end in the tile
    i16 begin, end;  // raw bytes of the field, counted from the tile's first byte
    i16 record_begin;
    u16 column;  // index in the table of ConvertColumn, or NO_LEFT
};
static_assert(sizeof(LeftField) == 16);
constexpr u16 NO_LEFT = 0xFFFF;

struct ConvertTotals {
    u64 faults;  // number of faults, listed or not
    u64 filled;  // short records that were filled with nulls
    u64 raised;  // complement of the first record with a fault in ConvertTask::raise_mask; 0 if there is none
    u64 left;    // fields that the fast conversion has left to the rules, listed or not, and LEFT_TILES
};
static_assert(sizeof(ConvertTotals) == 32);
constexpr u64 LEFT_TILES = u64{1} << 32;  // in ConvertTotals::left: the fast conversion has marked tiles (RowMark)

// The list of faults, and what decides which faults it takes.
struct FaultOutput {
    FieldFault* faults;
    ConvertTotals* totals;
    u64 capacity;
    u64 last_record;    // later records are not converted
    u32 raise_mask;     // as ConvertTask::raise_mask
    u32 knows_records;  // not 0 if an earlier pass has listed the faults of records
};
static_assert(sizeof(FaultOutput) == 40);

// Treatment of records with fewer than `base` or more than `width` fields. Without a flag for its case, such a record
// is a fault and is rejected: its fields are not converted.
enum RecordFlag : u32 {
    RECORDS_FILL_SHORT = 1,    // no fault: missing fields are null
    RECORDS_KEEP_LONG = 2,     // a fault, but the first `width` fields are converted
    RECORDS_COLLECT_LONG = 4,  // listed as FAULT_COLLECTED, for a column that the kernel does not make
    RECORDS_KNOWN = 8          // an earlier pass has listed the faults and fills of records: do not list them again
};

// Arguments that all tiles share.
struct ConvertTask {
    u64 size;            // bytes of text
    u64 fault_capacity;  // entries of the fault list
    u32 tiles;           // entries[tiles] is the state at the text's end
    u32 base;            // fields of a complete record, at least
    u32 width;           // and at most: columns of the table, wanted or not
    u32 columns;         // wanted columns; those of strings come first
    u32 strings;         // number of those
    u32 record_flags;    // RecordFlag
    PlainDialect dialect;
    DfaTask dfa;          // of texts that the DFA search read
    const u64* rejected;  // indices of rejected records, ascending: their fields are not converted
    u64 rejected_count;
    u64 last_record;  // records after this one are not converted either
    u32 raise_mask;   // bit f set: fault f is to be raised; RAISE_DEFERRED for FAULT_DEFERRED
    u32 reserved;
};
static_assert(sizeof(ConvertTask) == 112);

HR_END_NAMESPACE
