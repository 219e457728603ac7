import torch

    def forward(self, x):
