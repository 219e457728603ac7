#include "inputs/trace_names.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/characters.h"

namespace tbtrace::inputs {
namespace {

using std::string_view;

constexpr std::array<string_view, 14> kCompressions = {".gz", ".gzip", ".bzip2", ".zst", ".zstd",
                                                       ".xz", ".bz2",  ".lz4",   ".br",  ".lzma",
                                                       ".sz", ".z",    ".7z",    ".rar"};
constexpr std::array<string_view, 7> kArchives = {".zip", ".tar", ".tgz", ".tzst",
                                                  ".txz", ".tbz", ".tbz2"};
/// Of programs that download, copy and write.
constexpr std::array<string_view, 9> kUnfinished = {".part",     ".partial",    ".crdownload",
                                                    ".download", ".incomplete", ".unfinished",
                                                    ".filepart", ".inprogress", ".temp"};

template <std::size_t N>
bool strip_one_of(string_view& name, const std::array<string_view, N>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](string_view ending) { return strip_ending(name, ending); });
}

/// `.tmp`, also with a number or a name after it: `.tmp4711`, `.tmp-4711-0`, `.tmp.4711`.
bool strip_temporary(string_view& name) {
  string_view rest = name;
  std::size_t end = rest.size();
  while (end > 0 && is_digit(rest[end - 1])) --end;
  if (end > 1 && end < rest.size() && rest[end - 1] == '.') rest = rest.substr(0, end - 1);
  const std::size_t dot = rest.rfind('.');
  if (dot == string_view::npos || dot == 0) return false;
  const string_view ending = rest.substr(dot);
  constexpr string_view kTemporary = ".tmp";
  string_view start = ending.substr(0, kTemporary.size());
  if (!std::equal(start.begin(), start.end(), kTemporary.begin(), kTemporary.end(),
                  [](char a, char b) { return lower_case(a) == b; })) {
    return false;
  }
  const string_view after = ending.substr(kTemporary.size());
  const bool is_number = std::all_of(after.begin(), after.end(), is_digit);
  if (!is_number && after.front() != '-' && after.front() != '_') return false;
  name = rest.substr(0, dot);
  return true;
}

}  // namespace

bool strip_ending(string_view& name, string_view ending) {
  if (name.size() < ending.size()) return false;
  const string_view end = name.substr(name.size() - ending.size());
  if (!std::equal(end.begin(), end.end(), ending.begin(),
                  [](char a, char b) { return lower_case(a) == b; })) {
    return false;
  }
  name.remove_suffix(ending.size());
  return true;
}

string_view without_packing(string_view name) {
  while (strip_one_of(name, kCompressions) || strip_one_of(name, kArchives)) {
  }
  return name;
}

NameSays what_name_says(string_view name) {
  NameSays says;
  if (strip_temporary(name) || strip_one_of(name, kUnfinished)) {
    string_view rest = without_packing(name);
    says.unfinished = strip_ending(rest, ".json");
    return says;
  }
  string_view rest = name;
  while (strip_one_of(rest, kCompressions)) {
  }
  says.archive = strip_one_of(rest, kArchives);
  rest = without_packing(rest);
  says.trace = strip_ending(rest, ".json");
  return says;
}

bool is_name_of_handler(string_view name) {
  string_view rest = without_packing(name);
  return strip_ending(rest, ".json") && strip_ending(rest, ".pt.trace");
}

}  // namespace tbtrace::inputs
