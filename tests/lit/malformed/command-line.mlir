// RUN: %exits 2 aicc-opt %s --target 2>&1 | filecheck %s --check-prefix=NOVALUE
// RUN: %exits 2 aicc-opt %s --emit=exe 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: %exits 2 aicc-opt %s --verify-each=maybe 2>&1 | filecheck %s --check-prefix=BOOL
// RUN: %exits 2 aicc-opt %s --elide-elementsattrs-if-larger=many 2>&1 | filecheck %s --check-prefix=INT
// RUN: %exits 2 aicc-opt %s another.mlir 2>&1 | filecheck %s --check-prefix=TWO
// RUN: %exits 2 aicc-opt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=CONFIG

// Command lines that cannot be used.

// NOVALUE: aicc-opt: argument --target: expected one argument (see aicc-opt --help)
// NOVALUE-NOT: {{(error:|Traceback)}}

// CHOICE: aicc-opt: argument --emit: invalid choice: 'exe' (choose from 'mlir', 'llvm', 'asm', 'obj') (see aicc-opt --help)
// CHOICE-NOT: {{(error:|Traceback)}}

// BOOL: aicc-opt: argument --verify-each: 'maybe' is not true or false (see aicc-opt --help)
// BOOL-NOT: {{(error:|Traceback)}}

// INT: aicc-opt: argument --elide-elementsattrs-if-larger/--mlir-elide-elementsattrs-if-larger: invalid int value: 'many' (see aicc-opt --help)
// INT-NOT: {{(error:|Traceback)}}

// TWO: aicc-opt: unrecognized arguments: another.mlir (see aicc-opt --help)
// TWO-NOT: {{(error:|Traceback)}}

// CONFIG: aicc-opt: '{{.*}}.mlir' has no '// configuration:' comment to run
// CONFIG-NOT: {{(error:|Traceback)}}
