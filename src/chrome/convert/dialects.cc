#include "chrome/convert/dialects.h"

#include "chrome/kineto/rows.h"
#include "chrome/plugin/rows.h"

namespace tbtrace::chrome {

std::unique_ptr<RowDocument> new_document(const Trace& trace, Dialect dialect, bool infer_steps,
                                          int threads, io::ByteSink& sink) {
  if (dialect == Dialect::kineto) return std::make_unique<KinetoDocument>(trace, infer_steps, sink);
  return std::make_unique<PluginDocument>(trace, infer_steps, threads, sink);
}

}  // namespace tbtrace::chrome
