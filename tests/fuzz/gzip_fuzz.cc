// decompressed() against zlib. The first byte says what the others are: a file, or the deflated
// data of a member whose header and trailer are right.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

#include "fixtures/failing_source.h"
#include "fuzz/require.h"
#include "io/source.h"

namespace {

using namespace tbtrace;

constexpr std::size_t kMostText = std::size_t{4} << 20;

struct Unpacked {
  std::string text;
  bool ok = false;
};

/// Right text is right however it was read. Damaged data gives the text before the damage, or a
/// part of it; what ISA-L makes of the damage itself differs by the pieces it gets.
bool same(const Unpacked& one, const Unpacked& other, std::string_view before_damage) {
  if (one.ok != other.ok) return false;
  if (one.ok) return one.text == other.text;
  const auto agrees = [&](std::string_view text) {
    const std::size_t both = std::min(text.size(), before_damage.size());
    return text.substr(0, both) == before_damage.substr(0, both);
  };
  return agrees(one.text) && agrees(other.text);
}

/// Up to kMostText bytes of what comes out.
Unpacked unpack(const std::string& file, std::size_t piece, std::size_t buffer_size) {
  auto source = io::decompressed(fixtures::in_pieces(file, piece));
  if (!source.ok()) return {};
  Unpacked unpacked;
  std::vector<char> buffer(buffer_size);
  while (unpacked.text.size() < kMostText) {
    const Result<std::size_t> got = (*source)->read(buffer);
    unpacked.ok = got.ok();
    if (!got.ok() || *got == 0) break;
    fuzz::require(*got <= buffer_size, "a read stays within its buffer");
    unpacked.text.append(buffer.data(), *got);
  }
  unpacked.text.resize(std::min(unpacked.text.size(), kMostText));
  return unpacked;
}

/// What zlib makes of deflated data (`window` < 0) or of one gzip member, up to damage, and how
/// much it used.
Unpacked inflate_with_zlib(std::string_view bytes, int window, std::size_t& used) {
  z_stream stream = {};
  fuzz::require(inflateInit2(&stream, window) == Z_OK, "zlib starts");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::array<char, 4096> buffer;
  int code = Z_OK;
  while (code == Z_OK && text.size() < kMostText) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  used = stream.total_in;
  inflateEnd(&stream);
  return {std::move(text), code == Z_STREAM_END};
}

/// A file of members and zeros behind them, up to damage.
Unpacked unpack_with_zlib(std::string_view file) {
  constexpr int kGzip = 16 + MAX_WBITS;
  std::string text;
  do {
    std::size_t used = 0;
    const Unpacked member = inflate_with_zlib(file, kGzip, used);
    text += member.text;
    if (!member.ok) return {std::move(text), false};
    file.remove_prefix(used);
    file.remove_prefix(std::min(file.find_first_not_of('\0'), file.size()));
  } while (!file.empty() && text.size() < kMostText);
  return {std::move(text), true};
}

/// The member around deflated data, if they are such.
std::optional<std::string> member_of(std::string_view deflated) {
  std::size_t used = 0;
  const Unpacked inflated = inflate_with_zlib(deflated, -MAX_WBITS, used);
  if (!inflated.ok) return std::nullopt;
  const std::string& text = inflated.text;
  std::string member("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  member += deflated.substr(0, used);
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  for (const std::size_t word : {std::size_t{sum}, text.size()}) {
    for (int shift = 0; shift < 32; shift += 8) member += static_cast<char>(word >> shift);
  }
  return member;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  std::string file(rest);
  if (data[0] % 2 == 1) {
    std::optional<std::string> member = member_of(rest);
    if (!member) return 0;
    file = *std::move(member);
  }
  const bool is_gzip = file.starts_with("\x1f\x8b");
  const Unpacked expected = is_gzip ? unpack_with_zlib(file) : Unpacked{file, true};
  const Unpacked whole = unpack(file, file.size() + 1, std::size_t{64} << 10);
  const std::size_t piece = 1 + data[0] / 2 % 16;
  fuzz::require(same(unpack(file, piece, 4096), whole, expected.text),
                "pieces of the input do not matter");
  if (whole.text.size() < 20000) {
    const Unpacked slowly = unpack(file, file.size() + 1, 1 + data[0] / 32);
    fuzz::require(same(slowly, whole, expected.text), "the size of the buffer does not matter");
  }
  if (!is_gzip || !expected.ok || expected.text.size() >= kMostText) return 0;
  fuzz::require(whole.ok, "what zlib takes is taken");
  fuzz::require(whole.text == expected.text, "the text is zlib's");
  return 0;
}
