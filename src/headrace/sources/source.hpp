// Defines sources of bytes: memory, or a file that is read with pread. A file is never mapped, because a file that
// shrinks while it is mapped kills the process. A short read is an error that can be reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "sources/encoding/encoding.hpp"

namespace headrace {

class SourceFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Source {
public:
    virtual ~Source() = default;
    std::uint64_t size() const { return size_; }

    // The encoding is UTF-8 unless another is set, which must be done before the first read.
    const Encoding& encoding() const { return encoding_; }
    void set_encoding(const Encoding& encoding) { encoding_ = encoding; }

    // Returns the bytes in memory, or nullptr if they have to be read.
    virtual const std::uint8_t* resident() const { return nullptr; }

    // Copies bytes [offset, offset + n) to `to`. Safe from several threads. Throws SourceFailure.
    virtual void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const = 0;

    // Throws SourceFailure if the source changed since it was opened.
    virtual void check_unchanged() const {}

protected:
    std::uint64_t size_ = 0;

private:
    Encoding encoding_;
};

class MemorySource final : public Source {
public:
    MemorySource(const void* data, std::uint64_t size) : data_(static_cast<const std::uint8_t*>(data)) { size_ = size; }
    const std::uint8_t* resident() const override { return data_; }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override;

private:
    const std::uint8_t* data_;
};

class FileSource final : public Source {
public:
    // `fd`: descriptor of a regular file, open for reading, owned by the caller. `name`: name for messages.
    FileSource(int fd, std::string name);
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override;
    void check_unchanged() const override;

private:
    int fd_;
    std::string name_;
    std::int64_t modified_ns_ = 0;
};

// The first bytes of another source, which must outlive this one.
class PrefixSource final : public Source {
public:
    PrefixSource(const Source& whole, std::uint64_t size) : whole_(whole) {
        size_ = size < whole.size() ? size : whole.size();
        set_encoding(whole.encoding());
    }
    const std::uint8_t* resident() const override { return whole_.resident(); }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override { whole_.read(offset, n, to); }
    void check_unchanged() const override { whole_.check_unchanged(); }

private:
    const Source& whole_;
};

}  // namespace headrace
