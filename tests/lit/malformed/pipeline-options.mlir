// RUN: %exits 2 aicc-opt %s -p 'canonicalize{deep=true}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-size=4}' 2>&1 | filecheck %s --check-prefix=NEAREST
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=four}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=4 parallel_loop_tile_sizes=5}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling' 2>&1 | filecheck %s --check-prefix=REQUIRED
// RUN: %exits 2 aicc-opt %s -p 'convert-scf-to-openmp{schedule=dynamics}' 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: %exits 2 aicc-opt %s --scf-parallel-loop-tiling=sizes=4 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: %exits 2 aicc-opt %s -p 'convert-scf-to-openmp{nested=maybe}' 2>&1 | filecheck %s --check-prefix=BOOL
// RUN: %exits 2 aicc-opt %s -p 'O2{x=1}' 2>&1 | filecheck %s --check-prefix=PIPELINE

// Options that a pass does not take.

// NONE: aicc-opt: pass 'canonicalize' has no option 'deep'; it has none
// NONE-NEXT: column 14 | canonicalize{deep=true}
// NONE-NOT: {{(error:|Traceback)}}

// NEAREST: aicc-opt: pass 'scf-parallel-loop-tiling' has no option 'parallel-loop-tile-size'; did you mean 'parallel-loop-tile-sizes'?
// NEAREST-NEXT: column 26 | scf-parallel-loop-tiling{parallel-loop-tile-size=4}
// NEAREST-NOT: {{(error:|Traceback)}}

// TYPE: aicc-opt: option 'parallel-loop-tile-sizes' of pass 'scf-parallel-loop-tiling' is 'four', expected list of int
// TYPE-NEXT: column 51 | scf-parallel-loop-tiling{parallel-loop-tile-sizes=four}
// TYPE-NOT: {{(error:|Traceback)}}

// TWICE: aicc-opt: option 'parallel-loop-tile-sizes' of pass 'scf-parallel-loop-tiling' is given twice
// TWICE-NEXT: column 53 | scf-parallel-loop-tiling{parallel-loop-tile-sizes=4 parallel_loop_tile_sizes=5}
// TWICE-NOT: {{(error:|Traceback)}}

// REQUIRED: aicc-opt: pass 'scf-parallel-loop-tiling' needs option 'parallel-loop-tile-sizes' (list of int)
// REQUIRED-NEXT: column 1 | scf-parallel-loop-tiling
// REQUIRED-NOT: {{(error:|Traceback)}}

// CHOICE: aicc-opt: option 'schedule' of pass 'convert-scf-to-openmp' is 'dynamics', expected static|dynamic|auto; did you mean 'dynamic'?
// CHOICE-NEXT: column 32 | convert-scf-to-openmp{schedule=dynamics}
// CHOICE-NOT: {{(error:|Traceback)}}

// FLAG: aicc-opt: pass 'scf-parallel-loop-tiling' has no option 'sizes'; its options are parallel-loop-tile-sizes
// FLAG-NEXT: column 28 | --scf-parallel-loop-tiling=sizes=4
// FLAG-NOT: {{(error:|Traceback)}}

// BOOL: aicc-opt: option 'nested' of pass 'convert-scf-to-openmp' is 'maybe', expected bool
// BOOL-NEXT: column 30 | convert-scf-to-openmp{nested=maybe}
// BOOL-NOT: {{(error:|Traceback)}}

// PIPELINE: aicc-opt: pipeline 'O2' takes no options
// PIPELINE-NEXT: column 4 | O2{x=1}
// PIPELINE-NOT: {{(error:|Traceback)}}
