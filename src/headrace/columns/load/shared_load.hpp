// State that the loads of several files share: one type for each column, and one memory limit.
//
// A load begins with the kinds seen in the preceding files and adds its own, so its guess covers all text before it. If
// the types of all files differ from those that a file was loaded with, it is loaded again, with the kinds of all
// files. A value that its type cannot represent makes a column text. The first such value of all files is known only
// after each file was loaded with the type that all kinds imply. So these values are kept apart until then
// (`with_unfit`).
#pragma once

#include <memory>

#include "columns/infer/infer.hpp"

namespace headrace {

struct LoadShare {
    LoadShare(usize columns, usize memory_limit)
        : ledger(columns), columns(columns), budget(std::make_shared<Budget>(memory_limit)) {}

    KindLedger ledger;
    bool with_unfit = false;
    usize columns;
    std::shared_ptr<Budget> budget;
};

}  // namespace headrace
