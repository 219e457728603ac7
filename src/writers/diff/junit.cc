// What became of limits, for CI systems.
#include <cstddef>
#include <string>
#include <string_view>

#include <tbtrace/diff.h>

#include "wire/xml.h"

namespace tbtrace {
namespace {

std::size_t count_of(std::span<const LimitResult> limits, LimitVerdict verdict) {
  std::size_t count = 0;
  for (const LimitResult& limit : limits) count += limit.verdict == verdict ? 1 : 0;
  return count;
}

void append_case(std::string& xml, const LimitResult& limit) {
  const std::string_view sentence = limit.sentence;
  xml += "  <testcase classname=\"tbtrace.diff\" name=\"";
  wire::append_xml_attribute(xml, sentence.substr(0, sentence.find(": ")));
  xml += "\">";
  if (limit.verdict != LimitVerdict::kept) {
    xml += limit.verdict == LimitVerdict::exceeded ? "<failure" : "<skipped";
    xml += " message=\"";
    wire::append_xml_attribute(xml, sentence);
    xml += "\"/>";
  }
  xml += "</testcase>\n";
}

}  // namespace

std::string limits_junit(std::span<const LimitResult> limits) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tbtrace diff\" tests=\"" +
      std::to_string(limits.size()) + "\" failures=\"" +
      std::to_string(count_of(limits, LimitVerdict::exceeded)) + "\" skipped=\"" +
      std::to_string(count_of(limits, LimitVerdict::inconclusive)) + "\">\n";
  for (const LimitResult& limit : limits) append_case(xml, limit);
  return xml + "</testsuite>\n";
}

}  // namespace tbtrace
