#include "recorder/memory/observed_inputs.h"

#include <algorithm>
#include <cstddef>

#include "recorder/log/inputs.h"

namespace tbtrace::recorder {

namespace {

class Reader {
 public:
  Reader(std::string_view bytes, std::span<const std::uint64_t> addresses,
         std::span<const std::uint8_t> element_bytes)
      : at_(bytes.data()),
        end_(at_ + bytes.size()),
        addresses_(addresses),
        element_bytes_(element_bytes) {}

  bool at_end() const { return at_ == end_; }

  ObservedInput input() {
    using Kind = ObservedInput::Kind;
    const InputTag tag = this->tag();
    switch (tag) {
      case InputTag::nothing:
        return {};
      case InputTag::tensor:
      case InputTag::sparse_tensor:
        return {.kind = Kind::tensor, .tensors = {tensor(tag)}};
      case InputTag::tensor_list:
        return list_of_tensors();
      case InputTag::list:
        for (std::uint64_t left = number(); left > 0; --left) scalar(this->tag());
        return {};  // torch tells nothing of them here
      default:
        return {.kind = scalar(tag)};
    }
  }

 private:
  ObservedInput list_of_tensors() {
    ObservedInput list{.kind = ObservedInput::Kind::tensor_list};
    for (std::uint64_t left = number(); left > 0; --left) {
      const InputTag member = tag();
      if (member == InputTag::nothing) {
        list.has_undefined = true;
      } else {
        list.tensors.push_back(tensor(member));
      }
    }
    return list;
  }

  ObservedTensor tensor(InputTag tag) {
    const auto type = static_cast<std::uint8_t>(*at_++);
    const auto dimensions = static_cast<std::size_t>(number());
    std::vector<std::uint64_t> sizes(dimensions);
    for (std::uint64_t& size : sizes) size = number();
    std::uint64_t elements = dimensions == 0 ? 1 : 0;
    if (tag == InputTag::tensor) {
      for (const std::uint64_t size : sizes) {
        const std::uint64_t zigzag = number();
        const std::uint64_t stride = (zigzag & 1) != 0 ? 0 : zigzag >> 1;
        elements = std::max(elements, size * stride);
      }
    }
    ObservedTensor tensor;
    if (tag == InputTag::tensor && type < element_bytes_.size()) {
      tensor.bytes = elements * element_bytes_[type];
    }
    if (next_address_ < addresses_.size()) tensor.address = addresses_[next_address_++];
    return tensor;
  }

  ObservedInput::Kind scalar(InputTag tag) {
    switch (tag) {
      case InputTag::boolean:
        at_ += 1;
        return ObservedInput::Kind::boolean;
      case InputTag::real:
        at_ += sizeof(double);
        return ObservedInput::Kind::real;
      case InputTag::complex:
        at_ += 2 * sizeof(double);
        return ObservedInput::Kind::complex;
      default:
        number();
        return ObservedInput::Kind::integer;
    }
  }

  InputTag tag() { return static_cast<InputTag>(*at_++); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }

  const char* at_;
  const char* end_;
  std::span<const std::uint64_t> addresses_;
  std::span<const std::uint8_t> element_bytes_;
  std::size_t next_address_ = 0;
};

}  // namespace

std::vector<ObservedInput> observed_inputs(std::string_view bytes,
                                           std::span<const std::uint64_t> addresses,
                                           std::span<const std::uint8_t> element_bytes) {
  std::vector<ObservedInput> inputs;
  Reader reader(bytes, addresses, element_bytes);
  while (!reader.at_end()) inputs.push_back(reader.input());
  return inputs;
}

}  // namespace tbtrace::recorder
