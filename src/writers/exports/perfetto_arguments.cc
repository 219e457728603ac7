#include "writers/exports/perfetto_arguments.h"

#include <cstddef>

namespace tbtrace::writers::perfetto {
namespace {

using wire::ProtoWriter;

std::string_view key_of(Argument argument) { return argument_row(argument).keys.front(); }

}  // namespace

Annotations::Annotations(const Trace& trace, Packets& packets) : trace_(trace), packets_(packets) {
  for (std::size_t number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    const ArgumentColumn& values = trace.argument(argument);
    if (values.empty()) continue;
    columns_.push_back({&values, key_of(argument), argument_row(argument).type, number});
  }
}

void Annotations::start(std::size_t number, std::string_view name) {
  annotation_.clear();
  ProtoWriter(annotation_)
      .integer(annotation::kNameIid, packets_.annotation_names().iid(number, name));
}

void Annotations::finish(std::string& event) const {
  ProtoWriter(event).bytes(event::kAnnotation, annotation_);
}

void Annotations::append_integer(std::string& event, std::size_t number, std::string_view name,
                                 std::int64_t value) {
  start(number, name);
  ProtoWriter(annotation_).signed_integer(annotation::kInt, value);
  finish(event);
}

void Annotations::append_true_or_false(std::string& event, std::size_t number,
                                       std::string_view name, bool value) {
  start(number, name);
  ProtoWriter(annotation_).integer(annotation::kBool, value ? 1 : 0);
  finish(event);
}

void Annotations::append_text(std::string& event, std::string_view name, StringId text) {
  start(kArgumentCount, name);
  ProtoWriter(annotation_)
      .integer(annotation::kTextIid,
               packets_.texts().iid(static_cast<std::size_t>(text), trace_.string(text)));
  finish(event);
}

void Annotations::append_integer(std::string& event, std::string_view name, std::int64_t value) {
  append_integer(event, index(Argument::allocated_bytes), name, value);
}

void Annotations::append(std::string& event, EventId of) {
  const Events& events = trace_.events();
  const std::int64_t external_id = trace_.external_id(of);
  if (external_id != 0 || events.has_zero_external_id(of)) {
    append_integer(event, index(Argument::external_id), key_of(Argument::external_id), external_id);
  }
  if (const std::int64_t correlation = trace_.correlation(of); correlation != 0) {
    append_integer(event, index(Argument::correlation), key_of(Argument::correlation), correlation);
  }
  if (events.unfinished(of)) {
    append_true_or_false(event, index(Argument::finished), key_of(Argument::finished), false);
  }
  if (events.is_asynchronous(of)) {
    append_true_or_false(event, index(Argument::asynchronous), key_of(Argument::asynchronous),
                         true);
  }
  for (const Column& column : columns_) {
    if (!column.values->has(of)) continue;
    start(column.number, column.name);
    ProtoWriter out(annotation_);
    switch (column.type) {
      case ArgumentType::integer:
        out.signed_integer(annotation::kInt, column.values->integer(of).value_or(0));
        break;
      case ArgumentType::real:
        out.real(annotation::kDouble, column.values->real(of).value_or(0));
        break;
      case ArgumentType::text:
      case ArgumentType::json: {
        const StringId text = column.values->text(of);
        out.integer(annotation::kTextIid,
                    packets_.texts().iid(static_cast<std::size_t>(text), trace_.string(text)));
        break;
      }
      case ArgumentType::dim3: {
        const Dim3 sizes = column.values->dim3(of).value_or(Dim3{});
        std::string element;
        for (const std::uint32_t size : {sizes.x, sizes.y, sizes.z}) {
          element.clear();
          ProtoWriter(element).integer(annotation::kInt, size);
          out.bytes(annotation::kElement, element);
        }
        break;
      }
      case ArgumentType::mark:
        continue;
    }
    finish(event);
  }
}

}  // namespace tbtrace::writers::perfetto
