#include "core/bindings.hpp"

#include <fcntl.h>

#include "store/files/checksum.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Returns the number of first bytes that were added to the checksum, and the checksum; (0, crc) without the
// instructions.
nb::tuple add_to_checksum(const nb::handle data, u32 crc) {
    const BorrowedBytes bytes(data);
    const u64 size = has_folding_checksum() ? bytes.size() / 16 * 16 : 0;
    if (size < checksum_block) return nb::make_tuple(0, crc);
    {
        const GilRelease release;
        crc = folding_checksum(static_cast<const u8*>(bytes.data()), size, crc);
    }
    return nb::make_tuple(size, crc);
}

// Begins to write the bytes of a file to the disk. Errors are left to the sync that follows.
void begin_sync(int file) {
    const GilRelease release;
    sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
}

}  // namespace

void bind_store_files(nb::module_& m) {
    m.def("add_to_checksum", &add_to_checksum, "data"_a, "crc"_a);
    m.def("begin_sync", &begin_sync, "file"_a);
}

}  // namespace headrace
