#include "core/bindings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

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

// Returns `size` bytes of a file from an offset on, or fewer if the file ends before.
nb::object read_file(int file, u64 begin, u64 size) {
    constexpr u64 PIECE = u64{1} << 30;  // a call of the system reads less than 2 GiB
    require_group_memory(size);
    Region region(size, nullptr);
    region.ensure(size);
    const auto [end, error] = released([&]() -> std::pair<u64, int> {
        u64 at = 0;
        while (at < size) {
            const ssize_t got =
                pread(file, region.data() + at, std::min(PIECE, size - at), static_cast<off_t>(begin + at));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return {at, got == 0 ? 0 : errno};
            at += static_cast<u64>(got);
        }
        return {at, 0};
    });
    if (error != 0) {
        errno = error;
        PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
    region.trim(end);
    return make_buffer(std::move(region));
}

// Begins to write the bytes of a file to the disk. Errors are left to the sync that follows.
void begin_sync(int file) {
    const GilRelease release;
    sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
}

}  // namespace

void bind_store_files(nb::module_& m) {
    m.def("add_to_checksum", &add_to_checksum, "data"_a, "crc"_a);
    m.def("read_file", &read_file, "file"_a, "begin"_a, "size"_a);
    m.def("begin_sync", &begin_sync, "file"_a);
}

}  // namespace headrace
