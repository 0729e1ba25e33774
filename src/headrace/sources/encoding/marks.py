"""Lists the byte-order marks of texts."""

UTF8_MARK = b"\xef\xbb\xbf"
WIDE_MARKS = {
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}  # Codec by byte-order mark, of encodings whose units have several bytes. A mark precedes the shorter mark that it begins with.
