// Operators' inputs into the bytes that recorder/log/inputs.h describes, by torch's rules of what
// is recorded of an input: shapes of tensors and of lists of them, values of scalars and short
// lists. For the recorded thread. Tensors that cannot tell their sizes count as nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>

#include "recorder/log/inputs.h"
#include "recorder/log/storage_key.h"
#include "recorder/log/thread_log.h"

namespace tbtrace::libtorch {

void encode_inputs(c10::ArrayRef<const c10::IValue> inputs, recorder::InputsWriter& writer);

/// The same into room behind the log's last record. False, and nothing more is written, if a record
/// was written there meanwhile: tensors of the program's own kinds may run operators when they are
/// asked for their sizes.
bool encode_inputs(c10::ArrayRef<const c10::IValue> inputs, recorder::InputsWriter& writer,
                   const recorder::ThreadLog& log);

/// The keys of the tensors' storages, one for each tensor that is encoded.
void add_storages(c10::ArrayRef<const c10::IValue> inputs, std::vector<std::uint64_t>& addresses);

/// The recorder's key of its data.
std::uint64_t key_of(const c10::StorageImpl& storage);

/// Bytes of an element of each type, by its number.
std::vector<std::uint8_t> element_type_bytes();

/// What torch calls element types, by their number: `float`, `long int`.
std::vector<std::string> element_type_names();

}  // namespace tbtrace::libtorch
