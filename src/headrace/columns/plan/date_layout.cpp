#include "columns/plan/date_layout.hpp"

#include <algorithm>
#include <iterator>

namespace headrace {
namespace {

// Builds a layout step by step.
class LayoutBuilder {
public:
    explicit LayoutBuilder(usize format) {
        std::fill(std::begin(layout_.limit), std::end(layout_.limit), u8{255});
        std::fill(std::begin(layout_.low), std::end(layout_.low), DateLayout::NO_PLACE);
        std::fill(std::begin(layout_.high), std::end(layout_.high), DateLayout::NO_PLACE);
        std::fill(std::begin(layout_.place), std::end(layout_.place), DateLayout::NO_PLACE);
        layout_.month_name = layout_.half = DateLayout::NO_PLACE;
        layout_.format = format;
    }

    // Append a step. Returns false if texts of the format have no layout from here on.
    bool add(const DateStep& step) {
        if (layout_.has_offset || (layout_.has_fraction && step.what != 'z')) return false;
        switch (step.what) {
            case '%':
                return add_byte(step.least, 0);
            case 'Y':
                return add_pair(0) && add_pair(1);
            case 'y':
                layout_.has_short_year = true;
                return add_pair(1);
            case 'm':
                return add_pair(2);
            case 'd':
                return add_pair(3);
            case 'H':
            case 'I':
                layout_.has_time = true;
                return add_pair(4);
            case 'M':
                return add_pair(5);
            case 'S':
                return add_pair(6);
            case 'b':
                layout_.month_name = layout_.size;
                return add_letters(3);
            case 'p':
                layout_.half = layout_.size;
                return add_letters(2);
            case 'f':
                return layout_.has_fraction = true;
            case 'z':
                return layout_.has_offset = true;
            default:
                return false;
        }
    }

    const DateLayout& layout() const { return layout_; }

private:
    bool add_byte(u8 shape, u8 limit) {
        if (layout_.size == DateLayout::MAX_SIZE) return false;
        layout_.shape[layout_.size] = shape;
        layout_.limit[layout_.size] = limit;
        ++layout_.size;
        return true;
    }
    bool add_pair(usize part) {
        layout_.place[part] = layout_.size;
        for (usize i = 0; i < 2; ++i) {
            if (layout_.size < 16) {
                layout_.low[2 * part + i] = layout_.size;
            } else {
                layout_.high[2 * part + i] = static_cast<u8>(layout_.size - 16);
            }
            if (!add_byte('0', 9)) return false;
        }
        return true;
    }
    bool add_letters(usize count) {
        for (usize i = 0; i < count; ++i) {
            if (!add_byte(0, 255)) return false;
        }
        return true;
    }

    DateLayout layout_{};
};

}  // namespace

void add_date_layouts(const DateFormat& format, usize number, std::vector<DateLayout>& layouts) {
    LayoutBuilder builder(number);
    for (usize i = 0; i < format.count; ++i) {
        if (format.steps[i].what == '?') {
            layouts.push_back(builder.layout());
        } else if (!builder.add(format.steps[i])) {
            return;
        }
    }
    layouts.push_back(builder.layout());
}

}  // namespace headrace
