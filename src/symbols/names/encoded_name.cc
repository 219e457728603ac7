#include "symbols/names/encoded_name.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/characters.h"

namespace tbtrace {
namespace {

constexpr double kToken = 24;      // most that a character expands to: `unsigned long long, `
constexpr double kStandard = 100;  // `Ss` before a constructor: std::basic_string<char, ...>

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_one_of(char c, std::string_view chars) { return chars.find(c) != std::string_view::npos; }

/// The number in a substitution, `S_` or `S4Z_`, at the start of `text`.
std::optional<std::size_t> substitution(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;
  if (!text.starts_with('S')) return std::nullopt;
  std::size_t number = 0;
  for (std::size_t at = 1; at < text.size() && at <= kMostDigits + 1; ++at) {
    const char c = text[at];
    if (c == '_') return at == 1 ? 0 : number + 1;
    if (!is_digit(c) && !is_upper(c)) return std::nullopt;
    number = number * 36 + static_cast<std::size_t>(is_digit(c) ? c - '0' : c - 'A' + 10);
  }
  return std::nullopt;
}

/// The length of `T_` or `T3_` at the start of `text`; 0 if there is none.
std::size_t template_parameter(std::string_view text) {
  if (!text.starts_with('T')) return 0;
  std::size_t at = 1;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at < text.size() && text[at] == '_' ? at + 1 : 0;
}

/// Whether the class of a pointer to a member, given its first character, may be a function or an
/// array. The library writes such a class twice.
bool may_be_of_function(char c) { return is_one_of(c, "FASTDKVrPROCGUM"); }

/// libstdc++ of GCC 11 and 12 loops forever if an unresolved name, such as `sr1a`, fails before one
/// of these characters.
bool may_hang(std::string_view expressions) {
  const std::size_t last = expressions.find_last_of("CDU");
  if (last == std::string_view::npos) return false;
  for (std::size_t at = expressions.find("sr"); at < last; at = expressions.find("sr", at + 1)) {
    const char c = expressions[at + 2];
    if (is_digit(c) || is_lower(c) || is_one_of(c, "CUL")) return true;
  }
  return false;
}

/// Reads token by token. The meaning of a character depends on the open brackets. Reading stops
/// where the meaning is uncertain: a digit, for instance, is the length of an identifier or a
/// value; what follows is skipped in the first case and counts in the second.
class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name), open_(1) {}

  EncodedName read() && {
    bool is_certain = !name_.starts_with("_GLOBAL_");
    if (is_certain && name_.starts_with("_Z")) {
      take(2);
      // Data of a type (`_ZTI4Data`) have no name of their own; guards have a variable's name.
      const bool of_type = peek() == 'T' && is_one_of(peek(1), "VTIS");
      if (of_type || rest().starts_with("GV")) take(2, 2 * kToken);
      top().stage = of_type ? Stage::types : Stage::name;
    }
    while (is_certain && at_ < name_.size()) is_certain = token();
    if (!is_certain) read_rest();
    return std::move(result_);
  }

 private:
  using Kind = EncodedName::Kind;

  enum class Bracket : std::uint8_t { symbol, nested, arguments, types, lambda, literal };
  /// State of a symbol: before its name; after its name, where arguments may follow; in its types.
  enum class Stage : std::uint8_t { name, after_name, types };

  struct Open {
    Bracket bracket = Bracket::symbol;
    Stage stage = Stage::types;
    std::size_t ends = 1;         // symbol: how many `E` close it
    bool is_local = false;        // symbol: an entity in it follows
    bool has_arguments = false;   // symbol: has template arguments of its own
    bool own_name = false;        // nested: this is a symbol's name
    bool is_fresh = true;         // nested: nothing but qualifiers so far
    bool is_cast = false;         // nested: a conversion's type follows
    bool is_typed = false;        // literal: its value follows
    bool entity = false;          // a local entity follows
    bool is_done = false;         // the last token ended a name or type
    std::size_t tokens = 0;       // directly inside
    std::size_t repetitions = 0;  // of the type that follows
    std::size_t members = 0;      // pointers to members whose class follows
    // Inherited from the bracket around:
    bool in_own_arguments = false;  // in those of the innermost symbol
    bool in_lambda = false;         // parameters there are `auto`
    std::size_t depth = 0;          // number of enclosing own arguments
  };

  Open& top() { return open_.back(); }
  std::string_view rest() const { return name_.substr(at_); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < name_.size() ? name_[at_ + ahead] : '\0';
  }

  void add(Kind kind) { result_.pieces.push_back({.kind = kind}); }
  bool take(std::size_t characters, double size = kToken) {
    at_ += characters;
    result_.pieces.push_back({.size = size});
    return true;
  }

  /// A new bracket that inherits from the innermost one.
  Open inside(Bracket bracket) {
    Open inner;
    inner.bracket = bracket;
    inner.in_own_arguments = top().in_own_arguments;
    inner.in_lambda = top().in_lambda || bracket == Bracket::lambda;
    inner.depth = top().depth;
    return inner;
  }

  bool open(const Open& bracket, std::size_t characters, Kind kind = Kind::open) {
    add(kind);
    open_.push_back(bracket);
    return take(characters);
  }

  Open& innermost_symbol() {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const Open& bracket) {
      return bracket.bracket == Bracket::symbol;
    });
    return *found;  // the first one never closes
  }

  bool token() {
    Open& in = top();
    ++in.tokens;
    const char c = peek();
    if (c == '.') return take(rest().size(), kToken * static_cast<double>(rest().size()));
    if (in.bracket == Bracket::literal && in.is_typed) return value();
    if (in.stage == Stage::after_name && !is_one_of(c, "IB_")) in.stage = Stage::types;
    const bool is_after_name = std::exchange(in.is_done, false);
    if (is_after_name && !is_one_of(c, "IB")) end_type();
    if (is_digit(c)) return identifier();
    if (c == 'S') return standard_or_substitution();
    if (c == 'T') return parameter();
    if (c == 'N') return nested();
    if (c == 'L') return literal_or_internal();
    if (c == 'X') return address();
    if (c == 'E') return end();
    if (c == 'U') return unnamed();
    if (c == 'I' && is_after_name) return arguments();
    if (is_one_of(c, "IJ")) return in.bracket == Bracket::arguments && arguments();  // a pack
    if (c == 'B') return is_digit(peek(1)) && take(1);
    if (c == '_') return discriminator();
    if (in.bracket == Bracket::nested && !in.is_cast) return in_name(c);
    if (in.stage == Stage::name || in.entity) return at_name(c);
    return in_types(c);
  }

  /// After a name, or a type with its qualifiers; arguments may follow.
  bool done() {
    Open& in = top();
    if (in.stage == Stage::name) in.stage = Stage::after_name;
    in.entity = false;
    in.is_fresh = false;
    in.is_cast = false;
    in.is_typed = true;
    in.is_done = true;
    add(Kind::part_end);
    return true;
  }

  void end_repetitions() {
    for (; top().repetitions > 0; --top().repetitions) {
      add(Kind::repetition_end);
      add(Kind::part_end);
    }
  }

  /// Inside `N...E`, each name belongs to the ones before it; after `M`, a type belongs to the next
  /// one.
  void end_type() {
    if (top().members > 0) {
      --top().members;
      return;
    }
    end_repetitions();
    if (top().bracket != Bracket::nested) add(Kind::part);
  }

  std::optional<std::size_t> number() {
    constexpr std::size_t kMostNumber = 1'000'000'000;
    std::size_t value = 0;
    if (!is_digit(peek())) return std::nullopt;
    for (; is_digit(peek()); ++at_) {
      value = value * 10 + static_cast<std::size_t>(peek() - '0');
      if (value > kMostNumber) return std::nullopt;
    }
    return value;
  }

  bool identifier() {
    const std::optional<std::size_t> size = number();
    if (!size || *size == 0 || *size > rest().size()) return false;
    result_.longest_name = std::max(result_.longest_name, *size);
    return take(*size, kToken + static_cast<double>(*size)) && done();
  }

  bool standard_or_substitution() {
    if (peek(1) == 't') {
      const bool is_operator = is_lower(peek(2)) && top().stage == Stage::name;
      return (is_digit(peek(2)) || is_operator) && take(2);
    }
    if (is_one_of(peek(1), "absiod")) return take(2, kStandard) && done();
    const std::optional<std::size_t> part = substitution(rest());
    if (!part) return false;
    if (top().depth > 0 && result_.parameters > 0) result_.depth = 0;
    const bool is_type = top().bracket != Bracket::nested && top().stage != Stage::name;
    result_.pieces.push_back({is_type ? Kind::substitution : Kind::prefix, 0, *part});
    at_ += rest().find('_') + 1;
    return done();
  }

  bool parameter() {
    const std::size_t size = template_parameter(rest());
    if (size == 0 || top().stage == Stage::name) return false;
    if (!top().in_lambda && top().depth > 0 && result_.depth > 0) {
      const bool is_own = !top().in_own_arguments && innermost_symbol().has_arguments;
      result_.depth = is_own ? std::max(result_.depth, top().depth + 1) : 0;
    }
    ++result_.parameters;
    add(Kind::parameter);
    at_ += size;
    return done();
  }

  bool nested() {
    const Open& in = top();
    if (in.bracket == Bracket::nested && !in.is_cast) return false;
    Open inner = inside(Bracket::nested);
    inner.own_name = in.stage == Stage::name;
    return open(inner, 1);
  }

  bool arguments() {
    const Open& in = top();
    const bool own = in.own_name || in.stage == Stage::after_name;
    Open inner = inside(Bracket::arguments);
    if (own) {
      innermost_symbol().has_arguments = true;
      inner.in_own_arguments = true;
      ++inner.depth;
    }
    return open(inner, 1, own ? Kind::own_arguments : Kind::arguments);
  }

  /// Among arguments, `L` starts a value; elsewhere it marks a name with internal linkage.
  bool literal_or_internal() {
    const Open& in = top();
    if (in.bracket == Bracket::arguments && !in.entity) {
      return rest().starts_with("L_Z") ? symbol(3, 1) : open(inside(Bracket::literal), 1);
    }
    const bool at_name = in.bracket == Bracket::nested || in.stage == Stage::name || in.entity;
    return at_name && is_digit(peek(1)) && take(1);
  }

  /// Address of a function; other expressions are not supported.
  bool address() { return rest().starts_with("XadL_Z") && symbol(6, 2); }

  bool symbol(std::size_t characters, std::size_t ends) {
    Open inner = inside(Bracket::symbol);
    inner.stage = Stage::name;
    inner.ends = ends;
    inner.in_own_arguments = false;
    return open(inner, characters);
  }

  bool local() {
    symbol(1, 1);
    top().is_local = true;
    return true;
  }

  bool value() {
    if (peek() == 'n') take(1);
    while (is_digit(peek()) || (peek() >= 'a' && peek() <= 'f')) take(1);
    return peek() == 'E' && end();
  }

  bool end() {
    end_repetitions();
    if (open_.size() == 1 ||
        !rest().substr(0, top().ends).ends_with(top().ends == 2 ? "EE" : "E")) {
      return false;
    }
    const Open closed = top();
    open_.pop_back();
    take(closed.ends);
    add(Kind::close);
    result_.most_elements = std::max(result_.most_elements, closed.tokens);
    Open& in = top();
    if (closed.bracket == Bracket::arguments) {
      in.is_done = true;  // arguments belong to the name or type before them
      add(Kind::part_end);
      return true;
    }
    if (closed.is_local) {
      in.entity = true;
      return true;
    }
    if (closed.bracket == Bracket::lambda) {
      number();
      if (peek() != '_') return false;
      take(1);
    }
    return done();
  }

  /// `Ul...E_` is a lambda, `Ut_` an unnamed type.
  bool unnamed() {
    const Open& in = top();
    if (in.bracket != Bracket::nested && in.stage != Stage::name && !in.entity) return false;
    if (peek(1) == 'l') return open(inside(Bracket::lambda), 2);
    if (peek(1) != 't') return false;
    take(2);
    number();
    return peek() == '_' && take(1) && done();
  }

  /// Number of a local name among several; not printed.
  bool discriminator() {
    const bool is_long = peek(1) == '_';
    take(is_long ? 2 : 1);
    const std::optional<std::size_t> which = number();
    if (!which) return false;
    return !is_long || *which < 10 || (peek() == '_' && take(1));
  }

  /// Inside `N...E`.
  bool in_name(char c) {
    if (top().is_fresh && is_one_of(c, "rVKRO")) return take(1);
    if (is_one_of(c, "CD") && is_digit(peek(1))) {
      add(Kind::repeated_name);
      return take(2) && done();
    }
    return names_operator();
  }

  /// At the start of a symbol's or a local entity's name.
  bool at_name(char c) {
    if (c == 'Z') return local();
    return !top().entity && names_operator();
  }

  bool names_operator() {
    if (!is_lower(peek()) || !(is_lower(peek(1)) || is_upper(peek(1)))) return false;
    const bool is_cast = rest().starts_with("cv");
    if ((is_cast && top().bracket != Bracket::nested) || rest().starts_with("on")) return false;
    if (rest().starts_with("li")) return is_digit(peek(2)) && take(2);  // an identifier follows
    take(2, 2 * kToken);
    done();
    top().is_cast = is_cast;
    if (is_cast) result_.depth = 0;  // the arguments of its type follow it
    return true;
  }

  bool in_types(char c) {
    Open& in = top();
    if (is_one_of(c, "rPROKVCGu")) return take(1);
    if (is_lower(c)) return take(1) && done();
    if (c == 'D') return builtin_or_pack();
    if (in.bracket == Bracket::literal || in.is_cast) return false;
    if (c == 'Z') return local();
    if (c == 'M') return pointer_to_member();
    if (c == 'F') return open(inside(Bracket::types), peek(1) == 'Y' ? 2 : 1);
    if (c != 'A') return false;
    take(1);
    while (is_digit(peek())) take(1);
    return peek() == '_' && take(1);
  }

  bool pointer_to_member() {
    if (may_be_of_function(peek(1))) repeat(Kind::member);
    ++top().members;
    return take(1);
  }

  void repeat(Kind kind) {
    add(kind);
    ++top().repetitions;
  }

  bool builtin_or_pack() {
    if (peek(1) != 'p') return is_one_of(peek(1), "acdefhinsu") && take(2) && done();
    repeat(Kind::expansion);
    return take(2);
  }

  /// Counts every remaining character as the longest text it could be.
  void read_rest() {
    at_ = std::min(at_, name_.size());
    add(Kind::rest);
    // In the types of the outermost symbol, its own arguments are known; other arguments would
    // belong to nested symbols, which begin with a `Z`.
    const bool only_types = &innermost_symbol() == &open_.front() && top().depth == 0 &&
                            open_.front().stage == Stage::types;
    if (!only_types || rest().find('Z') != std::string_view::npos) {
      result_.depth = 0;
      result_.has_all_arguments = false;
    }
    result_.may_hang = may_hang(rest());
    result_.most_elements = std::max(result_.most_elements, name_.size());
    result_.longest_name = std::max(result_.longest_name, name_.size());
    for (; at_ < name_.size(); ++at_) {
      result_.pieces.push_back({.size = peek() == 'S' ? kStandard : kToken});
      if (const std::optional<std::size_t> part = substitution(rest())) {
        result_.pieces.push_back({Kind::prefix, 0, *part});
      } else if (template_parameter(rest()) > 0) {
        ++result_.parameters;
        add(Kind::parameter);
      } else if (rest().starts_with("Dp") || rest().starts_with("sp")) {
        add(Kind::expansion);
      } else if (peek() == 'M' && may_be_of_function(peek(1))) {
        add(Kind::member);
      } else if (is_one_of(peek(), "CD") && is_digit(peek(1))) {
        add(Kind::repeated_name);
      }
    }
  }

  std::string_view name_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  EncodedName result_;
};

}  // namespace

EncodedName read_encoded_name(std::string_view name) { return Reader(name).read(); }

}  // namespace tbtrace
