"""The networks that are measured: built by script, the light ones of the `onnx` package, and those of a folder."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import onnx

from benchmarks.cases import Case, Inputs
from benchmarks.models import LIGHT, light
from benchmarks.networks.bert import encoder_transformer
from benchmarks.networks.halves import HALVES, in_half, tolerance
from benchmarks.networks.mobile import efficientnet_b0, mobilenet_v2, mobilenet_v3
from benchmarks.networks.quantised import convolutions_qdq, encoder_dynamic
from benchmarks.networks.resnet import resnet18, resnet50
from benchmarks.networks.small import mlp, tagger
from benchmarks.networks.unet import unet
from benchmarks.networks.vit import vit

BERT_BASE = partial(encoder_transformer, 12, 768, 12, vocabulary=30522)


def script_cases() -> list[Case]:
    """The networks that scripts of this folder build."""
    one, text = {"N": 1}, {"N": 1, "S": 128}
    return [
        Case("net/resnet18", resnet18),
        Case("net/resnet50", resnet50),
        Case("net/mobilenet_v2", mobilenet_v2, one),
        Case("net/mobilenet_v3", mobilenet_v3, one),
        Case("net/efficientnet_b0", efficientnet_b0, one),
        Case("net/vit_b16", vit),
        Case("net/bert_base", BERT_BASE, text),
        Case("net/encoder384", encoder_transformer, text),
        Case("net/encoder384_int8", encoder_dynamic, text, tolerance=5e-2),
        Case("net/convolutions_int8", convolutions_qdq, tolerance=1e-2),
        Case("net/unet", unet),
        *(Case(f"net/resnet18_{half}", partial(in_half, resnet18, half), tolerance=tolerance(half)) for half in HALVES),
        *(
            Case(f"net/encoder384_{half}", partial(in_half, encoder_transformer, half), text, tolerance=tolerance(half))
            for half in HALVES
        ),
        Case("net/mlp", mlp),
        Case("net/lstm_tagger", partial(tagger, "LSTM"), {"N": 1, "S": 64}),
        Case("net/gru_tagger", partial(tagger, "GRU"), {"N": 1, "S": 64}),
    ]


def _read_inputs(model: Path, data: Path) -> Inputs:
    """`in0`, `in1`, ... of the file by the names of the graph's inputs."""
    graph = onnx.load(model, load_external_data=False).graph
    stored = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in stored]
    with np.load(data) as arrays:
        return {name: arrays[f"in{i}"] for i, name in enumerate(names)}


def folder_cases(folder: Path) -> Iterator[Case]:
    """
    One case for each subfolder with a `model.onnx`, on the inputs of its first `caseN.npz`.

    Raises:
        FileNotFoundError: if there is none.
    """
    models = sorted(folder.glob("*/model.onnx"))
    if not models:
        raise FileNotFoundError(f"no subfolder of {folder} has a model.onnx")
    for model in models:
        data = min(model.parent.glob("case*.npz"), default=None)
        if data is None:
            raise FileNotFoundError(f"{model.parent} has a model.onnx and no caseN.npz with inputs")
        yield Case(f"folder/{model.parent.name}", partial(onnx.load, model), inputs=partial(_read_inputs, model, data))


def network_cases(folder: Path | None = None) -> list[Case]:
    """All networks, in the order of the tables."""
    lights = [Case(f"light/{name}", partial(light, name)) for name in LIGHT]
    return [*script_cases(), *lights, *(folder_cases(folder) if folder else ())]
