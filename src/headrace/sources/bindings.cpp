#include "sources/bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/cpu/threads/thread_pool.hpp"
#include "core/layouts/layout.hpp"
#include "sources/send.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// A source whose bytes a Python function supplies: read(offset, n, address) writes n bytes to the address. Any thread
// may read; each call takes the GIL. `head`: the first bytes, which are read several times. `check`, unless None,
// raises if the bytes have changed since the source was opened.
class ReaderSource final : public Source {
public:
    ReaderSource(std::uint64_t size, nb::callable read, std::string head, nb::object check)
        : read_(std::move(read)), head_(std::move(head)), check_(std::move(check)) {
        size_ = size;
    }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override {
        if (offset <= head_.size() && n <= head_.size() - offset) {
            std::copy_n(head_.data() + offset, n, reinterpret_cast<char*>(to));
            return;
        }
        with_gil([&] { read_(offset, n, reinterpret_cast<std::uintptr_t>(to)); });
    }
    void check_unchanged() const override {
        if (!check_.is_none()) with_gil([&] { check_(); });
    }

private:
    nb::callable read_;
    std::string head_;
    nb::object check_;
};

PythonSource from_reader(std::uint64_t size, nb::callable read, nb::bytes head, nb::object check) {
    std::string first(head.c_str(), head.size());
    return {nullptr, std::make_unique<ReaderSource>(size, std::move(read), std::move(first), std::move(check))};
}

PythonSource from_bytes(nb::handle object) {
    PythonSource result;
    result.bytes = std::make_unique<BorrowedBytes>(object);
    result.source = std::make_unique<MemorySource>(result.bytes->data(), result.bytes->size());
    return result;
}

PythonSource from_file(int fd, std::string name) {
    return {nullptr, std::make_unique<FileSource>(fd, std::move(name))};
}

EncodingId encoding_id(std::string_view name) {
    if (name == "utf-8") return EncodingId::utf8;
    if (name == "utf-16-le") return EncodingId::utf16_le;
    if (name == "utf-16-be") return EncodingId::utf16_be;
    return EncodingId::single_byte;
}

// Sets the encoding. `characters`: the UTF-8 text of each byte of a code page, FF if the byte is undefined; empty for
// other encodings.
void decode_as(PythonSource& source, std::string_view name, const std::vector<nb::bytes>& characters,
               std::string_view isa) {
    const EncodingId id = encoding_id(name);
    ByteTable table{};
    bool keeps_ascii = true;
    if (id == EncodingId::single_byte && characters.size() != 256) {
        throw std::invalid_argument("a code page has 256 characters");
    }
    for (usize byte = 0; byte < characters.size(); ++byte) {
        const nb::bytes& character = characters[byte];
        if (character.size() < 1 || character.size() > 4) throw std::invalid_argument("a character has 1 to 4 bytes");
        std::memcpy(&table.text[byte], character.c_str(), character.size());
        table.length[byte] = static_cast<u8>(character.size());
        keeps_ascii &= byte >= 0x80 || (character.size() == 1 && table.text[byte] == byte);
    }
    table.keeps_ascii = keeps_ascii;
    source.source->set_encoding(Encoding(id, table, choose_isa(isa)));
}

nb::bytes read(const PythonSource& source, std::uint64_t offset, std::size_t n) {
    const std::uint64_t size = source.source->size();
    n = offset >= size ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(n, size - offset));
    std::string text(n, '\0');
    source.source->read(offset, n, reinterpret_cast<std::uint8_t*>(text.data()));
    return nb::bytes(text.data(), text.size());
}

void check_inside(const Source& source, std::uint64_t offset, std::size_t n) {
    if (offset > source.size() || n > source.size() - offset)
        throw std::out_of_range("bytes past the end of the source");
}

// Returns the bytes of ranges, each followed by `end`. Ranges are ascending, and files are read in pieces.
nb::bytes gather(const PythonSource& given, nb::bytes begins, nb::bytes ends, nb::bytes end) {
    constexpr std::uint64_t PIECE = std::uint64_t{256} << 10;
    const Source& source = *given.source;
    const auto* const from = static_cast<const std::uint64_t*>(begins.data());
    const auto* const to = static_cast<const std::uint64_t*>(ends.data());
    const std::size_t count = begins.size() / sizeof(std::uint64_t);
    std::string text, piece;
    {
        const GilRelease release;
        std::uint64_t at = 0;  // of the piece in the source
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t size = to[i] - from[i];
            if (to[i] < from[i]) throw std::out_of_range("a range ends before it begins");
            check_inside(source, from[i], size);
            if (source.resident() != nullptr) {
                text.append(reinterpret_cast<const char*>(source.resident()) + from[i], size);
            } else {
                if (from[i] < at || to[i] > at + piece.size()) {
                    at = from[i];
                    piece.resize(std::max(size, std::min(PIECE, source.size() - at)));
                    source.read(at, piece.size(), reinterpret_cast<std::uint8_t*>(piece.data()));
                }
                text.append(piece, from[i] - at, size);
            }
            text.append(end.c_str(), end.size());
        }
    }
    return nb::bytes(text.data(), text.size());
}

// Copies bytes to an address, with several threads that take a piece at a time.
void read_into(const PythonSource& source, std::uint64_t offset, std::size_t n, std::uintptr_t to, unsigned threads) {
    constexpr std::size_t PIECE = std::size_t{1} << 20;
    const GilRelease release;
    check_inside(*source.source, offset, n);
    run_each((n + PIECE - 1) / PIECE, threads, [&](std::size_t i) {
        const std::size_t at = i * PIECE;
        source.source->read(offset + at, std::min(PIECE, n - at), reinterpret_cast<std::uint8_t*>(to) + at);
    });
}

using Address = std::uintptr_t;

// Returns the copying resources. `slots`: memory and event of each.
SendWay send_way(const CardCalls& calls, Address context, Address stream,
                 const std::vector<std::tuple<Address, Address>>& slots, std::size_t slot_bytes) {
    if (slots.empty() || slot_bytes == 0) throw std::invalid_argument("there is no memory to send through");
    SendWay way{calls, reinterpret_cast<void*>(context), reinterpret_cast<void*>(stream), {}, slot_bytes};
    for (const auto& [memory, event] : slots)
        way.slots.push_back({reinterpret_cast<std::uint8_t*>(memory), reinterpret_cast<void*>(event)});
    return way;
}

// A part that is being sent. The destructor waits for it, and the part keeps its source alive.
class PythonPart {
public:
    explicit PythonPart(std::shared_ptr<SentPart> part) : part_(std::move(part)) {}
    PythonPart(PythonPart&&) = default;
    ~PythonPart() {
        if (part_ == nullptr) return;
        try {
            wait();
        } catch (const SourceFailure&) {  // the part was not wanted
        }
    }

    int wait() const {
        const GilRelease release;
        return part_->wait();
    }

private:
    std::shared_ptr<SentPart> part_;
};

PythonPart begin_part(PartSender& sender, const PythonSource& source, std::uint64_t offset, std::size_t n,
                      Address target, Address copied) {
    check_inside(*source.source, offset, n);
    return PythonPart(sender.begin({source.source.get(), offset, n, target, reinterpret_cast<void*>(copied)}));
}

}  // namespace

void bind_sources(nb::module_& m) {
    register_layouts<ByteTable>();
    nb::exception<SourceFailure>(m, "SourceFailure");
    nb::class_<SendWay>(m, "SendWay").def_static("make", &send_way);
    nb::class_<PythonPart>(m, "SentPart").def("wait", &PythonPart::wait);
    nb::class_<PartSender>(m, "PartSender")
        .def(nb::init<SendWay, unsigned>())
        .def("begin", &begin_part, nb::keep_alive<0, 2>());
    nb::class_<PythonSource>(m, "Source")
        .def_static("from_bytes", &from_bytes)
        .def_static("from_file", &from_file)
        .def_static("from_reader", &from_reader, nb::arg(), nb::arg(), nb::arg(), nb::arg("check") = nb::none())
        .def_prop_ro("size", [](const PythonSource& s) { return s.source->size(); })
        .def_prop_ro("address",  // address of bytes in memory, else 0
                     [](const PythonSource& s) { return reinterpret_cast<std::uintptr_t>(s.source->resident()); })
        .def("read", &read)
        .def("gather", &gather)
        .def("read_into", &read_into)
        .def("check_unchanged", [](const PythonSource& s) { s.source->check_unchanged(); })
        .def("decode_as", &decode_as);
}

}  // namespace headrace
