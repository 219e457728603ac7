#include "rank_choice.h"

#include <string>

namespace tbtrace::tools {

Option RankChoice::option() {
  return {.name = "rank", .value = "N", .help = "only inputs of this rank"};
}

Option RankChoice::iteration_option() {
  return {.name = "iteration",
          .value = "N",
          .help = "only inputs of this iteration, by their paths: iteration_10/rank0.json"};
}

Result<RankChoice> RankChoice::of(const OptionParser& parser) {
  RankChoice choice;
  const auto take = [&](const std::string& name, std::optional<std::int64_t>& number) {
    if (!parser.has(name) || !parser.given(name)) return Status();
    number = whole_number(parser.text(name));
    if (number && *number >= 0) return Status();
    return Status(StatusCode::invalid_argument, "--" + name + " takes a number from 0");
  };
  if (Status taken = take("rank", choice.rank_); !taken.ok()) return taken;
  if (Status taken = take("iteration", choice.iteration_); !taken.ok()) return taken;
  return choice;
}

int RankChoice::say_none(std::string_view verb, Console& console) const {
  std::string what;
  if (rank_) what = "rank " + std::to_string(*rank_);
  if (iteration_) {
    what += (what.empty() ? "iteration " : " and iteration ") + std::to_string(*iteration_);
  }
  console.error(std::string(verb), "no input is of " + what);
  return kWrongUsage;
}

}  // namespace tbtrace::tools
