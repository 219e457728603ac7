// The file of a partial.
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <tbtrace/partial.h>

#include "io/sink.h"
#include "io/source.h"
#include "partials/message.h"
#include "wire/partial_frame.h"

namespace tbtrace {
namespace {

constexpr std::size_t kStart = 8;  // enough to tell a partial from others

/// All of a source. It grows as bytes come: the header's length may be wrong.
Result<std::string> content_of(io::ByteSource& source) {
  std::string content;
  std::array<char, std::size_t{256} << 10> buffer;
  while (true) {
    const Result<std::size_t> size = source.read(buffer);
    if (!size.ok()) return size.status();
    if (*size == 0) return content;
    content.append(buffer.data(), *size);
  }
}

}  // namespace

bool begins_as_partial(std::string_view start) { return wire::begins_as_partial(start); }

Result<std::string> partial_bytes(const Partial& partial) {
  if (Status can = partials::can_write_partials(); !can.ok()) return can;
  return wire::framed_partial(partials::message_of(partial.content()));
}

Result<Partial> parse_partial(std::string_view bytes) {
  const Result<std::string_view> message = wire::message_in_frame(bytes);
  if (!message.ok()) return message.status();
  if (Status can = partials::can_write_partials(); !can.ok()) return can;
  Result<std::unique_ptr<partials::Content>> content = partials::content_in(*message);
  if (!content.ok()) return content.status();
  return Partial(*std::move(content));
}

Result<Partial> read_partial(const std::string& path) {
  std::unique_ptr<io::ByteSource> raw;
  if (path == "-") {
    raw = io::standard_input();
  } else {
    Result<std::unique_ptr<io::ByteSource>> file = io::open_file(path);
    if (!file.ok()) return file.status();
    raw = *std::move(file);
  }
  Result<std::unique_ptr<io::ByteSource>> source = io::decompressed(std::move(raw));
  if (!source.ok()) return source.status();
  const Result<std::string> bytes = content_of(**source);
  return bytes.ok() ? parse_partial(*bytes) : Result<Partial>(bytes.status());
}

Result<bool> is_partial_file(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_file(path);
  if (!file.ok()) return file.status();
  Result<std::unique_ptr<io::ByteSource>> source = io::decompressed(*std::move(file));
  if (!source.ok()) return source.status();
  const Result<std::string> start = io::peek(*source, kStart);
  if (!start.ok()) return start.status();
  return begins_as_partial(*start);
}

Status write_partial(const Partial& partial, const std::string& path, bool overwrite) {
  const Result<std::string> bytes = partial_bytes(partial);
  if (!bytes.ok()) return bytes.status();
  std::unique_ptr<io::ByteSink> raw;
  if (path == "-") {
    raw = io::standard_output();
  } else {
    Result<std::unique_ptr<io::ByteSink>> file = io::create_file(path, {.overwrite = overwrite});
    if (!file.ok()) return file.status();
    raw = *std::move(file);
  }
  const std::unique_ptr<io::ByteSink> sink = io::gzip_sink(std::move(raw));
  if (Status written = sink->write(*bytes); !written.ok()) return written;
  return sink->close();
}

}  // namespace tbtrace
