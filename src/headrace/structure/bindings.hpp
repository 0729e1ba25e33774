// The dialect as Python hands it over.
#pragma once

#include "structure/dfa.hpp"

namespace headrace {

struct PythonDialect {
    Dialect dialect;
};

}  // namespace headrace
