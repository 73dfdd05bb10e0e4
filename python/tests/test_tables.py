"""The tables of names: the same files as the program's, read with the same limits; conversions by hand."""
import json
import math
import unittest

import numpy as np

import afterimage
from case import ROOT, Case
from afterimage import convert, filled, norms, patterns, tables
from afterimage.convert import convert as converted

# The mapping file of docs/imports.md, but for its `fill`.
VARIANT = {
    "sentence": "two mixers of my own",
    "needs": ["enc.{i}.att.query"],
    "sizes": {"dim": "size(enc.0.att.query, 0)"},
    "settings": {"model.task": "layer", "model.mixer": "aft-simple", "model.dim": "=dim",
                 "model.layers": "=count(enc.{i}.att.query)", "model.height": 1, "model.width": 6,
                 "model.output_projection": False, "model.qkv_bias": "=has(enc.0.att.bias)", "model.norm_eps": "1e-6"},
    "tensors": [
        {"from": "enc.{i}.att.query", "to": "blocks.{i}.mixer.q.weight", "transpose": True},
        {"from": "enc.{i}.att.kv", "to": ["blocks.{i}.mixer.k.weight", "blocks.{i}.mixer.v.weight"]},
        {"from": "steps", "drop": "a counter of the training"},
    ],
}


def variant_state(layers=2, dim=3):
    rng = np.random.default_rng(0)
    state = {"steps": np.array(5)}
    for i in range(layers):
        state[f"enc.{i}.att.query"] = rng.standard_normal((dim, dim))
        state[f"enc.{i}.att.kv"] = rng.standard_normal((2 * dim, dim)).astype(np.float16)
    return state


def rish16_state(dim=4, hidden=3, tokens=5):
    rng = np.random.default_rng(1)
    shapes = {"to_q": (hidden, dim), "to_k": (hidden, dim), "to_v": (hidden, dim), "project": (dim, hidden)}
    state = {f"{name}.weight": rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    state.update({f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in shapes.items()})
    return {**state, "wbias": rng.standard_normal((tokens, tokens)).astype(np.float32)}


class Patterns(Case):
    def test_match(self):
        cases = [("a.{i}.b", "a.12.b", {"i": "12"}), ("a.{i}.b", "a.x.b", None),
                 ("{a}.{p}", "x.weight", {"a": "x", "p": "weight"}),
                 ("{a}.{p}", "x.y.weight", None), ("{p}.{p}", "x.x", {
                  "p": "x"}), ("{p}.{p}", "x.y", None), ("a+b", "a+b", {}),
                 ("a+b", "aab", None), ("{i}", "", None)]
        for pattern, name, bound in cases:
            with self.subTest(pattern=pattern, name=name):
                self.assertEqual(patterns.match(pattern, name), bound)
        self.assertEqual(patterns.fill_in("b.{i}.{p}", {"i": "3", "p": "w"}), "b.3.w")
        self.fails(["{q}"], patterns.fill_in, "{q}", {})
        self.fails(["placeholder"], patterns.match, "a.{i", "a.1")

    def test_expressions(self):
        facts = patterns.Facts(lambda name, axis: {("w", 0): 8, ("a.b", 1): 3}[
                               name, axis], lambda p: 4, lambda n: 5, lambda p: p == "x")
        table = patterns.SizeTable({"dim": "size(w, 0)", "double": "2 * dim", "loop": "loop + 1"}, facts)
        cases = {"1 + 2 * 3": 7, "(1 + 2) * 3": 9, "7 - 2 - 1": 4, "8 / 2 / 2": 2, "sqrt(dim * 2)": 4,
                 "double - size(a.b, 1)": 13,
                 "count(blocks.{i}.w) + ones(m)": 9, "has(x)": 1, "has(y)": 0, " 3 ": 3}
        for text, value in cases.items():
            self.assertEqual(patterns.evaluate(text, table), value, text)
        bad = ["", "1 +", "(1", "1)", "1 / 0", "sqrt(0 - 1)", "nothing", "wrong(1)", "loop", "1 2",
               "((((" * 20 + "1" + "))))" * 20,
               "9" * 40, "1" * 600, "size(w)", "1 ; 2", "__import__"]
        for text in bad:
            with self.subTest(text):
                self.fails([], patterns.evaluate, text, table)
        self.fails(["not a whole number"], patterns.whole_number, "1 / 2", table)
        self.fails(["not a whole number"], patterns.whole_number, "1 - 2", table)


class Tables(Case):
    def test_all_of_the_program_s(self):
        names = {table.name for table in tables.known_tables()}
        self.assertEqual(names, {p.stem for p in (ROOT / "assets" / "imports").glob("*.json")})

    def test_the_page_s_example(self):
        page = (ROOT / "docs/imports.md").read_text()
        text = page[page.index("```json") + 7:]
        found = json.loads(text[:text.index("```")])
        table = tables.make_table(found, "variant", "variant.json")
        self.assertEqual(len(table.rules), 3)
        weights = converted(variant_state(), {}, table).weights
        self.assertEqual({name for name in weights if name.endswith("bias")},
                         {f"blocks.{i}.mixer.{n}.bias" for i in (0, 1) for n in "qkv"})
        for name, value in weights.items():
            if name.endswith("bias"):
                np.testing.assert_array_equal(value, np.zeros(3, np.float32), name)

    def test_refusals(self):
        def table(**change):
            return {**VARIANT, **change}
        rule = VARIANT["tensors"][0]
        cases = {"unknown key 'need'; did you mean 'needs'?": table(need=[]), "'tensors' lists": table(tensors=[]),
                 "m.json: tensors[0]: unknown key 'form'": table(tensors=[{"form": "a", "to": "b"}]),
                 "either 'to'": table(tensors=[{"from": "a"}]),
                 "'check' is 'bend'": table(tensors=[{"from": "a", "drop": "b", "check": "bend"}]),
                 "true or false": table(tensors=[{**rule, "transpose": 1}]),
                 "500 rules": table(tensors=[rule] * 501), "a list of texts": table(needs=[1.5]), "an object": [1],
                 "a text": table(sentence=[]),
                 "'from' says": table(tensors=[{"to": "a"}]), "'x' is a number": table(fill={"x": "y"})}
        for words, value in cases.items():
            with self.subTest(words):
                self.fails(["m.json", words], tables.make_table, value, "m", "m.json")
        self.fails(["gone.json", "No such file"], tables.read_table, self.folder / "gone.json")
        (self.folder / "m.json").write_text("{")
        self.fails(["m.json", "not valid JSON"], tables.read_table, self.folder / "m.json")


class Conversions(Case):
    def test_by_hand(self):
        state = variant_state()
        found = converted(state, {}, tables.make_table(VARIANT, "variant", "variant"))
        self.assertEqual(found.settings, {"task": "layer", "mixer": "aft-simple", "dim": 3, "layers": 2, "height": 1,
                                          "width": 6,
                                          "output_projection": False, "qkv_bias": False, "norm_eps": 1e-6})
        self.assertEqual(set(found.weights), {f"blocks.{i}.mixer.{n}.weight" for i in (0, 1) for n in "qkv"})
        np.testing.assert_array_equal(
    found.weights["blocks.1.mixer.q.weight"],
    state["enc.1.att.query"].T.astype(
        np.float32))
        np.testing.assert_array_equal(found.weights["blocks.0.mixer.v.weight"],
                                      state["enc.0.att.kv"][3:].astype(np.float32))
        self.assertEqual(found.dropped, {"steps": "a counter of the training"})
        self.assertEqual({w.dtype for w in found.weights.values()}, {np.dtype(np.float32)})

    def test_fill(self):
        whole = {"dim": 2, "layers": 1, "task": "text"}
        weights = {"embed.token.weight": np.ones((9, 2)), "blocks.0.mixer.q.weight": np.ones((3, 2)),
                   "blocks.0.mixer.kernel": np.ones((4, 5)), "blocks.0.norm1.weight": np.ones(2)}
        cases = {("blocks.{i}.mixer.q.bias",): {"blocks.0.mixer.q.bias": (3,)},
                 ("blocks.{i}.mixer.{g}",): {"blocks.0.mixer.gamma": (4,), "blocks.0.mixer.beta": (4,)},
                 ("norm.{p}", "blocks.{i}.norm1.{p}"): {"norm.weight": (2,), "norm.bias": (2,),
                                                        "blocks.0.norm1.bias": (2,)},
                 ("blocks.0.norm1.weight",): {}}
        for patterns_of, expected in cases.items():
            with self.subTest(patterns_of):
                found = filled.filled({p: 0.5 for p in patterns_of}, weights, whole)
                self.assertEqual({name: value.shape for name, value in found.items()}, expected)
                self.assertTrue(all((value == np.float32(0.5)).all() for value in found.values()))
        first = filled.filled({"{a}.bias": 1, "norm.bias": 2}, weights, whole)
        self.assertEqual(first["norm.bias"][0], 2)
        for pattern, settings in {"embed.token.bias": {}, "blocks.{i}.mixer.w": {}, "norm.bias": {"task": "layer"},
                                  "blocks.{i}.mixer.q.bias": {"qkv_bias": False},
                                  "blocks.0.mixer.gamma": {"naive_kernel": True}}.items():
            with self.subTest(pattern):
                self.fails(["'fill'", pattern, "afterimage import"], filled.filled, {pattern: 0}, weights,
                           {**whole, **settings})
        self.fails(["start anew"], converted, variant_state(), {},
                   tables.make_table({**VARIANT, "new": ["norm.bias"]}, "variant", "variant"))

    def test_rules_that_change_values(self):
        def one(value, sizes=None, **rule):
            table = tables.make_table({"needs": ["x"], "sizes": sizes or {}, "tensors": [
                {"from": "x", "to": "y", **rule}, {"from": "m", "drop": "a mask"}]}, "t", "t")
            return converted({"x": value, "m": np.eye(3)[:2] > 0}, {}, table).weights["y"]
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(one(x, first="1"), x[:1])
        np.testing.assert_array_equal(one(x, shape=["3", "n"], sizes={"n": "2"}), x.reshape(3, 2))
        np.testing.assert_allclose(one(x, scale="sqrt(2)"), x * np.float32(math.sqrt(2)))
        np.testing.assert_array_equal(one(x, times="m"), x * np.eye(3)[:2])
        np.testing.assert_array_equal(one(x, to=["-", "y"]), x[1:])
        for words, rule in {"first 3 rows": {"first": "3"}, "cannot become [5]": {"shape": ["5"]},
                            "cut into 3": {"to": ["y", "a", "b"]},
                            "both become": {"to": ["y", "y"]}, "'gone'": {"times": "gone"},
                            "{q}": {"to": "y{q}"}}.items():
            with self.subTest(words):
                self.fails(["'x'", words], one, x, **rule)
        np.testing.assert_array_equal(one(x, transpose=True), x.T)
        np.testing.assert_array_equal(one(x[None], transpose=True), x.T[None])
        for value in (x[0], np.stack([x, x])):
            self.fails(["two axes are swapped, or the last two behind axes of one"], one, value, transpose=True)
        for words, value in {"complex": x * 1j, "float64 values beyond float32": x.astype(float) + 1e300,
            "NaN or infinite": np.where(x > 3, np.nan, x)}.items():
            self.fails(["'x'", words], one, value)

    def test_copies(self):
        def found(to, settings=None, **more):
            table = tables.make_table({"needs": ["x"], "settings": settings or {}, "tensors": [
                {"from": "x", "to": to, "copy": True},
                {"from": "deep.{i}.z", "to": "blocks.{i}.mixer.u", "copy": True}]}, "t", "t")
            return converted({"x": x, **more}, {}, table)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        weights = found(["a", "b.weight"]).weights  # cut into parts, were they no copies
        self.assertEqual(list(weights), ["a", "b.weight"])
        np.testing.assert_array_equal(weights["a"], x)
        np.testing.assert_array_equal(weights["b.weight"], x)
        for layers in (3, "3", "=count(deep.{i}.z)", "=1 + 2 * has(x)"):
            weights = found(["blocks.{i}.mixer.w", "head.weight"], {"model.layers": layers},
                            **{f"deep.{i}.z": x + i for i in range(3)}).weights
            self.assertEqual(set(weights), {"head.weight", *(f"blocks.{i}.mixer.{n}" for i in range(3) for n in "wu")})
            for i in range(3):
                np.testing.assert_array_equal(weights[f"blocks.{i}.mixer.w"], x)
                np.testing.assert_array_equal(weights[f"blocks.{i}.mixer.u"], x + i)
        self.assertEqual(found(["a", "-"]).dropped, {"x": "no place for it here"})
        self.fails(["both become 'a'"], found, ["a", "a"])
        self.fails(["'x'", "needs the setting 'model.layers'"], found, "blocks.{i}.w")
        for wrong in ("many", 2.5, True, 0, 513):
            self.fails(["'model.layers' is", "1 to 512"], found, "blocks.{i}.w", {"model.layers": wrong})

    def test_masks(self):
        """-infinity in w where a mask of the file hides a pair; its norm is that of the pairs that are seen."""
        w = np.arange(9, dtype=np.float32).reshape(3, 3)
        seen = np.tril(np.ones((3, 3), bool))
        expected = np.where(seen, w, -np.inf)

        def found(mask, **rule):
            table = tables.make_table({"tensors": [{"from": "w", "to": "blocks.0.mixer.w", **rule},
                                                   {"from": "m", "drop": "in w"}]}, "t", "t")
            return converted({"w": w, "m": mask}, {}, table).weights["blocks.0.mixer.w"]
        for rule, mask in (("visible", seen), ("visible", seen[None, None].astype(np.float32)), ("hidden", ~seen)):
            value = found(mask, **{rule: "m"})
            self.assertEqual(value.dtype, np.float32)
            np.testing.assert_array_equal(value, expected)
        np.testing.assert_array_equal(found(seen, visible="m", transpose=True), expected.T)
        norm = norms.bias_norms({"blocks.0.mixer.w": expected}, {})["bias_norm.layer.0"]
        self.assertAlmostEqual(norm, float(np.linalg.norm(w[seen])), 5)
        self.fails(["'w'", "the mask 'm' has [2, 3]"], found, np.ones((2, 3)), visible="m")
        self.fails(["'w'", "no tensor 'n'"], found, seen, hidden="n")

    def test_heads(self):
        """Of the modules where they are there; else 64 channels each, with words, unless the user says it."""
        def found(width, given=None, heads=(), setting="=dim / 64"):
            table = tables.make_table({"needs": ["x"], "sizes": {"dim": "size(x, 0)"}, "tensors": [
                {"from": "x", "to": "y"}], "settings": {"model.heads": setting}}, "t", "t")
            out = converted({"x": np.zeros((width, 1))}, given or {}, table, heads)
            return out.settings["heads"], out.assumed
        self.assertEqual(found(192, heads={6}), (6, ""))
        self.assertEqual(found(96, heads={6}), (6, ""))
        self.assertEqual(found(192, {"model.heads": 4}, {6}), (4, ""))
        self.assertEqual(found(96, {"model.heads": 4}), (4, ""))
        self.assertEqual(found(192, heads={6}, setting="=dim / 32"), (6, ""))  # as it says: not assumed
        self.assertEqual(found(192, heads={4}, setting=2), (2, ""))
        heads, words = found(192)
        self.assertEqual(heads, 3)
        self.assertIn('3 of 64 channels are assumed', words)
        self.assertIn('config={"model": {"heads": N}}', words)
        heads, words = found(192, heads={6, 2})
        self.assertEqual(heads, 3)
        self.assertIn("different numbers of heads (2, 6)", words)
        self.fails(["'dim / 64' is 1.5", "not in a state dict", 'config={"model": {"heads": N}}'], found, 96)

    def test_recognised(self):
        state = rish16_state()
        for prefix in ("", "module.", "state_dict.model.", "_orig_mod.", "module._orig_mod."):
            found = converted({prefix + name: w for name, w in state.items()}, {})
            self.assertEqual((found.table.name, found.settings["inner"], found.settings["width"]), ("rish16", 3, 5))
            np.testing.assert_array_equal(found.weights["blocks.0.mixer.w"], state["wbias"])
        found = converted(state, {"model.window": 2})
        self.assertEqual((found.table.name, found.settings["window"]), ("rish16-local", 2))

    def test_not_recognised(self):
        state = rish16_state()
        self.fails(["nearest origin is rish16", "7 of 9", "missing: 'to_k.weight'; did you mean 'to_key.weight'",
                    "mapping="], converted,
                   {n.replace("to_k.", "to_key."): w for n, w in state.items()}, {})
        self.fails(["no rule knows", "'extra'"], converted, {**state, "extra": np.zeros(2)}, {})
        self.fails(["knows a single name", "zzz"], converted, {"zzz": np.zeros(2)}, {})
        self.fails(["RWKV", "refused"], converted, {"blocks.0.att.time_decay": np.zeros(2)}, {})
        gap = {k: v for k, v in variant_state(3).items() if ".1." not in k}
        self.fails(["layer 1 is missing"], converted, gap, {}, tables.make_table(VARIANT, "v", "v"))
        self.fails(["does not fit v", "missing: 'enc.{i}.att.query'"],
                   converted, state, {}, tables.make_table(VARIANT, "v", "v"))
        self.fails(["afterimage needs", "model"], converted, {"blocks.0.mixer.k.weight": np.zeros((2, 2))}, {},
                   next(t for t in tables.known_tables() if t.name == "afterimage"))

    def test_checks_of_what_is_dropped(self):
        T, d, window = 6, 4, 2
        t, j = np.ogrid[:T, :T]
        mask = abs(t - j) < window
        state = {f"{n}.weight": np.eye(d) for n in ("query", "key", "value", "output")}
        state |= {"pos_bias": np.zeros((T, T)), "local_mask": mask}
        self.assertEqual(converted(state, {}).settings["window"], window)
        self.fails(["'local_mask'", "is not the band"], converted, {**state, "local_mask": np.tril(mask)}, {})

        def found(settings):  # a setting that is a number is a size, too
            table = tables.make_table({"settings": settings, "tensors": [
                {"from": "w", "to": "blocks.0.mixer.w"}, {"from": "m", "drop": "a band", "check": "band"}]}, "t", "t")
            return converted({"w": np.zeros((T, T)), "m": mask}, {}, table).settings
        self.assertEqual(found({"model.window": window}), {"window": window})
        self.fails(["unknown size 'window'"], found, {})
        self.fails(["is not the band"], found, {"model.window": 3})


class Models(Case):
    """Whole models in a run."""

    def test_a_model_in_a_run(self):
        state = rish16_state()
        with afterimage.Run(self.path, {"name": "layer"}) as run:
            run.save(0, state, wait=True)
            run.save(3, {**state, "wbias": state["wbias"] + 1}, wait=True)
            self.fails(["other settings", "width"], run.save, 4, rish16_state(tokens=6), wait=True)
        run = afterimage.load(self.path)
        self.assertEqual((run.step, run.config["model"]["mixer"], run.config["train"], run.description["task"]),
                         (3, "aft-full", {"steps": 0}, "layer"))
        np.testing.assert_array_equal(run.tensors["blocks.0.mixer.w"], state["wbias"] + 1)
        steps, norms = run.column("bias_norm.layer.0")
        np.testing.assert_array_equal(steps, [0, 3])
        self.assertAlmostEqual(norms[0], float(np.linalg.norm(state["wbias"].astype(float))))
        self.assertEqual(afterimage.load(self.path, step=0).step, 0)
        self.fails(["no checkpoint of step 2", "0, 3"], afterimage.load, self.path, step=2)
        self.fails(["'lr' is not logged", "bias_norm.layer.0"], run.column, "lr")

    def test_a_resumed_run_keeps_its_data(self):
        data = {"source": "text:/somewhere/input.txt?alphabet=used"}
        with afterimage.Run(self.path, {"data": data, "train": {"seed": 7}}) as run:
            run.save(0, rish16_state(), wait=True)
        with afterimage.Run(self.path, resume=True) as run:
            run.save(1, rish16_state(), wait=True)
        config = afterimage.load(self.path).config
        self.assertEqual((config["data"], config["train"]["seed"]), (data, 7))
        with afterimage.Run(self.path, {"data": {"source": "mirror"}}, resume=True) as run:
            run.save(2, rish16_state(), wait=True)
        self.assertEqual(afterimage.load(self.path).description["config"]["data"], {"source": "mirror"})

    def test_own_variant(self):
        (self.folder / "v.json").write_text(json.dumps(VARIANT))
        for mapping in (VARIANT, self.folder / "v.json", str(self.folder / "v.json")):
            with afterimage.Run(self.path, resume=True) as run:
                run.save(run.step + 1, variant_state(), mapping=mapping, wait=True)
        self.assertEqual(afterimage.load(self.path).steps, [1, 2, 3])

    def test_nothing_is_written_of_what_is_refused(self):
        with afterimage.Run(self.path) as run:
            self.fails(["not recognised"], run.save, 0, {"to_q.weight": np.zeros((2, 2))})
            bad = rish16_state()
            bad["wbias"][0, 0] = np.nan
            self.fails(["'wbias'", "1 values that are NaN"], run.save, 0, bad)
            self.assertEqual(list((self.path / "checkpoints").iterdir()), [])
            run.save(0, rish16_state(), wait=True)
            found = self.warned(lambda: (run.save(1, bad), run.flush()))
            self.assertEqual(len(found), 1)
            self.assertIn("NaN", found[0])
        self.assertEqual(afterimage.load(self.path).steps, [0])

    def test_norm_of_a_band(self):
        state = rish16_state()
        with afterimage.Run(self.path, {"model": {"window": 2}}) as run:
            run.save(0, state, wait=True)
        t, j = np.ogrid[:5, :5]
        expected = np.linalg.norm(np.where(abs(t - j) < 2, state["wbias"], 0).astype(float))
        self.assertAlmostEqual(self.lines()[0]["bias_norm.layer.0"], float(expected))

    def test_load_refuses(self):
        self.fails(["gone", "no such file"], afterimage.load, self.folder / "gone")
        self.fails(["not a run folder"], afterimage.load, self.folder)
        for words, text in {"not valid JSON": "{", "unknown key 'x'": '{"x": 1}',
                            "format_version": '{"format_version": 2, "maps": {}}',
                            "one of the keys": "{}", "must be an object": '{"config": 3}'}.items():
            file = self.folder / "x.safetensors"
            afterimage.safetensors.write(file, {}, {"afterimage": text})
            self.fails(["x.safetensors", words], afterimage.load, file)


if __name__ == "__main__":
    unittest.main()
