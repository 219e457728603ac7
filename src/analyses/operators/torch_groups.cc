#include "analyses/operators/torch_groups.h"

#include <string>

namespace tbtrace::analyses {

void TorchGroups::start(const TorchEvents& events, const GroupKeys* keys,
                        std::span<const std::uint32_t> values) {
  events_ = &events;
  group_keys_ = keys;
  values_ = values;
  own_values_.clear();
  names_.assign(1, 0);
  stacks_.clear();
}

std::uint32_t TorchGroups::own_values(std::uint32_t values) {
  for (std::size_t next = own_values_.size(); next <= values; ++next) {
    own_values_.push_back(keys_.number(group_keys_->bytes(static_cast<std::uint32_t>(next))));
  }
  return own_values_[values];
}

std::uint32_t TorchGroups::own_stack(StackId stack) {
  const auto [known, added] = stacks_.try_emplace(stack, 0);
  if (!added) return known->second;
  const auto count = static_cast<std::size_t>(options_.group_by_stack_n);
  std::string frames;
  for (const NameId frame : events_->frames(stack, count)) {
    const std::uint32_t number = own(frame);
    frames.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  known->second = keys_.number(frames);
  return known->second;
}

}  // namespace tbtrace::analyses
