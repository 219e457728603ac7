// ResNets and ViT-B/16 with the layers and sizes that torchvision publishes, and random weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <torch/torch.h>

namespace published {

namespace nn = torch::nn;

inline nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size,
                              std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

/// ResNet's BasicBlock.
struct BasicBlockImpl : nn::Module {
  static constexpr std::int64_t kExpansion = 1;

  BasicBlockImpl(std::int64_t in, std::int64_t width, std::int64_t stride) {
    conv1 = register_module("conv1", convolution(in, width, 3, stride));
    bn1 = register_module("bn1", nn::BatchNorm2d(width));
    relu = register_module("relu", nn::ReLU(nn::ReLUOptions(true)));
    conv2 = register_module("conv2", convolution(width, width, 3, 1));
    bn2 = register_module("bn2", nn::BatchNorm2d(width));
    if (stride != 1 || in != width) {
      downsample = register_module(
          "downsample", nn::Sequential(convolution(in, width, 1, stride), nn::BatchNorm2d(width)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor out = bn2(conv2(relu(bn1(conv1(x)))));
    out += downsample ? downsample->forward(x) : x;
    return relu(out);
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  nn::ReLU relu{nullptr};
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

/// ResNet's Bottleneck, with the stride in its second convolution.
struct BottleneckImpl : nn::Module {
  static constexpr std::int64_t kExpansion = 4;

  BottleneckImpl(std::int64_t in, std::int64_t width, std::int64_t stride) {
    const std::int64_t out = width * kExpansion;
    conv1 = register_module("conv1", convolution(in, width, 1, 1));
    bn1 = register_module("bn1", nn::BatchNorm2d(width));
    conv2 = register_module("conv2", convolution(width, width, 3, stride));
    bn2 = register_module("bn2", nn::BatchNorm2d(width));
    conv3 = register_module("conv3", convolution(width, out, 1, 1));
    bn3 = register_module("bn3", nn::BatchNorm2d(out));
    if (stride != 1 || in != out) {
      downsample = register_module(
          "downsample", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor out = torch::relu(bn1(conv1(x)));
    out = torch::relu(bn2(conv2(out)));
    out = bn3(conv3(out));
    return torch::relu(out + (downsample ? downsample->forward(x) : x));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(Bottleneck);

template <typename Block>
struct ResNetImpl : nn::Module {
  explicit ResNetImpl(std::vector<int> blocks) {
    conv1 = register_module("conv1", convolution(3, 64, 7, 2));
    bn1 = register_module("bn1", nn::BatchNorm2d(64));
    relu = register_module("relu", nn::ReLU(nn::ReLUOptions(true)));
    maxpool =
        register_module("maxpool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
    std::int64_t in = 64;
    for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
      const std::int64_t width = std::int64_t{64} << stage;
      nn::Sequential layer;
      for (int block = 0; block < blocks[stage]; ++block) {
        layer->push_back(Block(in, width, block == 0 && stage > 0 ? 2 : 1));
        in = width * Block::Impl::kExpansion;
      }
      layers.push_back(register_module("layer" + std::to_string(stage + 1), layer));
    }
    avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
    fc = register_module("fc", nn::Linear(in, 1000));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = maxpool(relu(bn1(conv1(x))));
    for (nn::Sequential& layer : layers) x = layer->forward(x);
    return fc(torch::flatten(avgpool(x), 1));
  }

  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  nn::ReLU relu{nullptr};
  nn::MaxPool2d maxpool{nullptr};
  std::vector<nn::Sequential> layers;
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Linear fc{nullptr};
};

inline std::shared_ptr<ResNetImpl<BasicBlock>> resnet18() {
  return std::make_shared<ResNetImpl<BasicBlock>>(std::vector<int>{2, 2, 2, 2});
}
inline std::shared_ptr<ResNetImpl<Bottleneck>> resnet50() {
  return std::make_shared<ResNetImpl<Bottleneck>>(std::vector<int>{3, 4, 6, 3});
}

struct EncoderBlockImpl : nn::Module {
  EncoderBlockImpl() {
    ln_1 = register_module("ln_1", nn::LayerNorm(nn::LayerNormOptions({768}).eps(1e-6)));
    self_attention = register_module("self_attention", nn::MultiheadAttention(768, 12));
    ln_2 = register_module("ln_2", nn::LayerNorm(nn::LayerNormOptions({768}).eps(1e-6)));
    mlp = register_module("mlp", nn::Sequential(nn::Linear(768, 3072), nn::GELU(), nn::Dropout(0.0),
                                                nn::Linear(3072, 768), nn::Dropout(0.0)));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor x = ln_1(input);
    x = std::get<0>(self_attention(x, x, x)) + input;
    return x + mlp->forward(ln_2(x));
  }

  nn::LayerNorm ln_1{nullptr}, ln_2{nullptr};
  nn::MultiheadAttention self_attention{nullptr};
  nn::Sequential mlp{nullptr};
};
TORCH_MODULE(EncoderBlock);

/// ViT-B/16. Sequences come first, as nn::MultiheadAttention takes them.
struct VisionTransformerImpl : nn::Module {
  VisionTransformerImpl() {
    conv_proj = register_module("conv_proj", nn::Conv2d(nn::Conv2dOptions(3, 768, 16).stride(16)));
    class_token = register_parameter("class_token", torch::zeros({1, 1, 768}));
    pos_embedding = register_parameter("pos_embedding", torch::randn({197, 1, 768}));
    for (int layer = 0; layer < 12; ++layer) encoder->push_back(EncoderBlock());
    register_module("encoder", encoder);
    ln = register_module("ln", nn::LayerNorm(nn::LayerNormOptions({768}).eps(1e-6)));
    head = register_module("head", nn::Linear(768, 1000));
  }

  torch::Tensor forward(const torch::Tensor& image) {
    torch::Tensor x = conv_proj(image).flatten(2).permute({2, 0, 1});
    x = torch::cat({class_token.expand({-1, x.size(1), -1}), x}, 0) + pos_embedding;
    return head(ln(encoder->forward(x)).select(0, 0));
  }

  nn::Conv2d conv_proj{nullptr};
  torch::Tensor class_token, pos_embedding;
  nn::Sequential encoder;
  nn::LayerNorm ln{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(VisionTransformer);

}  // namespace published
