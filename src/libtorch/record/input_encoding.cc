#include "libtorch/record/input_encoding.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

namespace tbtrace::libtorch {

namespace {

std::span<const std::int64_t> span_of(c10::IntArrayRef numbers) {
  return {numbers.data(), numbers.size()};
}

/// Whether it can tell its sizes.
bool is_known(const at::Tensor& tensor) {
  return tensor.defined() && !tensor.is_nested() &&
         !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

/// `may_write` is asked after all that may run code of the program's.
template <typename MayWrite>
[[gnu::always_inline]] inline bool encode_tensor(const at::Tensor& tensor,
                                                 recorder::InputsWriter& writer,
                                                 const MayWrite& may_write) {
  const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  if (!is_known(tensor)) {
    writer.nothing();
    return true;
  }
  const auto type = static_cast<std::uint8_t>(tensor.scalar_type());
  const auto sizes = span_of(impl->sizes());
  if (impl->layout() == c10::kStrided) {
    const auto strides = span_of(impl->strides());
    if (!may_write()) return false;
    writer.tensor(type, sizes, strides);
  } else {
    if (!may_write()) return false;
    writer.sparse_tensor(type, sizes);
  }
  return true;
}

bool encode_scalar(const c10::IValue& value, recorder::InputsWriter& writer) {
  if (value.isInt()) {
    writer.integer(value.toInt());
  } else if (value.isDouble()) {
    writer.real(value.toDouble());
  } else if (value.isBool()) {
    writer.boolean(value.toBool());
  } else if (value.isComplexDouble()) {
    const c10::complex<double> number = value.toComplexDouble();
    writer.complex(number.real(), number.imag());
  } else {
    return false;
  }
  return true;
}

/// Lists of scalars, if they are short; torch counts an empty list of anything among them.
void encode_list(const c10::IValue& value, recorder::InputsWriter& writer) {
  const c10::ArrayRef<c10::IValue> members = value.toListRef();
  bool scalars = members.size() <= recorder::kLongestList;
  for (const c10::IValue& member : members) scalars = scalars && member.isScalar();
  if (!scalars) {
    writer.nothing();
    return;
  }
  writer.list(members.size());
  for (const c10::IValue& member : members) encode_scalar(member, writer);
}

template <typename MayWrite>
bool encode(c10::ArrayRef<const c10::IValue> inputs, recorder::InputsWriter& writer,
            const MayWrite& may_write) {
  for (const c10::IValue& input : inputs) {
    if (input.isTensor()) [[likely]] {
      if (!encode_tensor(input.toTensor(), writer, may_write)) return false;
    } else if (encode_scalar(input, writer)) {
      continue;
    } else if (input.isTensorList()) {
      const auto tensors = input.toListRef();
      writer.tensor_list(tensors.size());
      for (const c10::IValue& tensor : tensors) {
        if (!encode_tensor(tensor.toTensor(), writer, may_write)) return false;
      }
    } else if (input.isList()) {
      encode_list(input, writer);
    } else {
      writer.nothing();
    }
  }
  return true;
}

}  // namespace

void encode_inputs(c10::ArrayRef<const c10::IValue> inputs, recorder::InputsWriter& writer) {
  encode(inputs, writer, [] { return true; });
}

bool encode_inputs(c10::ArrayRef<const c10::IValue> inputs, recorder::InputsWriter& writer,
                   const recorder::ThreadLog& log) {
  const std::uint64_t* const before = log.next();
  return encode(inputs, writer, [&] { return log.next() == before; });
}

void add_storages(c10::ArrayRef<const c10::IValue> inputs, std::vector<std::uint64_t>& addresses) {
  const auto add = [&](const at::Tensor& tensor) {
    if (!is_known(tensor)) return;
    addresses.push_back(tensor.has_storage() ? key_of(*tensor.storage().unsafeGetStorageImpl())
                                             : 0);
  };
  for (const c10::IValue& input : inputs) {
    if (input.isTensor()) {
      add(input.toTensor());
    } else if (input.isTensorList()) {
      for (const c10::IValue& tensor : input.toListRef()) add(tensor.toTensor());
    }
  }
}

std::uint64_t key_of(const c10::StorageImpl& storage) {
  using recorder::MemoryDevice;
  const c10::Device device = storage.device();
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  if (device.is_cpu()) return recorder::storage_key(address, MemoryDevice::cpu());
  return recorder::storage_key(
      address, device.is_cuda() ? MemoryDevice::cuda(device.index()) : MemoryDevice::other());
}

std::vector<std::uint8_t> element_type_bytes() {
  std::vector<std::uint8_t> bytes;
  for (int type = 0; type < static_cast<int>(c10::ScalarType::Undefined); ++type) {
    const auto meta = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(type));
    bytes.push_back(static_cast<std::uint8_t>(meta.itemsize()));
  }
  return bytes;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (int type = 0; type < static_cast<int>(c10::ScalarType::Undefined); ++type) {
    const auto meta = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(type));
    names.emplace_back(meta.name());
  }
  return names;
}

}  // namespace tbtrace::libtorch
