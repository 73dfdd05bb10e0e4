#!/usr/bin/env python3
"""labml-nn's own experiment of AFT-local on Tiny Shakespeare, seen live: four lines are added (marked below).

    pip install torch labml-nn "labml<0.5" ./python    # labml 0.5 cannot run labml-nn's experiment
    python python/examples/labml_aft.py            # in another terminal: afterimage runs/labml-aft

The model, the data and the loop are labml's, as its package has them; only the sizes are smaller, for a CPU. labml
downloads the text; --text FILE takes one that is there. The run says where it lies and which character each token is,
so that the window shows attention, keys and completions as text.
"""
import argparse
import sys
from importlib.metadata import version
from pathlib import Path

from labml import tracker

if not hasattr(tracker, "set_text"):  # labml-nn calls it, and labml 0.5 has it no more
    sys.exit(f"labml {version('labml')} cannot run labml-nn's experiment (it has no tracker.set_text): "
             'pip install "labml<0.5"')

from labml import experiment
from labml_nn.experiments.nlp_autoregression import character_tokenizer
from labml_nn.helpers.datasets import TextFileDataset
from labml_nn.transformers.aft.experiment import Configs

import afterimage


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="runs/labml-aft", help="run folder")
    parser.add_argument("--text", help="the text, in place of labml's download")
    parser.add_argument("--length", type=int, default=128, help="characters of a sequence (the original: 256)")
    parser.add_argument("--layers", type=int, default=2, help="layers (the original: 6)")
    parser.add_argument("--batch", type=int, default=16, help="sequences of a step (the original: 32)")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the text (the original: 128)")
    parser.add_argument("--every", type=int, default=50, help="steps between saves")
    args = parser.parse_args()

    experiment.create(name="aft", writers=set())
    conf = Configs()
    text = TextFileDataset(Path(args.text).absolute(), character_tokenizer) if args.text else "tiny_shakespeare"
    experiment.configs(conf, {
        "tokenizer": "character", "prompt_separator": "", "prompt": "It is ", "text": text,
        "seq_len": args.length, "epochs": args.epochs, "batch_size": args.batch, "inner_iterations": 10, "d_model": 128,
        "transformer.n_layers": args.layers, "transformer.ffn.d_ff": 256,
        "optimizer.optimizer": "Noam", "optimizer.learning_rate": 1.0})
    with experiment.start():
        data = {"source": f"text:{conf.text.path}?alphabet=used"}  # 1
        with afterimage.Run(args.run, {"data": data}, alphabet=conf.text.itos) as run:  # 2
            run.watch(conf.model, args.every, optimizer=conf.optimizer, loss=conf.loss_func)  # 3
            conf.run()  # 4: indented


if __name__ == "__main__":
    main()
