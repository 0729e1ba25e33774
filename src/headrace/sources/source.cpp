#include "sources/source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace headrace {

void MemorySource::read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const {
    std::memcpy(to, data_ + offset, n);
}

namespace {

struct stat status_of(int fd, const std::string& name) {
    struct stat status;
    if (fstat(fd, &status) != 0) throw SourceFailure("cannot look at '" + name + "': " + std::strerror(errno));
    return status;
}

std::int64_t modified_ns(const struct stat& status) {
    return status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

}  // namespace

FileSource::FileSource(int fd, std::string name) : fd_(fd), name_(std::move(name)) {
    const struct stat status = status_of(fd_, name_);
    size_ = static_cast<std::uint64_t>(status.st_size);
    modified_ns_ = modified_ns(status);
}

void FileSource::read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const {
    while (n > 0) {
        const ssize_t got = pread(fd_, to, n, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            throw SourceFailure("cannot read '" + name_ + "' at byte " + std::to_string(offset) + ": " +
                                std::strerror(errno));
        }
        if (got == 0) {
            throw SourceFailure("'" + name_ + "' shrank while it was read: it had " + std::to_string(size_) +
                                " bytes, and now ends at or before byte " + std::to_string(offset));
        }
        offset += static_cast<std::uint64_t>(got);
        to += got;
        n -= static_cast<std::size_t>(got);
    }
}

void FileSource::check_unchanged() const {
    const struct stat status = status_of(fd_, name_);
    if (static_cast<std::uint64_t>(status.st_size) == size_ && modified_ns(status) == modified_ns_) return;
    throw SourceFailure("'" + name_ + "' changed while it was read (it had " + std::to_string(size_) + " bytes, now " +
                        std::to_string(status.st_size) + "); read it again");
}

}  // namespace headrace
