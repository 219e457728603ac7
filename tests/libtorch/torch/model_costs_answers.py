#!/usr/bin/env python3
"""Records what torchinfo, fvcore and flop_counter say of torchvision's models, as tests/data/model_costs.json.

    model_costs_answers.py OUTPUT.json

Needs torch, torchvision, torchinfo and fvcore (`pip install`); the test that compares model_summary() with the answers
(libtorch.toolbox) needs only the file. One image of 224 x 224, in eval mode, on the host.
"""
import importlib.metadata
import json
import pathlib
import sys

import fvcore.nn
import torch
import torchinfo
import torchvision
from torch.utils.flop_counter import FlopCounterMode

MODELS = ("resnet18", "resnet50", "vit_b_16")


def torchinfo_layers(model, image):
    """By path: parameters and multiply-adds of torchinfo's row, without those of the rows in it."""
    found = torchinfo.summary(model, input_data=image, depth=20, verbose=0, mode="eval")
    names = {id(module): name for name, module in model.named_modules()}
    layers = {}
    for row in found.summary_list:
        if row.is_leaf_layer and not row.is_recursive:
            layers[names[row.layer_id if row.layer_id in names else id(row.module)]] = [row.num_params, row.macs]
    return found, layers


def answers(name):
    model = getattr(torchvision.models, name)(weights=None).eval()
    image = torch.randn(1, 3, 224, 224)
    found, layers = torchinfo_layers(model, image)
    with torch.no_grad():
        counts = fvcore.nn.FlopCountAnalysis(model, image)
        counts.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
        with FlopCounterMode(display=False) as counter:
            model(image)
        forward = counter.get_total_flops()
    with FlopCounterMode(display=False) as counter:
        model.train()(image.expand(2, -1, -1, -1)).sum().backward()  # ResNets cannot train on one image's norms
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "torchinfo": {"parameters": found.total_params, "trainable": found.trainable_params,
                      "mult_adds": found.total_mult_adds, "layers": layers},
        "fvcore": {"flops": counts.total(), "by_operator": dict(counts.by_operator()),
                   "by_module": dict(counts.by_module()), "unsupported": dict(counts.unsupported_ops())},
        "flop_counter": {"forward": forward, "step_of_two": counter.get_total_flops()},
    }


def main():
    torch.manual_seed(0)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "torchvision", "torchinfo", "fvcore")}
    document = {"versions": versions, "models": {name: answers(name) for name in MODELS}}
    pathlib.Path(sys.argv[1]).write_text(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
