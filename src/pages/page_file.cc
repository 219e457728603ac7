#include "pages/page_file.h"

#include <memory>

#include "io/sink.h"
#include "wire/base64.h"
#include "wire/xml.h"

namespace tbtrace::pages {
namespace {

/// A hash in hexadecimal digits as a source of the policy.
void append_hash(std::string& html, std::string_view digits) {
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    bytes += static_cast<char>(value(digits[at]) << 4 | value(digits[at + 1]));
  }
  html += "'sha256-";
  wire::append_base64(html, bytes);
  html += '\'';
}

void append_section(std::string& html, std::string_view id, std::string_view text) {
  html += "<script type=\"text/plain\" id=\"";
  html += id;
  html += "\">";
  html += text;
  html += "</script>\n";
}

}  // namespace

std::string page_html(const PageFile& page) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ";
  append_hash(html, page.script_hash);
  html += "; style-src ";
  append_hash(html, page.style_hash);
  html +=
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>";
  wire::append_xml_text(html, page.title);
  html += "</title>\n<style>";
  html += page.style;
  html +=
      "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
      "<noscript>This page needs JavaScript; it runs without a network.</noscript>\n";
  append_section(html, "index", page.index);
  for (const PageSection& section : page.sections) append_section(html, section.id, section.base64);
  html += "<script>";
  html += page.script;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

std::size_t fixed_page_bytes(std::string_view script, std::string_view style,
                             std::size_t sections) {
  return script.size() + style.size() + 4096 + 120 * sections;
}

Result<std::string> packed_section(std::string_view text) {
  std::string packed;
  const std::unique_ptr<io::ByteSink> sink = io::gzip_sink(io::memory_sink(packed));
  if (Status written = sink->write(text); !written.ok()) return written;
  if (Status closed = sink->close(); !closed.ok()) return closed;
  std::string base64;
  wire::append_base64(base64, packed);
  return base64;
}

}  // namespace tbtrace::pages
