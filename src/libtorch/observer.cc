#include "libtorch/observer.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include "cupti/collector.h"
#include "libtorch/collectives.h"
#include "libtorch/input_encoding.h"
#include "libtorch/modules.h"
#include "libtorch/operator_names.h"
#include "libtorch/script_context.h"
#include "libtorch/unwind.h"
#include "recorder/active.h"
#include "recorder/inputs.h"
#include "recorder/record.h"

namespace tbtrace::libtorch {

namespace {

using recorder::Scope;
using recorder::ThreadLog;

thread_local constinit std::string_view next_name;
thread_local constinit const void* next_module = nullptr;

std::uint64_t key_of(const at::RecordFunction& function) {
  return reinterpret_cast<std::uintptr_t>(&function);
}

/// Only ranges of users, collectives among them, are ever made asynchronous.
bool is_async(const at::RecordFunction& function) {
  return function.scope() == at::RecordScope::USER_SCOPE && function.isAsync();
}

/// Whether c10d describes the range. Newer LibTorch has asked that already.
template <typename Function>
bool is_collective(const Function& function, const char* text) {
  if constexpr (requires { function.isNcclMeta(); }) {
    return function.isNcclMeta();
  } else {
    return text == recorder::kCollectiveRange;
  }
}

/// Of what is no operator of the dispatcher.
const recorder::Name* range_name(const at::RecordFunction& function, const char* text,
                                 ThreadLog& log) {
  if (is_collective(function, text)) [[unlikely]] {
    if (auto collective = described_collective()) {
      return log.names().add(text, *std::move(collective));
    }
  }
  return log.names().find(text);
}

recorder::BeginRecord begin_record(const at::RecordFunction& function, ThreadLog& log) {
  recorder::BeginRecord record;
  const char* const text = function.name();
  record.scope = static_cast<Scope>(function.scope());
  if (record.scope == Scope::user && next_name.data() != nullptr) {
    record.name = log.names().find(next_name);
  } else {
    record.name = operator_name(text);
    if (record.name == nullptr) record.name = range_name(function, text, log);
  }
  // Forwards of modules are ranges of users to torch.
  if (record.scope == Scope::user && next_module != nullptr) {
    record.scope = Scope::module;
    record.module = next_module;
  }
  record.key = key_of(function);
  record.sequence_number = function.seqNr();
  record.forward_thread = function.forwardThreadId();
  return record;
}

void record_inputs(const at::RecordFunction& function, recorder::InputsWriter& inputs,
                   recorder::BeginRecord& record) {
  encode_inputs(function.inputs(), inputs);
  record.inputs = inputs.data();
  record.inputs_size = static_cast<std::uint32_t>(inputs.size());
}

const recorder::Name* text_name(ThreadLog& log, const std::string& text) {
  return text.empty() ? nullptr : log.names().find(text);
}

/// All that the recording's options ask for. Returns when it began.
std::uint64_t record_with_context(const at::RecordFunction& function, ThreadLog& log) {
  const recorder::RecordingOptions& options = log.options();
  recorder::BeginRecord record = begin_record(function, log);
  recorder::InputsWriter inputs;
  if (options.wants_inputs()) record_inputs(function, inputs, record);
  std::vector<std::uint64_t> storages;
  if (options.has_storages()) {
    add_storages(function.inputs(), storages);
    record.storages = storages;
  }
  if (options.modules != nullptr && record.scope == Scope::function) {
    record.module = module_tensor(function.inputs(), record.sequence_number >= 0, *options.modules);
  }
  std::vector<void*> stack;
  if (options.with_stack && record.scope != Scope::module) {
    stack = unwind();
    record.stack = stack;
    // torch leaves those out that belong to a node's run.
    if (record.scope != Scope::backward_function) {
      record.script_stack = text_name(log, script_stack());
    }
  }
  if (options.with_modules && record.scope != Scope::backward_function) {
    record.script_modules = text_name(log, script_modules());
  }
  record.ticks = recorder::ticks();
  write(log, record);
  return record.ticks;
}

/// What is thrown for want of memory, or by LibTorch, is a lost record, and not the program's.
template <std::size_t kSlot, typename Record>
std::unique_ptr<at::ObserverContext> record_begin(Record&& record) noexcept {
  ThreadLog* const log = recorder::this_thread_log(kSlot);
  if (log == nullptr) return nullptr;
  try {
    record(*log);
  } catch (...) {
    log->count_lost();
  }
  return nullptr;
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  const std::uint64_t ticks = recorder::ticks();  // first: it takes its time beside what follows
  return record_begin<kSlot>([&](ThreadLog& log) {
    recorder::BeginRecord record = begin_record(function, log);
    record.ticks = ticks;
    write(log, record);
  });
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin_with_inputs(const at::RecordFunction& function) {
  return record_begin<kSlot>([&](ThreadLog& log) {
    recorder::BeginRecord record = begin_record(function, log);
    recorder::InputsWriter inputs;
    record_inputs(function, inputs, record);
    record.ticks = recorder::ticks();
    write(log, record);
  });
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin_with_context(const at::RecordFunction& function) {
  return record_begin<kSlot>([&](ThreadLog& log) { record_with_context(function, log); });
}

/// Of operators, which launches belong to; not of ranges around them.
bool is_told_to_cupti(const at::RecordFunction& function) {
  return function.scope() != at::RecordScope::USER_SCOPE;
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin_checked(const at::RecordFunction& function) {
  std::uint64_t ticks = 0;
  record_begin<kSlot>([&](ThreadLog& log) { ticks = record_with_context(function, log); });
  if (is_told_to_cupti(function)) cupti::push_operator(ticks);
  return nullptr;
}

template <std::size_t kSlot>
void end(const at::RecordFunction& function, at::ObserverContext*) noexcept {
  const std::uint64_t ticks = recorder::ticks();
  if (ThreadLog* const log = recorder::this_thread_log(kSlot)) {
    write(*log, recorder::EndRecord{
                    .ticks = ticks, .key = key_of(function), .is_async = is_async(function)});
  }
}

template <std::size_t kSlot>
void end_checked(const at::RecordFunction& function, at::ObserverContext* context) noexcept {
  end<kSlot>(function, context);
  if (is_told_to_cupti(function)) cupti::pop_operator();
}

/// torch's callbacks are plain functions, so each slot has its own.
struct Callbacks {
  at::RecordFunctionCallback::StartCallback begin;
  at::RecordFunctionCallback::StartCallback begin_with_inputs;
  at::RecordFunctionCallback::StartCallback begin_with_context;
  at::RecordFunctionCallback::StartCallback begin_checked;
  at::RecordFunctionCallback::EndCallback end;
  at::RecordFunctionCallback::EndCallback end_checked;
};

template <std::size_t... kSlot>
constexpr std::array<Callbacks, sizeof...(kSlot)> all_callbacks(std::index_sequence<kSlot...>) {
  return {{{begin<kSlot>, begin_with_inputs<kSlot>, begin_with_context<kSlot>, begin_checked<kSlot>,
            end<kSlot>, end_checked<kSlot>}...}};
}

constexpr auto kCallbacks = all_callbacks(std::make_index_sequence<recorder::kSlots>());

}  // namespace

ObserverHandle add_observer(std::size_t slot, const ObserverOptions& options) {
  recorder::logical_thread_id.store(
      [] { return static_cast<std::uint64_t>(at::RecordFunction::currentThreadId()); });
  const Callbacks& callbacks = kCallbacks[slot];
  auto* begin = options.inputs ? callbacks.begin_with_inputs : callbacks.begin;
  if (options.context) begin = callbacks.begin_with_context;
  auto* end = callbacks.end;
  if (options.check_launches) {
    begin = callbacks.begin_checked;
    end = callbacks.end_checked;
  }
  auto callback = at::RecordFunctionCallback(begin, end).needsInputs(options.inputs);
  return options.all_threads ? at::addGlobalCallback(callback)
                             : at::addThreadLocalCallback(callback);
}

void remove_observer(ObserverHandle handle) { at::removeCallback(handle); }

bool hears_this_thread(ObserverHandle handle) {
  for (const auto& entry : at::get_record_function_tls_().sorted_tls_callbacks_) {
    if (entry.handle_ == handle) return true;
  }
  return false;
}

NextRange::NextRange(std::string_view name, const void* module) {
  next_name = name;
  next_module = module;
}

NextRange::~NextRange() {
  next_name = {};
  next_module = nullptr;
}

}  // namespace tbtrace::libtorch
