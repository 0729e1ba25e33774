// A file is described, opened, read and closed, by one system call each. A map, or a second read, would take longer.
// The plan of an earlier file serves the search for a pattern, since a plan takes as long as the search of a file.
// Only a file that has the pattern is searched for lines.
#include "query/lines/small_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr usize max_bytes = 1 << 16;
constexpr u64 enough_bytes = 4096;  // of a text, for a plan that is kept

// Reads a regular file of up to `max_bytes` bytes. Others are not opened: a named pipe would lose its writer. Files
// below /proc have no size.
std::optional<std::string_view> content_of(const std::string& path, std::string& buffer) {
    struct stat facts;
    if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > static_cast<off_t>(max_bytes))
        return std::nullopt;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return std::nullopt;
    const ssize_t size = read(file, buffer.data(), buffer.size());
    close(file);
    if (size != facts.st_size) return std::nullopt;
    return std::string_view(buffer).substr(0, static_cast<usize>(size));
}

}  // namespace

std::unique_ptr<SmallFiles::FileSearch> SmallFiles::take() {
    const std::scoped_lock lock(taking_);
    if (spare_.empty()) {
        return std::unique_ptr<FileSearch>(new FileSearch{
            LineSearch(selector_, options_, {resources_.isa, 1}), std::string(max_bytes + 1, '\0'), {}, 0});
    }
    std::unique_ptr<FileSearch> own = std::move(spare_.back());
    spare_.pop_back();
    return own;
}

bool SmallFiles::is_text(std::string_view content) const {
    return std::none_of(marks_.begin(), marks_.end(),
                        [&](const std::string& mark) { return content.starts_with(mark); });
}

// Returns false if no line of a text can be selected, because it lacks the pattern.
bool SmallFiles::may_select(FileSearch& own, std::string_view text) const {
    if (selector_.pattern == nullptr || options_.is_inverted) return true;
    const FindText whole{reinterpret_cast<const u8*>(text.data()), text.size()};
    if (!own.plan || own.planned_bytes < std::min(whole.size, enough_bytes)) {
        own.plan = find_plan(*selector_.pattern, whole);
        own.planned_bytes = whole.size;
    }
    if (whole.size < own.plan->length) return false;
    u64 position;
    FoundPositions found{&position, 1, 1};
    pattern_kernels_for(resources_.isa)().find(*own.plan, {whole.bytes, 0, whole.size - own.plan->length + 1}, found);
    return found.count != 0;
}

// Calls search(line search, text, i) for the text of file i, unless no line of it can be selected.
template <class Answer, class Search>
std::vector<std::optional<Answer>> SmallFiles::search_each(std::span<const std::string> paths, const Search& search) {
    std::vector<std::optional<Answer>> found(paths.size());
    for_each_piece(
        paths.size(), resources_.threads, [&] { return take(); },
        [&](const std::unique_ptr<FileSearch>& own, u64 i) {
            const auto text = content_of(paths[i], own->buffer);
            if (!text || !is_text(*text)) return;
            found[i] = may_select(*own, *text) ? search(own->lines, *text, i) : Answer{};
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
