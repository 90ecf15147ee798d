"""The passes that stay within a level: name -> where the pass is. Sorted by name; one line each."""

from aicc.transforms.registry import PassEntry

PASSES: dict[str, PassEntry] = {
    "graph-decompose": PassEntry(
        "aicc.transforms.graph_decompose",
        "GraphDecomposePass",
        "replaces ops by the simpler ones they are made of",
    ),
    "graph-fix-sizes": PassEntry(
        "aicc.transforms.graph_fix_sizes",
        "GraphFixSizesPass",
        "puts numbers in the place of symbols of sizes",
    ),
    "graph-fold-batch-norm": PassEntry(
        "aicc.transforms.graph_fold_batch_norm",
        "GraphFoldBatchNormPass",
        "folds batch normalisations with constant parameters into weights",
    ),
    "graph-fold-constants": PassEntry(
        "aicc.transforms.graph_fold_constants",
        "GraphFoldConstantsPass",
        "computes what small constants alone decide",
    ),
    "graph-fuse": PassEntry(
        "aicc.transforms.graph_fuse",
        "GraphFusePass",
        "groups ops into kernels",
    ),
    "graph-hoist-invariants": PassEntry(
        "aicc.transforms.graph_hoist_invariants",
        "GraphHoistInvariantsPass",
        "computes before a loop what is the same in each iteration",
    ),
    "graph-infer-shapes": PassEntry(
        "aicc.transforms.graph_infer_shapes",
        "GraphInferShapesPass",
        "infers all types and lists what is left to check at run time",
    ),
    "graph-inline-calls": PassEntry(
        "aicc.transforms.graph_inline_calls",
        "GraphInlineCallsPass",
        "puts the bodies of called functions in the place of their calls",
    ),
    "graph-merge-equal": PassEntry(
        "aicc.transforms.graph_merge_equal",
        "GraphMergeEqualPass",
        "computes once what is computed twice from the same operands",
    ),
    "graph-quantised-products": PassEntry(
        "aicc.transforms.graph_quantised_products",
        "GraphQuantisedProductsPass",
        "makes products of dequantised tensors products of integers",
    ),
    "graph-simplify": PassEntry(
        "aicc.transforms.graph_simplify",
        "GraphSimplifyPass",
        "removes ops that do nothing and applies algebra that is exact",
    ),
    "graph-simplify-control": PassEntry(
        "aicc.transforms.graph_simplify_control",
        "GraphSimplifyControlPass",
        "removes what loops carry and branches give for nothing",
    ),
    "loops-apply-schedules": PassEntry(
        "aicc.transforms.loops_apply_schedules",
        "LoopsApplySchedulesPass",
        "carries out the schedules of kernels and removes them",
    ),
    "loops-auto-schedule": PassEntry(
        "aicc.transforms.loops_auto_schedule",
        "LoopsAutoSchedulePass",
        "writes a schedule for each kernel that has none",
    ),
    "loops-bypass-caches": PassEntry(
        "aicc.transforms.loops_bypass_caches",
        "LoopsBypassCachesPass",
        "writes a result of a kernel to memory past the caches",
    ),
    "loops-privatize": PassEntry(
        "aicc.transforms.loops_privatize",
        "LoopsPrivatizePass",
        "gives iterations scratch of their own for what they write to a result and read again",
    ),
    "loops-read-ahead": PassEntry(
        "aicc.transforms.loops_read_ahead", "LoopsReadAheadPass", "fetches what is read later into the cache of a core"
    ),
    "loops-collapse": PassEntry(
        "aicc.transforms.loops_collapse", "LoopsCollapsePass", "makes one loop of two perfectly nested ones"
    ),
    "loops-fuse": PassEntry(
        "aicc.transforms.loops_fuse",
        "LoopsFusePass",
        "makes one loop of neighbouring loops over the same indices",
    ),
    "loops-expand-math": PassEntry(
        "aicc.transforms.loops_expand_math", "LoopsExpandMathPass", "replaces transcendental functions by polynomials"
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
    "loops-join-rests": PassEntry(
        "aicc.transforms.loops_join_rests",
        "LoopsJoinRestsPass",
        "adds what does not fill a vector to the vector of full tiles, which is summed up once",
    ),
    "loops-narrow-lanes": PassEntry(
        "aicc.transforms.loops_narrow_lanes",
        "LoopsNarrowLanesPass",
        "makes vectors that are only partly in use as wide as what is used of them",
    ),
    "loops-note-work": PassEntry(
        "aicc.transforms.loops_note_work", "LoopsNoteWorkPass", "makes kernels note what they compute, and how"
    ),
    "loops-pack": PassEntry(
        "aicc.transforms.loops_pack", "LoopsPackPass", "lets a kernel read an input from a packed copy"
    ),
    "loops-parallelize": PassEntry(
        "aicc.transforms.loops_parallelize", "LoopsParallelizePass", "spreads the iterations of a loop over threads"
    ),
    "loops-partial-results": PassEntry(
        "aicc.transforms.loops_partial_results",
        "LoopsPartialResultsPass",
        "computes a reduction in parts that are independent of each other",
    ),
    "loops-plan-memory": PassEntry(
        "aicc.transforms.loops_plan_memory",
        "LoopsPlanMemoryPass",
        "gives every intermediate of main a place in one arena",
    ),
    "loops-profile": PassEntry(
        "aicc.transforms.loops_profile", "LoopsProfilePass", "makes main note how long each kernel call takes"
    ),
    "loops-prefetch": PassEntry(
        "aicc.transforms.loops_prefetch",
        "LoopsPrefetchPass",
        "fetches what the next iteration of a loop reads into a cache",
    ),
    "loops-simplify": PassEntry(
        "aicc.transforms.loops_simplify",
        "LoopsSimplifyPass",
        "brings loops into canonical form",
    ),
    "loops-split": PassEntry(
        "aicc.transforms.loops_split", "LoopsSplitPass", "makes two perfectly nested loops of one"
    ),
    "loops-split-reduction": PassEntry(
        "aicc.transforms.loops_split_reduction",
        "LoopsSplitReductionPass",
        "takes a reduction some steps at a time, around the loops over its results",
    ),
    "loops-store-padded": PassEntry(
        "aicc.transforms.loops_store_padded",
        "LoopsStorePaddedPass",
        "stores results with the padding that their readers need",
    ),
    "loops-stage": PassEntry(
        "aicc.transforms.loops_stage", "LoopsStagePass", "reads an input from a copy of the part that a loop needs"
    ),
    "loops-sum-in-blocks": PassEntry(
        "aicc.transforms.loops_sum_in_blocks",
        "LoopsSumInBlocksPass",
        "makes long floating-point sums out of partial sums, which are more exact",
    ),
    "loops-tile": PassEntry(
        "aicc.transforms.loops_tile", "LoopsTilePass", "splits loops into loops over tiles and within tiles"
    ),
    "loops-tile-some": PassEntry(
        "aicc.transforms.loops_tile_some", "LoopsTileSomePass", "makes some full tiles, as many as sizes say"
    ),
    "loops-unroll": PassEntry("aicc.transforms.loops_unroll", "LoopsUnrollPass", "repeats the body of a loop"),
    "loops-vectorize": PassEntry(
        "aicc.transforms.loops_vectorize", "LoopsVectorizePass", "makes loops the axes of n-D vectors"
    ),
    "tensor-ops-assign-layouts": PassEntry(
        "aicc.transforms.tensor_ops_assign_layouts",
        "TensorOpsAssignLayoutsPass",
        "stores what convolutions read and write with channels last",
    ),
    "tensor-ops-dot-products": PassEntry(
        "aicc.transforms.tensor_ops_dot_products",
        "TensorOpsDotProductsPass",
        "sums products of narrow integers by instructions for dot products",
    ),
    "tensor-ops-fuse": PassEntry(
        "aicc.transforms.tensor_ops_fuse", "TensorOpsFusePass", "joins the structured ops of each kernel"
    ),
    "tensor-ops-materialize-padding": PassEntry(
        "aicc.transforms.tensor_ops_materialize_padding",
        "TensorOpsMaterializePaddingPass",
        "gives contractions padded copies of inputs that they read out of bounds",
    ),
    "tensor-ops-outline-kernels": PassEntry(
        "aicc.transforms.tensor_ops_outline_kernels",
        "TensorOpsOutlineKernelsPass",
        "makes functions of kernels, one for all equal ones",
    ),
    "tensor-ops-version-kernels": PassEntry(
        "aicc.transforms.tensor_ops_version_kernels",
        "TensorOpsVersionKernelsPass",
        "gives kernels a second version for small sizes, chosen at run time",
    ),
    "tensor-ops-widen-floats": PassEntry(
        "aicc.transforms.tensor_ops_widen_floats",
        "TensorOpsWidenFloatsPass",
        "converts operands of contractions from f16 and bf16 to f32 once",
    ),
    "tensor-ops-winograd": PassEntry(
        "aicc.transforms.tensor_ops_winograd", "TensorOpsWinogradPass", "convolves by Winograd's algorithm"
    ),
}
