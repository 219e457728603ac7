// Texts that are private by their shape, whatever their words are: addresses of machines and of
// people, UUIDs, tokens, paths.
// Pure functions. Each takes a text and a place in it, and says where what starts there ends; the
// place itself if nothing does.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tbtrace::chrome {

/// A byte of a letter, a digit, or of a character that is not ASCII.
bool is_byte_of_word(char c);

/// `10.0.3.17`, `10-0-3-17` after `ip-`, IPv6, a MAC address, a UUID, `name@host.com`.
std::size_t address_end(std::string_view text, std::size_t at);

/// `/home/name/file`, `~/file`, `C:\folder`, and what follows the scheme of a URL; not the names of
/// devices of TensorFlow and XLA (`/job:...`).
std::size_t path_end(std::string_view text, std::size_t at);

/// Whether a text of letters and digits, with these words, is a hash or a token as a whole:
/// `3f2a9c1d`, `aGVsbG8`, `s3cr3t`. `are_public`: all words are.
bool is_token(std::string_view text, std::span<const std::string_view> words, bool are_public);

}  // namespace tbtrace::chrome
