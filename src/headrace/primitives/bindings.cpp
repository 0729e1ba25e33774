#include "core/bindings.hpp"

#include "primitives/cpu/scan.hpp"
#include "primitives/cpu/select.hpp"
#include "primitives/float_scan.hpp"

namespace headrace {

template <>
struct Argument<OperatorName> : TupleArgument<OperatorName, std::string_view, std::string_view> {};

void bind_primitives(nanobind::module_& m) {
    m.attr("FLOAT_SCAN_GROUP") = scan_group;
    m.def("scan", without_gil<GilRelease>(scan));
    m.def("sum_widened", without_gil<GilRelease>(sum_widened));
    m.def("reduce", without_gil<GilRelease>(reduce));
    m.def("float_sum", without_gil<GilRelease>(float_sum));
    m.def("float_scan", without_gil(float_scan));
    m.def("select", without_gil<GilRelease>(select));
}

}  // namespace headrace
