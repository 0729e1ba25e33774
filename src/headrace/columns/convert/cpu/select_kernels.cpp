#include "columns/convert/cpu/convert.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const ConvertKernels&(), convert_kernels)

const ConvertKernels& convert_kernels(Isa isa) { return convert_kernels_for(isa)(); }

}  // namespace headrace
