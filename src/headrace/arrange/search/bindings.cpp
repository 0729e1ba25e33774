#include "core/bindings.hpp"

#include "arrange/search/search_host.hpp"

namespace headrace {

void bind_search(nanobind::module_& m) {
    m.def("search_keys", without_gil(search_keys));
    m.def("mark_runs", without_gil(mark_runs));
    m.def("count_integers", without_gil<GilRelease>(count_integers));
    m.def("sum_weights", without_gil<GilRelease>(sum_weights));
}

}  // namespace headrace
