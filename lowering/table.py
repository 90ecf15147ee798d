"""The passes that go from one level to the next: name -> where the pass is. Sorted by name; one line each."""

from aicc.transforms.registry import PassEntry

PASSES: dict[str, PassEntry] = {
    "convert-graph-to-tensor-ops": PassEntry(
        "aicc.lowering.graph_to_tensor_ops",
        "ConvertGraphToTensorOpsPass",
        "lowers graph ops to structured ops with index maps and scalar bodies",
    ),
    "convert-loops-to-llvm": PassEntry(
        "aicc.lowering.loops_to_llvm", "ConvertLoopsToLLVMPass", "lowers loops over memrefs to the llvm dialect"
    ),
    "convert-tensor-ops-to-loops": PassEntry(
        "aicc.lowering.tensor_ops_to_loops",
        "ConvertTensorOpsToLoopsPass",
        "lowers kernels to plain loop nests and main to calls over memrefs",
    ),
    "loops-load-schedules": PassEntry(
        "aicc.lowering.loops_load_schedules",
        "LoopsLoadSchedulesPass",
        "gives kernels the schedules that a file holds for them",
    ),
}
