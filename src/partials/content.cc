#include "partials/content.h"

#include "report/source_report.h"

namespace tbtrace::partials {

Content::Content(const PartialOptions& its_options) : options(its_options) {
  for (std::size_t table = 0; table < kTables; ++table) {
    tables.emplace_back(shape_of(static_cast<TableId>(table)));
  }
}

void Content::add(TableId id, std::initializer_list<std::string_view> key,
                  std::span<const Figure> figures, const report::DurationSketch& durations) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(key.size());
  for (const std::string_view part : key) numbers.push_back(texts.intern(part));
  table(id).add(numbers, figures, durations);
}

void Content::add_fact(std::string_view name, FactFigure fold, Figure value) {
  std::array<Figure, kFactFigures> figures;
  figures[fold] = value;
  add(TableId::facts, {name}, figures);
}

Figure Content::fact(std::string_view name, FactFigure fold) const {
  const SumTable& facts = table(TableId::facts);
  for (std::size_t row = 0; row < facts.size(); ++row) {
    if (texts[facts.key(row).front()] == name) return facts.figures(row)[fold];
  }
  return {};
}

SourceReport Content::source_report() const {
  SourceReport sum;
  for (const SourceContent& source : of_sources) report::add_source(sum, source.report);
  return sum;
}

std::optional<std::int64_t> Content::common_rank() const {
  std::optional<std::int64_t> rank;
  for (const PartialSource& source : sources) {
    if (!source.rank || (rank && *rank != *source.rank)) return std::nullopt;
    rank = source.rank;
  }
  return rank;
}

}  // namespace tbtrace::partials
