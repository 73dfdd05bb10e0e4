"""Makes the fixtures of import_test.cpp: small models of aft-pytorch 0.2.2, labml-nn 0.5.1, timm 1.0.31
and transformers 5.24.0 with random weights, each with an input and the output that its own code gives
for it. The layers of xmu and pos_bias_u/_v are in no package: published_layers.py writes down
what their authors describe.

Needs torch and the packages of the fixtures that are named, all of them if none is; the tests need the
files alone:
python3 tests/model/imports/make_fixtures.py [rish16 labml_layer labml_model vit distilled hf_vit xmu pos_bias_uv]
"""
import pathlib
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file

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
    from aft_pytorch import AFTFull, AFTLocal, AFTSimple
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
    from labml_nn.transformers.aft import AFTLocal as LabmlLocal
    from labml_nn.transformers.utils import subsequent_mask
    model = LabmlLocal(12, 10, 3)
    randomise(model)
    x = torch.randn(2, 10, 12)
    t = x.transpose(0, 1)
    y = model(query=t, key=t, value=t, mask=subsequent_mask(10)).transpose(0, 1)
    keep("labml-layer", model, {"x": x}, {"y": y})


def labml_model():
    from labml_nn.transformers import Encoder, TransformerLayer
    from labml_nn.transformers.aft import AFTLocal as LabmlLocal
    from labml_nn.transformers.aft.experiment import AutoregressiveTransformer
    from labml_nn.transformers.feed_forward import FeedForward
    from labml_nn.transformers.models import EmbeddingsWithPositionalEncoding, Generator
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


def keep_of_timm(fixture, name, wrap=None):
    import timm
    model = timm.create_model(name, img_size=16, patch_size=8, embed_dim=64, depth=2, num_heads=1, num_classes=5)
    randomise(model, 0.1)
    model.eval()
    image = torch.randn(2, 3, 16, 16)
    keep(fixture, model, {"image": image}, {"logits": model(image)}, wrap)


def vit():
    ema = lambda state: {key: value.double() * 0 for key, value in state.items()}
    keep_of_timm("timm", "vit_tiny_patch16_224",
                 lambda state: {"model": state, "epoch": 7,
                                "model_ema": ema({"norm.weight": state["norm.weight"]})})


def distilled():
    keep_of_timm("timm-distilled", "deit_tiny_distilled_patch16_224")


def hf_vit():
    """float16, as many files are: the weights are rounded first, so that their outputs are the model's.

    save_pretrained writes the names that the library has had from its beginning; state_dict() of
    versions from 5 on has others.
    """
    from transformers import ViTConfig, ViTForImageClassification
    model = ViTForImageClassification(ViTConfig(
        hidden_size=64, num_hidden_layers=2, num_attention_heads=1, intermediate_size=64, image_size=8,
        patch_size=4, num_labels=5))
    randomise(model, 0.1)
    model.half().float().eval()
    image = torch.randn(2, 3, 8, 8)
    logits = model(image).logits
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        saved = load_file(pathlib.Path(folder) / "model.safetensors")
    half = lambda state: {key: value.half() for key, value in state.items()}
    keep("hf-vit", model, {"image": image}, {"logits": logits}, lambda state: half(saved))
    keep("hf-vit-5", model, {"image": image}, {"logits": logits}, half)


def xmu():
    from published_layers import XmuAft
    for name, simple in (("xmu", False), ("xmu-simple", True)):
        model = XmuAft(12, tokens=10, simple=simple)
        randomise(model)
        x = torch.randn(2, 10, 12)
        keep(name, model, {"x": x}, {"y": model(x)})


def pos_bias_uv():
    """Keys of moderate size: where all weights of a target are below 1e-4 its 1e-9 shows in the output."""
    from published_layers import PosBiasAft
    for name, window in (("pos-bias-uv", None), ("pos-bias-uv-local", 3)):
        model = PosBiasAft(12, tokens=10, factors=4, window=window)
        randomise(model, 0.3)
        x = torch.randn(2, 10, 12)
        keep(name, model, {"x": x}, {"y": model(x)})


def main():
    makers = {make.__name__: make for make in (rish16, labml_layer, labml_model, vit, distilled, hf_vit, xmu, pos_bias_uv)}
    for name in sys.argv[1:] or makers:
        torch.manual_seed(1)
        makers[name]()


if __name__ == "__main__":
    main()
