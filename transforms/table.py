"""The passes that stay within a level: name -> where the pass is. Sorted by name; one line each."""

from aicc.transforms.registry import PassEntry

PASSES: dict[str, PassEntry] = {
    "loops-apply-schedules": PassEntry(
        "aicc.transforms.loops_apply_schedules",
        "LoopsApplySchedulesPass",
        "carries out the schedules of kernels and removes them",
    ),
    "loops-collapse": PassEntry(
        "aicc.transforms.loops_collapse", "LoopsCollapsePass", "makes one loop of two perfectly nested ones"
    ),
    "loops-hoist-allocs": PassEntry(
        "aicc.transforms.loops_hoist_allocs",
        "LoopsHoistAllocsPass",
        "turns large scratch buffers of kernels into arguments",
    ),
    "loops-hoist-constants": PassEntry(
        "aicc.transforms.loops_hoist_constants",
        "LoopsHoistConstantsPass",
        "moves what depends on constants alone from main to prepare",
    ),
    "loops-interchange": PassEntry(
        "aicc.transforms.loops_interchange", "LoopsInterchangePass", "reorders perfectly nested loops"
    ),
    "loops-pack": PassEntry(
        "aicc.transforms.loops_pack", "LoopsPackPass", "lets a kernel read an input from a packed copy"
    ),
    "loops-parallelize": PassEntry(
        "aicc.transforms.loops_parallelize", "LoopsParallelizePass", "spreads the iterations of a loop over threads"
    ),
    "loops-plan-memory": PassEntry(
        "aicc.transforms.loops_plan_memory",
        "LoopsPlanMemoryPass",
        "gives every intermediate of main a place in one arena",
    ),
    "loops-tile": PassEntry(
        "aicc.transforms.loops_tile", "LoopsTilePass", "splits loops into loops over tiles and within tiles"
    ),
    "loops-unroll": PassEntry("aicc.transforms.loops_unroll", "LoopsUnrollPass", "repeats the body of a loop"),
    "loops-vectorize": PassEntry(
        "aicc.transforms.loops_vectorize", "LoopsVectorizePass", "makes loops the axes of n-D vectors"
    ),
    "tensor-ops-fuse": PassEntry(
        "aicc.transforms.tensor_ops_fuse", "TensorOpsFusePass", "joins the structured ops of each kernel"
    ),
}
