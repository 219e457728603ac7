// The texts of a trace with what they say about their owner replaced: words that are not public,
// names of modules, paths and functions of code that is not a library's.
// Keeps what was asked before. The words are shared; one of these per thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "chrome/anonymise/keyed_words.h"

namespace tbtrace::chrome {

class AnonymousTexts {
 public:
  explicit AnonymousTexts(KeyedWords& words) : words_(words) {}

  /// How a text is read.
  enum class Kind : unsigned char {
    words,   ///< names of operators, kernels and ranges, values of arguments: word by word
    frames,  ///< frames of Python, separated by `;` or line ends
    module,  ///< of modules, `net.layers.0` or `nn.Module: Net_0`: name by name
  };

  /// The text, and nothing of it that is not public. Valid until the next call.
  const std::string& of(std::string_view text, Kind kind);

 private:
  std::string make(std::string_view text, Kind kind);
  std::string words(std::string_view text);
  void segment(std::string& out, std::string_view segment);
  std::string frames(std::string_view text);
  std::string frame(std::string_view text);
  std::string path(std::string_view text);
  std::string folders(std::string_view text);
  std::string part(std::string_view part);
  std::string function(std::string_view name);
  std::string module(std::string_view text);
  std::string identifier(std::string_view name);

  KeyedWords& words_;
  std::array<std::unordered_map<std::string, std::string>, 3> known_;  // by Kind
  std::string long_;
};

}  // namespace tbtrace::chrome
