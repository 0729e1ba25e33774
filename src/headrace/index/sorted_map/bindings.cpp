#include "core/bindings.hpp"

#include <nanobind/stl/pair.h>

#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/gpu/cut_task.hpp"

namespace headrace {

void bind_sorted_map(nanobind::module_& m) {
    register_layouts<MapLevel, MapLevels, NeighbourOptions, CutTask>();
    m.def("reverse_batch", without_gil(reverse_batch));
    m.def("merge_small_batch", without_gil(merge_small_batch));
    m.def("mark_deleted", without_gil(mark_deleted));
    m.def("merge_levels", without_gil(merge_levels));
    m.def("compact_level", without_gil(compact_level));
    m.def("find_in_levels", without_gil(find_in_levels));
    m.def("count_ranges", without_gil(count_ranges));
    m.def("copy_short_ranges", without_gil(copy_short_ranges));
    m.def("copy_ranges", without_gil(copy_ranges));
    m.def("find_neighbours", without_gil(find_neighbours));
    m.def("keys_of_codes", without_gil(keys_of_codes));
    m.attr("MAP_MAX_MIXED") = max_mixed;
    m.def("map_fence_rows", [](u64 count) {
        const FenceRows rows = fence_rows(count);
        return std::pair(rows.shift, rows.fences);
    });
    m.def("map_filter_words", &filter_words);
    m.def("map_guide_row", &row_length);
}

}  // namespace headrace
