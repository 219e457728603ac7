#include "symbols/names/demangled_size.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "symbols/names/encoded_name.h"

namespace tbtrace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = 24;  // of a reference that refers to nothing

/// Adds up the pieces, given a number of characters that each parameter expands to.
class Sum {
 public:
  Sum(const EncodedName& name, double parameter) : name_(name), parameter_(parameter) {
    for (const EncodedName::Piece& piece : name.pieces) add(piece);
    while (!repetitions_.empty()) end_repetition();
    for (; !open_.empty(); open_.pop_back()) count_arguments();
  }

  double total() const { return total_; }
  /// The longest arguments that a parameter may refer to.
  double arguments() const { return name_.has_all_arguments ? arguments_ : total_; }

 private:
  using Kind = EncodedName::Kind;

  void add(const EncodedName::Piece& piece) {
    switch (piece.kind) {
      case Kind::text:
        total_ += piece.size;
        break;
      case Kind::repeated_name:
        total_ += static_cast<double>(name_.longest_name);
        break;
      case Kind::substitution:
      case Kind::prefix:
        add_part(piece.number, piece.kind == Kind::substitution);
        break;
      case Kind::parameter:
        total_ += kLeast + parameter_;
        break;
      case Kind::expansion:
        repetitions_.push_back({total_, static_cast<double>(name_.most_elements)});
        break;
      case Kind::member:
        repetitions_.push_back({total_, 2});
        break;
      case Kind::repetition_end:
        end_repetition();
        break;
      case Kind::open:
        open_.push_back({total_, total_, false});
        break;
      case Kind::arguments:
        open_.push_back({total_, total_, name_.depth == 0});
        break;
      case Kind::own_arguments:
        open_.push_back({total_, total_, true});
        break;
      case Kind::close:
        count_arguments();
        open_.pop_back();
        break;
      case Kind::part:
        open_.back().part = total_;
        break;
      case Kind::part_end:
        longest_part_ = std::max(longest_part_, total_ - open_.back().part);
        break;
      case Kind::rest:
        knows_parts_ = false;
        break;
    }
  }

  /// Parts are numbered as they end, so if this one exists, it and all before it have ended.
  void add_part(std::size_t number, bool is_there) {
    const double longest = knows_parts_ ? longest_part_ : total_;
    const double size = number < parts_.size() ? parts_[number] : longest;
    if (is_there && number >= parts_.size() && number < name_.pieces.size()) {
      parts_.resize(number + 1, longest);
    }
    total_ += kLeast + size;
  }

  void count_arguments() {
    if (open_.back().counts) arguments_ = std::max(arguments_, total_ - open_.back().start);
  }

  void end_repetition() {
    const auto [start, times] = repetitions_.back();
    total_ += (total_ - start) * (times - 1);
    repetitions_.pop_back();
  }

  struct Bracket {
    double start;
    double part;  // start of its latest part
    bool counts;  // as arguments that a parameter may refer to
  };

  const EncodedName& name_;
  double parameter_;
  double total_ = 0;
  double arguments_ = 0;
  double longest_part_ = 0;
  bool knows_parts_ = true;
  std::vector<double> parts_;  // by number: the greatest possible length
  std::vector<Bracket> open_ = {{0, 0, false}};
  std::vector<std::pair<double, double>> repetitions_;  // the sum before, how often
};

}  // namespace

double demangled_size_bound(std::string_view name, double limit) {
  constexpr std::size_t kMostLevels = 64;
  const EncodedName encoded = read_encoded_name(name);
  if (encoded.may_hang) return kInfinity;
  // A parameter expands to an argument, which may hold parameters, and so on. The library does not
  // print a parameter that is nested in itself twice.
  std::size_t levels = encoded.depth > 0 ? encoded.depth : 2 * encoded.parameters;
  if (encoded.parameters == 0) levels = 0;
  double parameter = kLeast;
  for (std::size_t level = 0; level < levels; ++level) {
    const Sum sum(encoded, parameter);
    if (sum.total() > limit || level == kMostLevels) return kInfinity;
    if (sum.arguments() <= parameter) break;
    parameter = sum.arguments();
  }
  const double size = Sum(encoded, parameter).total();
  if (size > limit) return kInfinity;
  return size;
}

}  // namespace tbtrace
