// RUN: aicc-opt --show-passes | filecheck %s --check-prefix=PASSES
// RUN: aicc-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: aicc-opt --version | filecheck %s --check-prefix=VERSION
// RUN: aicc-opt --help | filecheck %s --check-prefix=HELP

// PASSES: Passes of aicc:
// PASSES: Other passes (xDSL and plug-ins):
// PASSES: canonicalize
// PASSES: scf-parallel-loop-tiling
// PASSES-NEXT: parallel-loop-tile-sizes {{ +}}list of int, required
// PASSES: Named pipelines:
// PASSES: O0
// PASSES: O2

// DIALECTS: arith {{.*}} aicc
// DIALECTS: func {{.*}} xdsl
// DIALECTS: graph {{.*}} aicc
// DIALECTS: llvm {{.*}} aicc

// VERSION: aicc {{[0-9.]+}} (xdsl {{[0-9.]+}}, llvmlite {{[0-9.]+}}, numpy {{[0-9.]+}})
// HELP: usage: aicc-opt [options]
