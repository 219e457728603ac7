#include "writers/flame/frame_color.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/characters.h"
#include "symbols/names/code_place.h"

namespace tbtrace::writers {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

template <std::size_t kSize>
bool starts_with_any(std::string_view text, const std::array<std::string_view, kSize>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

template <std::size_t kSize>
bool ends_with_any(std::string_view text, const std::array<std::string_view, kSize>& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return text.ends_with(end); });
}

/// In a C++ or CUDA source, or in a program or library: that has line 0.
bool is_cpp(const CodePlace& place) {
  constexpr std::array<std::string_view, 13> kSources = {".cpp", ".cc",  ".cxx", ".c",   ".h",
                                                         ".hpp", ".hxx", ".cu",  ".cuh", ".inl",
                                                         ".tcc", ".c++", ".C"};
  if (ends_with_any(place.file, std::array<std::string_view, 2>{".py", ".pyx"})) return false;
  if (place.file.starts_with('<')) return false;  // <frozen importlib._bootstrap>, <stdin>
  return place.line == "0" || ends_with_any(place.file, kSources) ||
         place.function.find("::") != std::string_view::npos;
}

/// `cudaLaunchKernel`, `cuLaunchKernel`, `hipMemcpyAsync`, but not `cudnn...`.
bool is_runtime(std::string_view frame) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"cuda", "cu", "hip"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return frame.starts_with(prefix) && frame.size() > prefix.size() &&
           is_upper(frame[prefix.size()]);
  });
}

bool is_device(std::string_view frame) {
  constexpr std::array<std::string_view, 13> kStarts = {
      "void ",   "Memcpy ", "Memset ", "volta_", "turing_", "ampere_", "hopper_",
      "cutlass", "triton_", "fmha_",   "flash_", "Cijk_",   "nvjet_"};
  if (starts_with_any(frame, kStarts)) return true;
  if (frame.starts_with("sm") && frame.size() > 2 && is_digit(frame[2])) return true;
  const auto holds = [&](std::string_view part) {
    return frame.find(part) != std::string_view::npos;
  };
  // A demangled function with parameters or template arguments.
  if (holds("::") && (frame.ends_with(')') || frame.ends_with('>'))) return true;
  return !holds("::") && (holds("ernel") || holds("gemm"));  // kernel, Kernel
}

/// `aten::add`, `autograd::engine::evaluate_function: AddBackward0`, `AddBackward0`.
bool is_operator(std::string_view frame) {
  const std::size_t colons = frame.find(':');
  if (colons != std::string_view::npos && colons > 0) {
    const std::string_view space = frame.substr(0, colons);
    const bool is_word = std::all_of(
        space.begin(), space.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
    if (is_word && (frame.substr(colons).starts_with("::") || space == "nccl")) return true;
  }
  const std::size_t last = frame.find_last_not_of(kDigits);
  return last != std::string_view::npos && frame.substr(0, last + 1).ends_with("Backward");
}

struct Rgb {
  std::uint32_t red, green, blue;
};

/// The two ends of a kind's range of colours.
struct Shades {
  std::string_view label;
  Rgb from, to;
};

constexpr std::array<Shades, kFrameKinds.size()> kShades = {{
    {"operators", {255, 178, 102}, {255, 224, 130}},
    {"Python", {133, 187, 240}, {178, 219, 250}},
    {"C++", {110, 206, 200}, {166, 230, 220}},
    {"modules", {186, 170, 238}, {217, 203, 250}},
    {"runtime", {242, 145, 145}, {250, 186, 172}},
    {"device", {126, 205, 140}, {178, 228, 150}},
    {"other", {200, 196, 186}, {224, 220, 208}},
}};

const Shades& shades_of(FrameKind kind) { return kShades[static_cast<std::size_t>(kind)]; }

/// Mixes the two colours; `share` in 255ths. Integers only, so that all machines round alike.
std::string mixed(const Shades& shades, std::uint32_t share) {
  const auto mix = [&](std::uint32_t from, std::uint32_t to) {
    return (from * (255 - share) + to * share + 127) / 255;
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(shades.from.red, shades.to.red),
                     mix(shades.from.green, shades.to.green),
                     mix(shades.from.blue, shades.to.blue));
}

/// FNV-1a. base/hash.h cannot be used: its values may change, but colours must not.
std::uint32_t stable_hash(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

FrameKind frame_kind(std::string_view frame) {
  if (frame.starts_with("nn.Module: ")) return FrameKind::module;
  if (frame.starts_with("<built-in ")) return FrameKind::python;
  const CodePlace place = code_place(frame);
  if (!place.line.empty()) return is_cpp(place) ? FrameKind::cpp : FrameKind::python;
  if (is_runtime(frame)) return FrameKind::runtime;
  if (is_device(frame)) return FrameKind::device;
  if (is_operator(frame)) return FrameKind::op;
  return FrameKind::other;
}

std::string_view kind_label(FrameKind kind) { return shades_of(kind).label; }

std::string frame_color(std::string_view frame) {
  // Names that differ only in the last character differ only in the low bits; fold all bits.
  const std::uint32_t hash = stable_hash(frame);
  const std::uint32_t share = (hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24) & 0xff;
  return mixed(shades_of(frame_kind(frame)), share);
}

std::string kind_color(FrameKind kind) { return mixed(shades_of(kind), 127); }

}  // namespace tbtrace::writers
