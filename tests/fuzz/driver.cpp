// A small coverage-guided fuzzer for a target built by g++ with -fsanitize-coverage=trace-pc. Inputs that reach a new
// pair of neighbouring blocks of code are kept, made shorter, and changed further. The target speaks libFuzzer's entry
// point, so clang's -fsanitize=fuzzer can take this driver's place. `fuzz_x -help=1` prints the options. Cost: one look
// into a table of 256 KB for each block of code that runs, none for each input.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "files.hpp"
#include "mutate.hpp"
#include "watch.hpp"

namespace {

using fuzz::Bytes;
using fuzz::Options;

constexpr const char* USAGE =
    "usage: %s [-option=value...] [corpus.hex...] | input...\n"
    "With names of other files, runs each of them once. Otherwise fuzzes, beginning with the corpora (a line is one\n"
    "input in hexadecimal digits), and exits with 1 at the first finding, whose input it has written to a file.\n"
    "  -runs=N            stop after N executions              -max_total_time=S  stop after S seconds\n"
    "  -seed=N            of the random numbers                -max_len=N         longest input, in bytes\n"
    "  -timeout=S         one input may take so long           -rss_limit_mb=N    memory that the process may take\n"
    "  -dict=FILE         tokens, as libFuzzer reads them      -artifact_prefix=P where findings are written\n"
    "  -write=FILE        the corpus at the end, minimised     -log=S             a line every S seconds\n";

constexpr std::size_t EDGES = std::size_t{1} << 18;
constexpr std::size_t MAX_FRESH = 4096;
std::uint8_t seen[EDGES];
std::uint32_t fresh[MAX_FRESH];  // those that the running input was the first to reach
std::atomic<std::uint32_t> fresh_count{0};
std::uint32_t edge_count = 0;

extern "C" void __sanitizer_cov_trace_pc() {
    static thread_local std::uintptr_t before;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    const std::size_t edge = (here ^ before * 0x9E3779B1) % EDGES;
    before = here;
    if (seen[edge]) return;
    seen[edge] = 1;
    const std::uint32_t at = fresh_count.fetch_add(1, std::memory_order_relaxed);
    if (at < MAX_FRESH) fresh[at] = static_cast<std::uint32_t>(edge);
}

class Fuzzer {
public:
    Fuzzer(const Options& options, std::size_t longest)
        : options_(options),
          mutator_(static_cast<std::uint64_t>(options.number("seed", 1)), longest),
          longest_(longest) {
        if (!options.text("dict").empty()) fuzz::read_tokens(options.text("dict"), mutator_);
    }

    void add_corpus(const std::string& name) {
        std::ifstream file(name);
        for (std::string line; std::getline(file, line);) given_.push_back(fuzz::from_hex(line).substr(0, longest_));
    }

    void run() {
        given_.push_back({});
        by_size(given_);
        for (const Bytes& input : given_) consider(input);
        const double runs = options_.number("runs", 0), most = options_.number("max_total_time", 0);
        const double every = options_.number("log", 0);
        double next_line = every;
        Bytes input;
        for (std::uint64_t step = 0;; ++step) {
            if (runs > 0 && static_cast<double>(fuzz::executions.load()) >= runs) break;
            if (step % 256 == 0) {
                if (most > 0 && seconds() >= most) break;
                if (every > 0 && seconds() >= next_line) {
                    report();
                    next_line += every;
                }
            }
            input = pick();
            mutator_.mutate(input, corpus_[mutator_.below(corpus_.size())]);
            consider(input);
        }
        report();
        if (!options_.text("write").empty()) write(options_.text("write"));
    }

private:
    static void by_size(std::vector<Bytes>& inputs) {
        std::sort(inputs.begin(), inputs.end(),
                  [](const Bytes& a, const Bytes& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
    }

    // The newest inputs more often than the others.
    const Bytes& pick() {
        const std::size_t n = corpus_.size();
        const std::size_t newest = std::max<std::size_t>(1, n / 4);
        return corpus_[mutator_.below(2) ? mutator_.below(n) : n - 1 - mutator_.below(newest)];
    }

    // Returns whether the input reached something new; the edges are then in `fresh`.
    static std::uint32_t reach(const Bytes& input) {
        fresh_count.store(0, std::memory_order_relaxed);
        fuzz::execute(input);
        return std::min<std::uint32_t>(fresh_count.load(std::memory_order_relaxed), MAX_FRESH);
    }

    void consider(const Bytes& input) {
        const std::uint32_t count = reach(input);
        if (count == 0 && !corpus_.empty()) return;
        edge_count += count;
        corpus_.push_back(trimmed(input, {fresh, fresh + count}));
    }

    // The input without parts that it reaches its new edges without. Threads may reach them or not; then less goes.
    Bytes trimmed(Bytes input, const std::vector<std::uint32_t>& edges) {
        for (std::size_t part = std::max<std::size_t>(1, input.size() / 2);; part /= 2) {
            for (std::size_t at = 0; at < input.size();) {
                Bytes shorter = input;
                shorter.erase(at, part);
                for (const std::uint32_t edge : edges) seen[edge] = 0;
                reach(shorter);
                bool all = true;
                for (const std::uint32_t edge : edges) {
                    all &= seen[edge] != 0;
                    seen[edge] = 1;
                }
                if (all) {
                    input = std::move(shorter);
                } else {
                    at += part;
                }
            }
            if (part <= 1) return input;
        }
    }

    // The shortest inputs first, those that add nothing left out.
    void write(const std::string& name) {
        by_size(corpus_);
        std::memset(seen, 0, sizeof seen);
        std::ofstream file(name);
        for (const Bytes& input : corpus_) {
            if (reach(input) == 0 || input.empty()) continue;
            file << fuzz::to_hex(input) << '\n';
        }
    }

    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

    void report() {
        std::size_t bytes = 0;
        for (const Bytes& input : corpus_) bytes += input.size();
        const auto done = static_cast<unsigned long long>(fuzz::executions.load());
        std::printf("%llu executions, %.0f/s, %.0f s, %u edges, %zu inputs, %zu bytes\n", done,
                    static_cast<double>(done) / seconds(), seconds(), edge_count, corpus_.size(), bytes);
        std::fflush(stdout);
    }

    const Options& options_;
    fuzz::Mutator mutator_;
    std::size_t longest_;
    std::vector<Bytes> given_, corpus_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int main(int count, char** arguments) {
    Options options;
    std::vector<std::string> corpora, inputs;
    fuzz::program = arguments[0];
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        const auto equals = argument.find('=');
        if (argument.starts_with("-") && equals != std::string::npos) {
            options.values[argument.substr(1, equals - 1)] = argument.substr(equals + 1);
        } else {
            (argument.ends_with(".hex") ? corpora : inputs).push_back(argument);
        }
    }
    if (options.number("help", 0) != 0) {
        std::printf(USAGE, fuzz::program);
        return 0;
    }
    fuzz::artifact_prefix = options.text("artifact_prefix");
    fuzz::timeout_seconds = options.number("timeout", 20);
    fuzz::rss_limit_mb = options.number("rss_limit_mb", 4096);
    fuzz::watch();
    for (const std::string& name : inputs) {
        const Bytes input = fuzz::read_file(name);
        fuzz::reserve(input.size());
        fuzz::file_running = name;
        fuzz::execute(input);
        std::printf("%s: nothing found\n", name.c_str());
    }
    if (!inputs.empty()) return 0;
    const auto longest = static_cast<std::size_t>(options.number("max_len", 4096));
    fuzz::reserve(longest);
    Fuzzer fuzzer(options, longest);
    for (const std::string& name : corpora) fuzzer.add_corpus(name);
    fuzzer.run();
    return 0;
}
