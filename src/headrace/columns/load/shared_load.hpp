// What the loads of several files have in common: one type for each column over all files, and one limit of memory, and
// what their threads work in. A load begins with the kinds that the files before it showed and adds its own, so a
// file's guess is what all text before it says. Loaded again, the file begins with the kinds of all files: that is how
// the types settle. A value that its type does not hold makes a column text, but the first such value of all files is
// known only when each was loaded with the type that all kinds call for; so these values are kept apart until then.
#pragma once

#include <memory>

#include "columns/infer/infer.hpp"
#include "columns/load/worker_memory.hpp"

namespace headrace {

struct LoadShare {
    LoadShare(usize columns, usize memory_limit)
        : ledger(columns), columns(columns), budget(std::make_shared<Budget>(memory_limit)) {}

    KindLedger ledger;
    bool with_unfit = false;
    usize columns;
    std::shared_ptr<Budget> budget;
    SpareMemory spare;
};

}  // namespace headrace
