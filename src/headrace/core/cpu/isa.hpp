// Chooses the instruction set of the CPU kernels: the best of the machine, or the one that HEADRACE_ISA or a caller
// names.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

namespace headrace {

enum class Isa { scalar, avx2, avx512 };

// Instruction sets that both this build and this machine support, the best first.
const std::vector<Isa>& available_isas();

// Return the instruction set of that name. An empty name means the best one, or HEADRACE_ISA if that is set.
// Throws std::invalid_argument for an unknown name or one that this machine lacks.
Isa choose_isa(std::string_view name);

std::string_view isa_name(Isa isa);

// Declares a function that is compiled once for each instruction set, in a namespace of that name. Also declares
// `name`_for(isa), which returns the one of an instruction set. Use it in namespace headrace. Example:
//   HR_FOR_EACH_ISA(const SelectKernels&(), select_kernels)
//   const SelectKernels& kernels = select_kernels_for(isa)();
#if defined(__x86_64__) && !defined(HR_SCALAR_ONLY)
#ifdef HR_WITHOUT_AVX512
#define HR_WIDEST_ISA avx2
#else
#define HR_WIDEST_ISA avx512
#endif
#define HR_FOR_EACH_ISA(Function, name)                          \
    namespace scalar {                                           \
    std::type_identity_t<Function> name;                         \
    }                                                            \
    namespace avx2 {                                             \
    std::type_identity_t<Function> name;                         \
    }                                                            \
    namespace HR_WIDEST_ISA {                                    \
    std::type_identity_t<Function> name;                         \
    }                                                            \
    static std::type_identity_t<Function>& name##_for(Isa isa) { \
        if (isa == Isa::avx512) return HR_WIDEST_ISA::name;      \
        return isa == Isa::avx2 ? avx2::name : scalar::name;     \
    }
#else
#define HR_FOR_EACH_ISA(Function, name)  \
    namespace scalar {                   \
    std::type_identity_t<Function> name; \
    }                                    \
    static std::type_identity_t<Function>& name##_for(Isa) { return scalar::name; }
#endif

}  // namespace headrace
