// A file is described, opened, read and closed, by one system call each. A map, or a second read, would take longer.
// One of a folder is opened first: its description then needs no second walk along its path.
// Only a file that has the pattern is searched for lines.
#include "query/lines/small_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core/cpu/cache_blocks.hpp"

namespace headrace {

namespace {

constexpr usize max_bytes = 1 << 16;

bool is_small(const struct stat& facts) {
    return S_ISREG(facts.st_mode) && facts.st_size <= static_cast<off_t>(max_bytes);
}

// Reads a regular file of up to `max_bytes` bytes. Others are not opened unless the path `is_listed` as that of a
// regular file: a named pipe would lose its writer. Files below /proc have no size.
std::optional<std::string_view> content_of(const std::string& path, bool is_listed, std::string& buffer) {
    struct stat facts;
    if (!is_listed && (stat(path.c_str(), &facts) != 0 || !is_small(facts))) return std::nullopt;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return std::nullopt;
    const bool is_read = !is_listed || (fstat(file, &facts) == 0 && is_small(facts));
    const ssize_t size = is_read ? read(file, buffer.data(), buffer.size()) : -1;
    close(file);
    if (size < 0 || size != facts.st_size) return std::nullopt;
    return std::string_view(buffer).substr(0, static_cast<usize>(size));
}

}  // namespace

std::unique_ptr<SmallFiles::FileSearch> SmallFiles::take() {
    const std::scoped_lock lock(taking_);
    if (spare_.empty()) {
        return std::unique_ptr<FileSearch>(
            new FileSearch{LineSearch(selector_, options_, {resources_.isa, 1}), std::string(max_bytes + 1, '\0')});
    }
    std::unique_ptr<FileSearch> own = std::move(spare_.back());
    spare_.pop_back();
    return own;
}

bool SmallFiles::is_text(std::string_view content) const {
    return std::none_of(marks_.begin(), marks_.end(),
                        [&](const std::string& mark) { return content.starts_with(mark); });
}

// Calls search(line search, text, i) for the text of file i, unless no line of it can be selected.
template <class Answer, class Search>
std::vector<std::optional<Answer>> SmallFiles::search_each(std::span<const std::string> paths, const Search& search) {
    std::vector<std::optional<Answer>> found(paths.size());
    for_each_piece(
        paths.size(), resources_.threads, [&] { return take(); },
        [&](const std::unique_ptr<FileSearch>& own, u64 i) {
            const auto text = content_of(paths[i], are_listed_, own->buffer);
            if (!text || !is_text(*text)) return;
            found[i] = own->lines.may_select(*text) ? search(own->lines, *text, i) : Answer{};
        },
        [&](std::unique_ptr<FileSearch>& own) {
            const std::scoped_lock lock(taking_);
            spare_.push_back(std::move(own));
        });
    return found;
}

std::vector<std::optional<u64>> SmallFiles::count(std::span<const std::string> paths) {
    return search_each<u64>(paths, [](LineSearch& search, std::string_view text, u64) {
        search.begin_file({});
        return search.count(text);
    });
}

std::vector<std::optional<std::string>> SmallFiles::write(std::span<const std::string> paths,
                                                          std::span<const std::string> names) {
    return search_each<std::string>(paths, [&](LineSearch& search, std::string_view text, u64 i) {
        search.begin_file(names[i]);
        return std::string(search.write(text));
    });
}

}  // namespace headrace
