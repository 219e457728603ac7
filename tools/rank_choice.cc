#include "rank_choice.h"

#include <string>

namespace tbtrace::tools {

Option RankChoice::option() {
  return {.name = "rank", .value = "N", .help = "only inputs of this rank"};
}

Result<RankChoice> RankChoice::of(const OptionParser& parser) {
  RankChoice choice;
  if (!parser.has("rank") || !parser.given("rank")) return choice;
  choice.rank_ = whole_number(parser.text("rank"));
  if (!choice.rank_ || *choice.rank_ < 0) {
    return Status(StatusCode::invalid_argument, "--rank takes a number from 0");
  }
  return choice;
}

int RankChoice::say_none(std::string_view verb, Console& console) const {
  console.error(std::string(verb), "no input is of rank " + std::to_string(rank_.value_or(0)));
  return kWrongUsage;
}

}  // namespace tbtrace::tools
