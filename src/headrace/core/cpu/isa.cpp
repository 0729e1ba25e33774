#include "core/cpu/isa.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace headrace {

std::string_view isa_name(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return "avx512";
        case Isa::avx2:
            return "avx2";
        case Isa::scalar:
            break;
    }
    return "scalar";
}

namespace {

std::vector<Isa> find_isas() {
    std::vector<Isa> found;
#if defined(__x86_64__) && !defined(HR_SCALAR_ONLY)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
#ifndef HR_WITHOUT_AVX512
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    if (avx512) found.push_back(Isa::avx512);
#endif
    if (avx2) found.push_back(Isa::avx2);
#endif
    found.push_back(Isa::scalar);
    return found;
}

// Not a static local: a child forked during its initialization would wait for it forever. Never destroyed, since
// threads may read it while the process exits.
const std::vector<Isa>& ISAS = *new std::vector<Isa>(find_isas());

}  // namespace

const std::vector<Isa>& available_isas() { return ISAS; }

Isa choose_isa(std::string_view name) {
    if (name.empty()) {
        const char* forced = std::getenv("HEADRACE_ISA");
        if (forced == nullptr || *forced == '\0') return available_isas().front();
        name = forced;
    }
    std::string known;
    for (const Isa isa : available_isas()) {
        if (isa_name(isa) == name) return isa;
        known += (known.empty() ? "" : ", ") + std::string(isa_name(isa));
    }
    throw std::invalid_argument("instruction set '" + std::string(name) +
                                "' is not available here; use one of: " + known);
}

}  // namespace headrace
