// Converts columns of dates, times and durations: shapes as in shapes.hpp, and a function for each family.
#pragma once

#include "columns/convert/cpu/convert_values.hpp"
#include "columns/convert/cpu/fast_time.hpp"
#include "columns/convert/cpu/time_lanes.hpp"
#include "columns/rules/dates/parse_duration.hpp"
#include "columns/rules/dates/parse_time.hpp"

HR_BEGIN_NAMESPACE

struct DateShape {
    bool fast(const u8* p, usize n, i32& out) const {
        i64 days;
        if (!fast_date(p, n, days)) return false;
        out = static_cast<i32>(days);
        return true;
    }
    Parse rule(const u8* p, usize n, i32& out) const { return parse_date32(p, n, out); }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, const LaneFields& lanes, i32* values) const {
        __mmask8 fine = _mm512_cmpeq_epi64_mask(lanes.size, all_lanes(10));
        const Lane64 head = lanes.quoted == 0 ? lanes.head : gather8(rows.text, lanes.start);
        const Lane64 day_text = gather8(rows.text + 8, lanes.start);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(values),
                            _mm512_cvtepi64_epi32(days_of_lanes(head, day_text, fine)));
        return static_cast<__mmask8>(~fine);
    }
#endif
};

// Text with an offset is an instant, which a column without zone cannot hold. Text without an offset is UTC in a column
// whose type is given as UTC, and is invalid in one inferred as UTC (`offset_needed`).
struct TimestampShape {
    i64 units;
    bool utc;
    bool offset_needed;
    bool fast(const u8* p, usize n, i64& out) const {
        Timestamp t;
        if (!fast_timestamp(p, n, t)) return false;
        return (t.has_offset ? utc : !offset_needed) && fast_scale(t, units, out);
    }
    Parse rule(const u8* p, usize n, i64& out) const {
        Timestamp timestamp;
        const Parse status = parse_timestamp(p, n, timestamp);
        if (status != Parse::ok) return status;
        if (timestamp.has_offset && !utc) return Parse::invalid;
        return scale_timestamp(timestamp, units, out);
    }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, const LaneFields& lanes, i64* values) const {
        const u64 unit_digits = units == 1 ? 0 : units == 1'000 ? 3 : units == 1'000'000 ? 6 : 9;
        const LaneTimeEnds ends = read_time_ends(rows, lanes, unit_digits);
        const __mmask8 allowed = (utc ? ends.is_instant : 0) | (offset_needed ? 0 : ~ends.is_instant);
        const __mmask8 to_minute = _mm512_cmpeq_epi64_mask(lanes.size, all_lanes(MINUTE_BYTES));
        __mmask8 fine = (ends.fine | to_minute) & allowed;
        if (fine == 0) return 0xFF;
        const Lane64 head = lanes.quoted == 0 ? lanes.head : gather8(rows.text, lanes.start);
        const Lane64 day_text = gather8(rows.text + 8, lanes.start);
        const Lane64 between = _mm512_and_si512(_mm512_srli_epi64(day_text, 16), all_lanes(0xFF));
        const __mmask8 split =
            _mm512_cmpeq_epi64_mask(between, all_lanes(' ')) | _mm512_cmpeq_epi64_mask(between, all_lanes('T'));
        fine &= split;
        const Lane64 days = days_of_lanes(head, day_text, fine);
        Lane64 clock_text = gather8(rows.text + 11, lanes.start);
        const Lane64 minute = _mm512_and_si512(clock_text, all_lanes(0xFFFFFFFFFF));
        clock_text = _mm512_mask_or_epi64(clock_text, to_minute, minute, all_lanes(u64{0x30303A} << 40));  // ":00"
        const Lane64 clock = time_of_lanes(clock_text, fine);
        const Lane64 time = _mm512_sub_epi64(clock, ends.offset);
        Lane64 value = _mm512_add_epi64(_mm512_mul_epi32(days, all_lanes(86400)), time);
        if (units != 1) {
            const Lane64 most = all_lanes(static_cast<u64>(INT64_LIMIT / units));
            fine &= _mm512_cmplt_epi64_mask(_mm512_abs_epi64(value), most);
            value = _mm512_mullo_epi64(value, all_lanes(static_cast<u64>(units)));
            value = _mm512_add_epi64(value, ends.fraction);
        }
        _mm512_storeu_si512(values, value);
        return static_cast<__mmask8>(~fine);
    }
#endif
    static constexpr i64 INT64_LIMIT = 0x7FFFFFFFFFFFFFFF;
};

// Reads dates and times of the caller's formats, with or without ISO 8601 before them.
struct FormattedTimes {
    const FieldRules& rules;
    bool inferred;
    const DateFormats& formats = rules.dates;
    Parse read(const u8* p, usize n, Timestamp& out) const {
        const DateFormat* used;
        return parse_formatted(formats, p, n, out, used);
    }
    // Declines texts that inference may take for numbers.
    bool read_fast(const u8* p, usize n, Timestamp& out) const {
        const DateFormat* used = nullptr;
        if (!read_by_layout(p, n, out, used) && parse_formatted(formats, p, n, out, used) != Parse::ok) return false;
        return !inferred || formats.before_numbers || used == nullptr || !used->may_be_number;
    }

private:
    // Reads a text that has a layout of a format, if no earlier format reads it.
    bool read_by_layout(const u8* p, usize n, Timestamp& out, const DateFormat*& used) const {
        for (usize i = 0; i < rules.layout_count; ++i) {
            const DateLayout& layout = rules.layouts[i];
            if (!read_layout(layout, p, n, out)) continue;
            Timestamp other;
            for (usize earlier = 0; earlier < layout.format; ++earlier) {
                if (read_formatted(formats.formats[earlier], p, n, other)) return false;
            }
            used = formats.formats + layout.format;
            return true;
        }
        return false;
    }
};

struct FormattedDateShape {
    FormattedTimes times;
    bool fast(const u8* p, usize n, i32& out) const {
        Timestamp t;
        return times.read_fast(p, n, t) && store(t, out) == Parse::ok;
    }
    Parse rule(const u8* p, usize n, i32& out) const {
        Timestamp t;
        const Parse status = times.read(p, n, t);
        return status == Parse::ok ? store(t, out) : status;
    }
    static Parse store(const Timestamp& t, i32& out) {
        if (!t.date_only) return Parse::invalid;
        out = static_cast<i32>(t.seconds / 86400);
        return Parse::ok;
    }
};

// Takes text without an offset as local time of `zone`, if there is one.
struct FormattedTimestampShape {
    FormattedTimes times;
    TimestampShape shape;
    const Zone* zone;
    mutable usize piece = 0;
    bool fast(const u8* p, usize n, i64& out) const {
        Timestamp t{};
        const bool is_iso = times.formats.iso_first && fast_timestamp(p, n, t);
        if (!is_iso && !times.read_fast(p, n, t)) return false;
        return t.has_offset >= shape.offset_needed && place(t) && fast_scale(t, shape.units, out);
    }
    Parse rule(const u8* p, usize n, i64& out) const {
        Timestamp t;
        const Parse status = times.read(p, n, t);
        if (status != Parse::ok) return status;
        return place(t) ? scale_timestamp(t, shape.units, out) : Parse::invalid;
    }
    // Makes a local time an instant. Returns false if the column cannot hold it.
    bool place(Timestamp& t) const {
        if (t.has_offset) return shape.utc;
        return zone == nullptr || to_utc(*zone, piece, t.seconds, t.seconds);
    }
};

template <class T>
struct TimeShape {
    i64 units;
    bool fast(const u8* p, usize n, T& out) const {
        i64 value;
        if (!fast_time_of_day(p, n, units, value)) return false;
        out = static_cast<T>(value);
        return true;
    }
    Parse rule(const u8* p, usize n, T& out) const { return parse_time<T>(p, n, units, out); }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, const LaneFields& lanes, T* values) const {
        __mmask8 fine = _mm512_cmpeq_epi64_mask(lanes.size, all_lanes(8));
        const Lane64 text = lanes.quoted == 0 ? lanes.head : gather8(rows.text, lanes.start);
        const Lane64 seconds = time_of_lanes(text, fine);
        const Lane64 value = _mm512_mullo_epi64(seconds, all_lanes(static_cast<u64>(units)));
        if constexpr (sizeof(T) == 8) {
            _mm512_storeu_si512(values, value);
        } else {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), _mm512_cvtepi64_epi32(value));
        }
        return static_cast<__mmask8>(~fine);
    }
#endif
};

// Takes 23:59:58 alone as a duration only if the column's type is given (`clock_alone`), not if it is inferred.
struct DurationShape {
    i64 units;
    bool clock_alone;
    bool fast(const u8* p, usize n, i64& out) const { return clock_alone && fast_time_of_day(p, n, units, out); }
    Parse rule(const u8* p, usize n, i64& out) const {
        Duration duration;
        const Parse status = parse_duration(p, n, duration);
        return status == Parse::ok ? scale_duration(duration, units, out) : status;
    }
};

// Returns whether ISO 8601 is the only form of dates and times.
HR_FN bool has_iso_alone(const ColumnJob& job) { return job.rules->dates.iso_first && job.rules->dates.count == 0; }

template <class T>
usize convert_date(const TileRows& rows, const ColumnJob& job) {
    if (has_iso_alone(job)) return convert_values<T>(rows, job, DateShape{}, store_to<T>(job));
    return convert_values<T>(rows, job, FormattedDateShape{{*job.rules, job.inferred}}, store_to<T>(job));
}

template <class T>
usize convert_timestamp(const TileRows& rows, const ColumnJob& job) {
    const TimestampShape shape = {job.type.units_per_second, job.type.utc, job.type.utc && job.inferred};
    if (has_iso_alone(job) && job.type.zone == nullptr) {
        return convert_values<T>(rows, job, shape, store_to<T>(job));
    }
    const FormattedTimestampShape formatted = {{*job.rules, job.inferred}, shape, job.type.zone};
    return convert_values<T>(rows, job, formatted, store_to<T>(job));
}

template <class T>
usize convert_time(const TileRows& rows, const ColumnJob& job) {
    return convert_values<T>(rows, job, TimeShape<T>{job.type.units_per_second}, store_to<T>(job));
}

template <class T>
usize convert_duration(const TileRows& rows, const ColumnJob& job) {
    const DurationShape shape = {job.type.units_per_second, !job.inferred};
    return convert_values<T>(rows, job, shape, store_to<T>(job));
}

HR_END_NAMESPACE
