// The scanner where it takes JSON and nothing else, against a checker that knows only the grammar;
// and in all its modes: what it has said of a text stays so whatever follows.
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/json_checker.h"
#include "fixtures/json_positions.h"
#include "fixtures/random_json.h"
#include "fixtures/random_rounds.h"
#include "wire/json_index.h"
#include "wire/json_scanner.h"

namespace tbtrace::wire {
namespace {

using fixtures::JsonChecker;
using fixtures::JsonVerdict;
using fixtures::random_rounds;
using fixtures::RandomJson;

struct StrictScan {
  ScanEnd end;
  std::size_t after;
};

StrictScan scan(Quoting quoting, std::string_view text, bool is_member, bool last) {
  JsonScanner scanner(quoting);
  std::size_t at = 0;
  const ScanEnd end =
      is_member ? scanner.scan_member(text, at, last) : scanner.scan_element(text, at, last);
  return {end, at};
}

ScanEnd end_of(JsonVerdict verdict) {
  switch (verdict) {
    case JsonVerdict::complete:
      return ScanEnd::complete;
    case JsonVerdict::incomplete:
      return ScanEnd::incomplete;
    case JsonVerdict::broken:
      break;
  }
  return ScanEnd::broken;
}

void expect_verdict_of_checker(std::string_view text, bool is_member, bool last) {
  JsonChecker checker(text, last);
  const ScanEnd expected = end_of(is_member ? checker.member() : checker.element());
  const StrictScan found = scan(Quoting::strict, text, is_member, last);
  if (expected == ScanEnd::broken && found.end == ScanEnd::incomplete) {
    // Told once the key ends in which the text does.
    const std::string closed = std::string(text) + "\":";
    ASSERT_EQ(scan(Quoting::strict, closed, is_member, last).end, ScanEnd::broken) << text;
    return;
  }
  ASSERT_EQ(found.end, expected) << text;
  if (expected != ScanEnd::complete) return;
  ASSERT_EQ(found.after, checker.at()) << text;
}

/// What no writer of JSON would write, made of what one wrote.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kBytes = "\"\\{}[],: \n\t01-+.eE\x01tN\xff";
  for (auto changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = kBytes[random() % kBytes.size()];
        break;
      case 1:
        text.erase(at, 1 + random() % 5);
        break;
      case 2: {
        const std::size_t from = random() % text.size();
        text.insert(at, text.substr(from, random() % 12));
        break;
      }
      default:
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
    }
  }
  return text;
}

TEST(JsonScannerStrict, AgreesWithTheGrammarOnValidTextsAtEveryCut) {
  for (unsigned seed = 0; seed < random_rounds(1500u); ++seed) {
    RandomJson random(seed);
    const bool is_member = seed % 3 == 0;
    std::string text;
    if (is_member) {
      text += random.string();
      text += random.blanks() + ":";
    }
    text += random.value(4);
    for (std::size_t size = 0; size <= text.size(); ++size) {
      for (const bool last : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(
            expect_verdict_of_checker(std::string_view(text).substr(0, size), is_member, last));
      }
    }
  }
}

TEST(JsonScannerStrict, AgreesWithTheGrammarOnMutatedTexts) {
  std::size_t broken = 0;
  for (unsigned seed = 0; seed < random_rounds(30'000u); ++seed) {
    std::mt19937 changes(seed);
    const std::string text = mutated(RandomJson(seed).value(4), changes);
    for (const bool is_member : {false, true}) {
      for (const bool last : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(expect_verdict_of_checker(text, is_member, last));
      }
    }
    broken += scan(Quoting::strict, text, false, true).end == ScanEnd::broken ? 1 : 0;
  }
  EXPECT_GT(broken, random_rounds(10'000u));
  EXPECT_LT(broken, random_rounds(29'000u));
}

TEST(JsonScannerStrict, TakesNumbersThatPythonWrites) {
  for (const std::string_view text : {"NaN", "Infinity", "-Infinity", "[NaN,-Infinity]", "1E+9"}) {
    EXPECT_EQ(scan(Quoting::strict, text, false, true).end, ScanEnd::complete) << text;
  }
  for (const std::string_view text :
       {"nan", "inf", "-NaN", "+1", "01", "1.", ".5", "0x1", "True", "None", "--1", "1e", "[1,]",
        "{\"a\":1,}", "{\"a\":}", "[,1]", "{,}", "{\"a\":1 \"b\":2}", "'a'"}) {
    EXPECT_EQ(scan(Quoting::strict, text, false, true).end, ScanEnd::broken) << text;
  }
}

TEST(JsonScannerStrict, RefusesRawControlCharactersAtOnce) {
  EXPECT_EQ(scan(Quoting::strict, "[\"a\nb", false, false).end, ScanEnd::broken);
  EXPECT_EQ(scan(Quoting::strict, "{\"a\tb\": 1}", false, true).end, ScanEnd::broken);
  EXPECT_EQ(scan(Quoting::strict, "[\"a\x7f\"]", false, true).end, ScanEnd::complete);
}

TEST(JsonScannerStrict, FindsThePartsOfValidTexts) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    const std::string text = RandomJson(seed).value(4);
    JsonScanner scanner(Quoting::strict);
    std::size_t at = 0;
    ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete) << text;
    const std::uint32_t* const first = scanner.positions();
    const std::uint32_t* last = first;
    while (*last < text.size()) ++last;
    ASSERT_EQ(std::vector<std::uint32_t>(first, last), fixtures::json_positions(text)) << text;
  }
}

std::size_t without_blanks(std::string_view text, std::size_t after) {
  while (after > 0 && std::string_view(" \n\t\r").find(text[after - 1]) != std::string_view::npos) {
    --after;
  }
  return after;
}

/// Complete and broken stay so at every later cut, and at the end.
void expect_stable(Quoting quoting, std::string_view text, bool is_member) {
  StrictScan decided = {ScanEnd::incomplete, 0};
  std::size_t decided_at = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = text.substr(0, size);
    for (const bool last : {false, true}) {
      const StrictScan now = scan(quoting, part, is_member, last);
      if (decided.end != ScanEnd::incomplete) {
        ASSERT_EQ(now.end, decided.end) << part << "\nwas decided at " << decided_at << ", now at "
                                        << size << (last ? " (last)" : "");
        ASSERT_EQ(without_blanks(part, now.after), without_blanks(part, decided.after)) << part;
      } else if (!last && now.end != ScanEnd::incomplete) {
        decided = now;
        decided_at = size;
      }
    }
  }
}

const std::vector<std::string>& texts_of_all_modes() {
  static const std::vector<std::string> texts = {
      "{\n    \"ph\": \"X\",\n    \"name\": \"say \"hi\", \"pid\": 7\",\n    \"pid\": 1,\n    "
      "\"args\": {\n      \"Call stack\": \"a.py(1): f(\"x\");b;\", \"Ev Idx\": 6\n    }\n  },\n",
      "{\n    \"ph\": \"X\", \"name\": \"a\", \"pid\": 5\", \"pid\": 1, \"tid\": 2,\n    \"ts\": "
      "3.000,\n    \"args\": {\n      \"Call stack\": \";\"\n    }\n  },\n  {\n",
      "{\"Call stack\": \"f;\", \"b\": \"g;\"}, {\"Call stack\": \"\"}\n",
      R"({"a": "say "hi" to", "b": "x"y", "c": ["p"q", "r"], "d": "\"", "name": "z"}, 1)",
      "{\"name\": \"two\nlines\", \"x\": {\"name\": \"a\"}}\n,{}",
      R"(["a", "b"c", [1, {"k": "v"w"}]], 2)",
  };
  return texts;
}

TEST(JsonScannerPrefixes, DecideOnceInEveryMode) {
  for (const Quoting quoting :
       {Quoting::strict, Quoting::escaped, Quoting::kineto_lines, Quoting::kineto_inline}) {
    for (const bool is_member : {false, true}) {
      for (const std::string& element : texts_of_all_modes()) {
        const std::string text = is_member ? "\"key\": " + element : element;
        ASSERT_NO_FATAL_FAILURE(expect_stable(quoting, text, is_member))
            << static_cast<int>(quoting);
      }
    }
  }
}

TEST(JsonScannerPrefixes, DecideOnceOnMutatedTexts) {
  for (unsigned seed = 0; seed < random_rounds(4000u); ++seed) {
    std::mt19937 random(seed);
    const auto& texts = texts_of_all_modes();
    const std::string from =
        random() % 3 == 0 ? RandomJson(seed).object(3) + ",{\n" : texts[random() % texts.size()];
    const std::string text = mutated(from, random);
    for (const Quoting quoting :
         {Quoting::strict, Quoting::escaped, Quoting::kineto_lines, Quoting::kineto_inline}) {
      ASSERT_NO_FATAL_FAILURE(expect_stable(quoting, text, false)) << static_cast<int>(quoting);
      ASSERT_NO_FATAL_FAILURE(expect_stable(quoting, "\"key\": " + text, true))
          << static_cast<int>(quoting);
    }
  }
}

TEST(JsonScannerStrict, RefusesRawControlCharactersInAnOpenKeyAtOnce) {
  EXPECT_EQ(scan(Quoting::strict, "{\"a\nb", false, false).end, ScanEnd::broken);
  EXPECT_EQ(scan(Quoting::strict, "{\"a\nb\"", false, false).end, ScanEnd::broken);
}

}  // namespace
}  // namespace tbtrace::wire
