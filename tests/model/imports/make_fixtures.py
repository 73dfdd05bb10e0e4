"""Makes the fixtures of import_test.cpp: small models of aft-pytorch 0.2.2, labml-nn 0.5.1 and timm
1.0.31 with random weights, each with an input and the output that its own code gives for it.

Needs torch, aft-pytorch, labml-nn and timm; the tests need the files alone:
python3 tests/model/imports/make_fixtures.py
"""
import copy
import pathlib

import timm
import torch
from aft_pytorch import AFTFull, AFTLocal, AFTSimple
from labml_nn.transformers import Encoder, TransformerLayer
from labml_nn.transformers.aft import AFTLocal as LabmlLocal
from labml_nn.transformers.aft.experiment import AutoregressiveTransformer
from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.models import EmbeddingsWithPositionalEncoding, Generator
from labml_nn.transformers.utils import subsequent_mask
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent


def randomise(model, scale=0.5):
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point():
                parameter.add_(scale * torch.randn_like(parameter))


def keep(name, model, given, expected, wrap=None):
    state = {key: value.detach().clone() for key, value in model.state_dict().items()}
    torch.save(wrap(state) if wrap else state, HERE / f"{name}.pt")
    save_file({**{k: v.contiguous() for k, v in given.items()},
               **{f"expected.{k}": v.detach().contiguous() for k, v in expected.items()}},
              HERE / f"{name}.io.safetensors")


def rish16():
    for name, make in (("rish16", AFTFull), ("rish16-simple", AFTSimple)):
        model = make(max_seqlen=10, dim=12, hidden_dim=8)
        randomise(model)
        x = torch.randn(2, 10, 12)
        keep(name, model, {"x": x}, {"y": model(x)})
    model = AFTLocal(max_seqlen=10, dim=12, hidden_dim=8, s=3)
    randomise(model)
    x = torch.randn(2, 10, 12)
    keep("rish16-local", model, {"x": x}, {"y": model(x)})


def labml_layer():
    model = LabmlLocal(12, 10, 3)
    randomise(model)
    x = torch.randn(2, 10, 12)
    t = x.transpose(0, 1)
    y = model(query=t, key=t, value=t, mask=subsequent_mask(10)).transpose(0, 1)
    keep("labml-layer", model, {"x": x}, {"y": y})


def labml_model():
    d, tokens, words = 16, 24, 11
    layer = TransformerLayer(d_model=d, self_attn=LabmlLocal(d, tokens, 5),
                             feed_forward=FeedForward(d, 32, 0.0), dropout_prob=0.0)
    embedding = EmbeddingsWithPositionalEncoding(d, words, max_len=64)
    model = AutoregressiveTransformer(Encoder(layer, 2), embedding, Generator(words, d))
    randomise(model, 0.3)
    model.eval()
    ids = torch.randint(0, words, (2, tokens))
    logits, _ = model(ids.t())
    keep("labml", model, {"tokens": ids}, {"logits": logits.transpose(0, 1)},
         lambda state: {"module." + key: value for key, value in state.items()})


def vit():
    model = timm.create_model("vit_tiny_patch16_224", img_size=16, patch_size=8, embed_dim=64,
                              depth=2, num_heads=1, num_classes=5)
    randomise(model, 0.1)
    model.eval()
    image = torch.randn(2, 3, 16, 16)
    ema = lambda state: {key: value.double() * 0 for key, value in state.items()}
    keep("timm", model, {"image": image}, {"logits": model(image)},
         lambda state: {"model": state, "epoch": 7,
                        "model_ema": ema({"norm.weight": state["norm.weight"]})})


def main():
    for make in (rish16, labml_layer, labml_model, vit):
        torch.manual_seed(1)
        make()


if __name__ == "__main__":
    main()
