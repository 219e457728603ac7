// ResNet-50 at three levels: the model, its layers, its operators. `model_levels vit` shows
// ViT-B/16.
#include <iostream>
#include <string_view>

#include <torch/torch.h>

#include <tbtrace/benchmark.h>
#include <tbtrace/model_summary.h>
#include <tbtrace/profiler.h>

#include "published_models.h"

template <typename Model>
void show(const char* name, Model model) {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor image = torch::randn({1, 3, 224, 224});
  model->eval();
  std::cout << "== " << name << ": the model\n"
            << tbtrace::benchmark(model, {image},
                                  {.warmup = 1, .runs = 3, .min_time_s = 0.1, .max_time_s = 1})
            << "\n== " << name << ": its layers\n"
            << tbtrace::model_summary(model, {image}, {.depth = 1}).table();

  tbtrace::Profiler prof({.record_shapes = true});
  prof.start();
  model->forward(image);
  prof.stop();
  std::cout << "\n== " << name << ": its operators\n"
            << prof.key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 5});
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "vit") {
    show("ViT-B/16", published::VisionTransformer());
  } else {
    show("ResNet-50", published::resnet50());
  }
}
