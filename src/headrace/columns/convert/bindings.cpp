#include "columns/bindings.hpp"

#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/fast/row_task.hpp"
#include "columns/convert/gpu/size_estimate.hpp"
#include "core/layouts/layout.hpp"

namespace headrace {

// Structs of the kernels that convert (columns/convert/gpu/layouts.py).
void bind_convert() {
    register_layouts<ConvertColumn, FieldFault, LeftField, ConvertTotals, DfaTask, ConvertTask, FieldRules, Zone,
                     SizeRange>();
    register_layouts<RowColumn, RowTask, MeasuredColumn, MeasuredColumns, FarFields, FaultOutput>();
}

}  // namespace headrace
