// Reads small files and selects their lines, several files at a time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "query/lines/lines.hpp"

namespace headrace {

// Answers have the order of the paths. There is none for a file that is large, not regular, of another format than
// UTF-8 text, or cannot be read.
class SmallFiles {
public:
    // `marks`: bytes that files of other formats begin with. `are_listed`: whether all paths are of regular files, as
    // the lists of their folders say. No lines near selected ones are written.
    SmallFiles(const LineSelector& selector, LineOptions options, FindResources resources,
               std::vector<std::string> marks, bool are_listed)
        : selector_(selector),
          options_(std::move(options)),
          resources_(resources),
          marks_(std::move(marks)),
          are_listed_(are_listed) {}

    // Returns the number of selected lines of each file.
    std::vector<std::optional<u64>> count(std::span<const std::string> paths);

    // Returns the lines to write for each file, which begin with its name.
    std::vector<std::optional<std::string>> write(std::span<const std::string> paths,
                                                  std::span<const std::string> names);

private:
    struct FileSearch {
        LineSearch lines;
        std::string buffer;
    };

    template <class Answer, class Search>
    std::vector<std::optional<Answer>> search_each(std::span<const std::string> paths, const Search& search);
    std::unique_ptr<FileSearch> take();
    bool is_text(std::string_view content) const;

    LineSelector selector_;
    LineOptions options_;
    FindResources resources_;
    std::vector<std::string> marks_;
    bool are_listed_;
    std::mutex taking_;
    std::vector<std::unique_ptr<FileSearch>> spare_;  // of threads that do not search now
};

}  // namespace headrace
