#include "sources/window.hpp"

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

// Bytes decoded at a time, so that bytes read from a file are still in the cache when they are decoded.
constexpr std::uint64_t PIECE = std::uint64_t{64} << 10;
constexpr std::size_t MIN_EXTENSION = 4096;

}  // namespace

void Window::open(std::uint64_t offset, std::size_t n, std::size_t lookahead) {
    const std::uint64_t end = std::min<std::uint64_t>(source_.size(), offset + n);
    const std::uint64_t lookahead_end = std::min<std::uint64_t>(source_.size(), end + lookahead);
    begin_ = end_ = cut(offset);
    size_ = 0;
    data_ = nullptr;
    marks_.clear();
    if (encoding_.is_utf8()) {
        copy_to(static_cast<std::size_t>(lookahead_end - begin_));
        owned_ = static_cast<std::size_t>(end - begin_);
    } else {
        decode_to(cut(end));
        owned_ = size_;
        decode_to(cut(lookahead_end));
    }
}

void Window::extend(std::size_t n) {
    if (encoding_.is_utf8()) {
        copy_to(static_cast<std::size_t>(std::min<std::uint64_t>(n, source_.size() - begin_)));
        return;
    }
    while (size_ < n && end_ < source_.size()) {
        const std::size_t more = std::max(n - size_, MIN_EXTENSION);
        decode_to(cut(std::min<std::uint64_t>(source_.size(), end_ + more)));
    }
}

void Window::reserve(std::size_t n) {
    const std::size_t needed = n + PADDING, capacity = copy_.size();
    if (needed <= capacity) return;
    // A window that pointed into the source has nothing to keep in this memory.
    const bool is_copy = data_ != nullptr && data_ == copy();
    copy_.resize(std::max(needed, capacity + capacity / 2), is_copy ? size_ : 0);
    if (is_copy) data_ = copy();
}

bool Window::point_to_resident(std::size_t n) {
    const std::uint8_t* resident = source_.resident();
    if (resident == nullptr || source_.size() - begin_ < n + PADDING) return false;
    data_ = resident + begin_;
    return true;
}

void Window::copy_to(std::size_t n) {
    if (!point_to_resident(n)) {
        // A window that pointed into the source is copied as a whole; otherwise only the new bytes are read.
        const std::size_t have = data_ != nullptr && data_ == copy() ? size_ : 0;
        reserve(n);
        source_.read(begin_ + have, n - have, copy() + have);
        std::memset(copy() + n, 0, PADDING);
        data_ = copy();
    }
    size_ = n;
    end_ = begin_ + n;
}

// Returns an offset at or near `at` at which the text may be cut. UTF-16 may be cut between units, but not within a
// pair: if `at` is within one, the cut is after it. The two units around `at` show whether they are a pair.
std::uint64_t Window::cut(std::uint64_t at) const {
    if (!encoding_.is_utf16() || at == source_.size()) return at;
    at -= at % 2;
    if (at < 2) return at;
    std::uint8_t units[4] = {};
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(4, source_.size() - (at - 2)));
    source_.read(at - 2, n, units);
    // A pair whose second unit is truncated by the end of the input is one fault.
    if (n == 3 && encoding_.is_first_of_pair(units)) return at + 1;
    return n == 4 && encoding_.is_pair(units) ? at + 2 : at;
}

void Window::decode_to(std::uint64_t end) {
    reserve(size_ + encoding_.text_bound(static_cast<std::size_t>(end - end_)));
    while (end_ < end) {
        const std::uint64_t stop = end - end_ <= PIECE ? end : cut(end_ + PIECE);
        const std::size_t n = static_cast<std::size_t>(stop - end_);
        const std::uint8_t* from = source_.resident();
        if (from != nullptr) {
            from += end_;
        } else {
            encoded_.resize(n);
            source_.read(end_, n, encoded_.as<std::uint8_t>());
            from = encoded_.as<std::uint8_t>();
        }
        size_ += encoding_.decode(from, n, copy() + size_);
        end_ = stop;
    }
    std::memset(copy() + size_, 0, PADDING);
    data_ = copy();
}

void Window::set_marks() const {
    if (marks_.empty()) marks_.push_back(0);
    while (marks_.size() <= size_ / MARK) {
        const std::uint8_t* block = data_ + (marks_.size() - 1) * MARK;
        marks_.push_back(marks_.back() + encoding_.source_bytes(block, MARK));
    }
}

std::uint64_t Window::origin(std::size_t at) const {
    if (encoding_.is_utf8()) return begin_ + at;
    if (at >= size_) return end_;
    set_marks();
    return begin_ + marks_[at / MARK] + encoding_.source_bytes(data_ + at / MARK * MARK, at % MARK);
}

std::size_t Window::place_of(std::uint64_t wanted, std::size_t from) const {
    if (wanted <= begin_) return 0;
    if (wanted >= end_) return size_;
    if (encoding_.is_utf8()) return static_cast<std::size_t>(wanted - begin_);
    set_marks();
    const auto mark = std::upper_bound(marks_.begin(), marks_.end(), wanted - begin_) - 1;
    std::size_t place = std::max(from, static_cast<std::size_t>(mark - marks_.begin()) * MARK);
    std::uint64_t at = origin(place);
    const auto inside_character = [&] { return (data_[place] & 0xC0) == 0x80; };
    while (place < size_ && inside_character()) ++place;
    while (place < size_ && at < wanted) {
        at += encoding_.source_bytes(data_[place++]);
        while (place < size_ && inside_character()) ++place;
    }
    return place;
}

}  // namespace headrace
