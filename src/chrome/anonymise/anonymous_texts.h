// The texts of a trace with what they say about their owner replaced: words that are not public,
// names of modules, paths and functions of code that is not a library's.
// Keeps what was asked before. The words are shared; one of these per thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyses/attribution/own_code.h"
#include "chrome/anonymise/keyed_words.h"

namespace tbtrace::chrome {

class AnonymousTexts {
 public:
  /// Both must outlive it. `own`: which files are the program's; nullptr if that is not known.
  explicit AnonymousTexts(KeyedWords& words, const analyses::OwnCode* own = nullptr)
      : words_(words), own_(own) {}

  /// How a text is read.
  enum class Kind : unsigned char {
    words,   ///< names of operators, kernels and ranges, values of arguments: word by word
    frames,  ///< frames of Python, separated by `;` or line ends
    module,  ///< of modules, `net.layers.0` or `nn.Module: Net_0`: name by name
  };

  /// The text, and nothing of it that is not public. Valid until the next call.
  const std::string& of(std::string_view text, Kind kind);

  /// A name that stands for something as a whole, such as that of a machine.
  std::string whole(std::string_view text);

 private:
  std::string make(std::string_view text, Kind kind);
  std::string words(std::string_view text);
  void segment(std::string& out, std::string_view segment);
  std::string frames(std::string_view text);
  std::string frame(std::string_view text);
  std::string place_of_frame(std::string_view text);
  bool is_public_file(std::string_view file) const;
  std::string path(std::string_view text);
  std::string folders(std::string_view text);
  std::string part(std::string_view part);
  std::string function(std::string_view name);
  std::string module(std::string_view text);
  std::string identifier(std::string_view name);

  KeyedWords& words_;
  const analyses::OwnCode* own_;
  std::array<std::unordered_map<std::string, std::string>, 3> known_;  // by Kind
  std::string long_;
};

}  // namespace tbtrace::chrome
