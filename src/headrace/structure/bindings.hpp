// Declares the dialect as Python passes it to native functions.
#pragma once

#include "structure/dfa.hpp"

namespace headrace {

struct PythonDialect {
    Dialect dialect;
};

}  // namespace headrace
