#include "columns/buffers/column_buffers.hpp"

#include "columns/buffers/text_views.hpp"

namespace headrace {

usize value_bits(const ColumnType& type) {
    switch (type.id) {
#define HR_TYPE(id, name, bits, ...) \
    case TypeId::id:                 \
        return bits;
#include "core/types.def"
    }
    return 0;
}

usize offset_bytes(const LoadedColumn& column, usize rows) {
    return column.views ? rows * sizeof(View) : (rows + 1) * value_bits(column.type) / 8;
}

bool is_string(const ColumnType& type) {
    return small_form(type.id) == TypeId::string || small_form(type.id) == TypeId::binary;
}

TypeId large_form(TypeId id) {
    return id == TypeId::string ? TypeId::large_string : id == TypeId::binary ? TypeId::large_binary : id;
}

TypeId small_form(TypeId id) {
    return id == TypeId::large_string ? TypeId::string : id == TypeId::large_binary ? TypeId::binary : id;
}

}  // namespace headrace
