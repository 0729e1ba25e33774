// Finds absent fields of a column: empty ones, and unquoted null words.
#pragma once

#include "columns/convert/cpu/lanes.hpp"

HR_BEGIN_NAMESPACE

class AbsentFields {
public:
    AbsentFields(const TileRows& rows, const ColumnFields& fields, const FieldRules& rules)
        : rows_(rows),
          fields_(fields),
          rules_(rules),
          looks_up_(rules.nulls.count > (rules.empty_is_null ? 1 : 0) && rows.dialect->escape < 0) {
        empty_sizes_ = rules.empty_is_null || rows.widths != nullptr ? 1 : 0;
        if (rows.dialect->trims_fields()) empty_sizes_ = ~u64{0};
        sizes_ = empty_sizes_ | (looks_up_ ? rules.words.null_sizes : 0);
    }

    // Returns whether null words are found. With escapes they are not, since a field's bytes may differ from its text.
    bool looks_up() const { return looks_up_; }

    // Returns whether absent fields have to be found before others are read, which does not decline all of them.
    // `words`: whether null words do.
    bool come_first(bool words) const { return (words && looks_up_) || (rules_.words.of_empty & BOOL_WORDS) != 0; }

    // Returns a bit for each of `count` rows, at most 64. Only fields that have the size of an absent one are looked
    // at, so that no branch depends on a single field. Empty ones need no look if they are null. Without `words`, null
    // words may be left out.
    u64 find(usize row, usize count, bool words = true) const {
        const u64 sizes = words ? sizes_ : empty_sizes_;
        if (sizes == 0) return 0;
        u64 empty = 0;
        u64 found = sized(row, count, sizes, empty);
        u64 absent = rules_.empty_is_null ? empty : 0;
        for (found &= ~absent; found != 0; found &= found - 1) {
            if (is_absent(row + static_cast<usize>(trailing_zeros(found)))) absent |= found & (0 - found);
        }
        return absent;
    }

    bool is_absent(usize row) const {
        const u32 start = fields_.start(row);
        FieldBytes field = {rows_.text + start, fields_.end(row) - start, false};
        if (rows_.dialect->trims_fields()) field = strip(*rows_.dialect, field.text, field.size);
        if (field.quoted) return false;
        if (field.size == 0 && (rules_.empty_is_null || fields_.missing(row))) return true;
        // A field that begins with a quote may be quoted.
        return looks_up_ && *field.text != rows_.dialect->quote && is_null(rules_, field.text, field.size, false);
    }

private:
    u64 sized(usize row, usize count, u64 sizes, u64& empty) const {
        const u32* start = fields_.starts() + row * fields_.start_stride();
        const u32* end = fields_.ends() + row * fields_.stride();
        const usize start_stride = fields_.start_stride(), stride = fields_.stride();
        const u32 distance = fields_.start_offset() + fields_.back();  // of the entries of an empty field
        u64 found = 0;
        usize i = 0;
#if defined(HR_ISA_AVX512)
        if (start + 1 == end && start_stride == stride) {
            const LaneEntries entries(stride);
            for (; i + LANES <= count; i += LANES, start += LANES * stride, end += LANES * stride) {
                const Lane64 size = entries.sizes(start, distance);
                empty |= u64{_mm512_testn_epi64_mask(size, size)} << i;
                if (sizes == 1) continue;
                const Lane64 has_size = _mm512_srlv_epi64(all_lanes(sizes), _mm512_min_epu64(size, all_lanes(63)));
                found |= u64{_mm512_test_epi64_mask(has_size, all_lanes(1))} << i;
            }
        }
#endif
        for (; sizes == 1 && i < count; ++i, start += start_stride, end += stride) {
            empty |= u64{*end - *start == distance} << i;
        }
        for (; i < count; ++i, start += start_stride, end += stride) {
            const u32 size = *end - *start - distance;
            found |= (sizes >> (size < 63 ? size : 63) & 1) << i;
            empty |= u64{size == 0} << i;
        }
        return sizes == 1 ? empty : found;
    }

    const TileRows& rows_;
    const ColumnFields fields_;
    const FieldRules& rules_;
    const bool looks_up_;
    u64 empty_sizes_, sizes_;  // bit n: an empty or any absent field may have n bytes; bit 63: 63 bytes or more
};

HR_END_NAMESPACE
