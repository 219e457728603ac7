#include <memory>
#include <string>
#include <utility>

#include <tbtrace/anonymise.h>

#include "chrome/anonymise/anonymous_rows.h"
#include "chrome/anonymise/keyed_words.h"
#include "chrome/convert/convert_trace.h"
#include "io/discarded_text.h"
#include "io/sink.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

/// docs/formats/anonymise.md.
std::string receipt(const chrome::AnonymousDocument& document, const chrome::KeyedWords& words) {
  std::string json;
  wire::JsonEmitter out(json);
  out.begin_object();
  out.member("schema", "tbtrace.anonymise/1");
  out.key("events");
  out.integer(document.rows());
  out.key("names");
  out.integer(words.replacements().size());
  out.key("arguments_left_out");
  out.integer(document.arguments_left_out());
  out.key("members_left_out");
  out.integer(document.members_left_out());
  out.end_object();
  return json;
}

Result<std::unique_ptr<chrome::TraceConverter>> open(const std::string& path,
                                                     const AnonymiseOptions& options) {
  if (!options.key.empty() && options.key.size() < kLeastAnonymiseKey) {
    return Status(StatusCode::invalid_argument,
                  "the key has " + std::to_string(options.key.size()) +
                      " bytes and needs at least " + std::to_string(kLeastAnonymiseKey) +
                      "; take random ones");
  }
  return chrome::TraceConverter::open(path, {.dialect = Dialect::kineto,
                                             .strict = options.strict,
                                             .threads = options.reading_threads,
                                             .on_progress = options.on_progress});
}

Result<AnonymiseReport> write(chrome::TraceConverter& converter, io::ByteSink& sink,
                              chrome::KeyedWords& words) {
  chrome::AnonymousDocument* rows = nullptr;
  chrome::AnonymousDocument document(
      converter.trace(), sink,
      {.key = "tbtrace_anonymise", .json = [&] { return receipt(*rows, words); }}, words);
  rows = &document;
  Result<Changes> changes = converter.write(document, sink);
  if (!changes.ok()) return changes.status();
  AnonymiseReport report;
  report.events = document.rows();
  report.names = words.replacements();
  report.arguments_left_out = document.arguments_left_out();
  report.members_left_out = document.members_left_out();
  report.changes = *std::move(changes);
  report.issues = converter.issues();
  return report;
}

}  // namespace

std::string names_document(const std::map<std::string, std::string>& names) {
  std::string json;
  wire::JsonEmitter out(json);
  out.begin_object();
  out.member("schema", "tbtrace.names/1");
  out.key("names");
  out.begin_object();
  for (const auto& [word, replacement] : names) {
    out.new_line();
    out.member(word, replacement);
  }
  out.end_object();
  out.end_object();
  json += '\n';
  return json;
}

Result<AnonymiseReport> anonymise_trace(const std::string& path, const std::string& output,
                                        const AnonymiseOptions& options) {
  if (Status place = io::check_place(output, options.overwrite); !place.ok()) return place;
  const auto converter = open(path, options);
  if (!converter.ok()) return converter.status();
  Result<std::unique_ptr<io::ByteSink>> sink =
      io::open_output(output, {.overwrite = options.overwrite});
  if (!sink.ok()) return sink.status();
  chrome::KeyedWords words(options.key);
  return write(**converter, **sink, words);
}

Result<AnonymiseReport> find_private_names(const std::string& path,
                                           const AnonymiseOptions& options) {
  const auto converter = open(path, options);
  if (!converter.ok()) return converter.status();
  io::DiscardedText unused;
  chrome::KeyedWords words(options.key);
  Result<AnonymiseReport> report = write(**converter, unused, words);
  if (!report.ok()) return report;
  for (auto& [word, replacement] : report->names) replacement.clear();
  return report;
}

}  // namespace tbtrace
