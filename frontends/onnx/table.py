"""Every operator that can be imported, by domain and name."""

from collections.abc import Mapping

from aicc.frontends.onnx import (
    ops_control,
    ops_conv_transpose,
    ops_dft,
    ops_einsum,
    ops_elementwise,
    ops_generators,
    ops_grid,
    ops_indexing,
    ops_linear_algebra,
    ops_loop,
    ops_microsoft,
    ops_microsoft_attention,
    ops_microsoft_quantize,
    ops_movement,
    ops_nn,
    ops_norm,
    ops_pad,
    ops_pooling,
    ops_quantize,
    ops_range,
    ops_recurrent,
    ops_reduce,
    ops_resize,
    ops_roi,
    ops_sampling,
    ops_selection,
    ops_sequences,
    ops_slice,
    ops_stft,
    ops_tensor_lists,
    ops_tfidf,
    ops_top_k,
    ops_training,
    ops_unique,
)
from aicc.frontends.onnx.context import Handler

_STANDARD = (
    ops_control,
    ops_conv_transpose,
    ops_dft,
    ops_einsum,
    ops_elementwise,
    ops_generators,
    ops_grid,
    ops_indexing,
    ops_linear_algebra,
    ops_loop,
    ops_movement,
    ops_nn,
    ops_norm,
    ops_pad,
    ops_pooling,
    ops_quantize,
    ops_range,
    ops_recurrent,
    ops_reduce,
    ops_resize,
    ops_roi,
    ops_sampling,
    ops_selection,
    ops_slice,
    ops_sequences,
    ops_stft,
    ops_tensor_lists,
    ops_tfidf,
    ops_top_k,
    ops_unique,
)

_MICROSOFT = (
    ops_microsoft.HANDLERS,
    ops_microsoft_attention.HANDLERS,
    ops_microsoft_quantize.HANDLERS,
    ops_recurrent.MICROSOFT,
)

HANDLERS: Mapping[tuple[str, str], Handler] = {
    **{("", name): handler for module in _STANDARD for name, handler in module.HANDLERS.items()},
    **{("", name): handler for name, handler in ops_microsoft.STANDARD.items()},
    **{("ai.onnx.preview.training", name): handler for name, handler in ops_training.HANDLERS.items()},
    **{("com.microsoft", name): handler for handlers in _MICROSOFT for name, handler in handlers.items()},
}
"""(domain, operator) -> what makes its ops; the domain of the standard operators is empty."""
