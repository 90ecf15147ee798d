// RUN: %exits 2 aicc-opt %s -p 'canonicalise' 2>&1 | filecheck %s --check-prefix=PASS
// RUN: %exits 2 aicc-opt %s -p 'cse,builtin.module(dead-code)' 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: %exits 2 aicc-opt %s -p 'builtin.module(func.fnc(cse))' 2>&1 | filecheck %s --check-prefix=ANCHOR
// RUN: %exits 2 aicc-opt %s -p 'arith.addi(cse)' 2>&1 | filecheck %s --check-prefix=ISOLATED
// RUN: %exits 2 aicc-opt %s -p 'cse(dce)' 2>&1 | filecheck %s --check-prefix=PASSANCHOR
// RUN: %exits 2 aicc-opt %s -p 'mystery.op(cse)' 2>&1 | filecheck %s --check-prefix=DIALECT
// RUN: %exits 2 aicc-opt %s -p 'O3' 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: %exits 2 aicc-opt %s -O1 2>&1 | filecheck %s --check-prefix=OFLAG
// RUN: %exits 2 aicc-opt %s --canonicalise 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: %exits 2 aicc-opt %s --split-input-fil 2>&1 | filecheck %s --check-prefix=DRIVERFLAG
// RUN: %exits 2 aicc-opt %s --print-ir-after=canonicalise 2>&1 | filecheck %s --check-prefix=PRINT

// Names that nothing answers to: each gives the nearest known one.

// PASS: aicc-opt: unknown pass 'canonicalise'; did you mean 'canonicalize'?
// PASS-NEXT: column 1 | canonicalise
// PASS-NOT: {{(error:|Traceback)}}

// NESTED: aicc-opt: unknown pass 'dead-code'
// NESTED-NEXT: column 20 | cse,builtin.module(dead-code)
// NESTED-NOT: {{(error:|Traceback)}}

// ANCHOR: aicc-opt: unknown op 'func.fnc'; did you mean 'func.func'?
// ANCHOR-NEXT: column 16 | builtin.module(func.fnc(cse))
// ANCHOR-NOT: {{(error:|Traceback)}}

// ISOLATED: aicc-opt: 'arith.addi' is not isolated from above, so a pipeline cannot run on it alone
// ISOLATED-NEXT: column 1 | arith.addi(cse)
// ISOLATED-NOT: {{(error:|Traceback)}}

// PASSANCHOR: aicc-opt: 'cse' is a pass, expected the name of an op before '('; options go in braces
// PASSANCHOR-NEXT: column 1 | cse(dce)
// PASSANCHOR-NOT: {{(error:|Traceback)}}

// DIALECT: aicc-opt: unknown op 'mystery.op'
// DIALECT-NEXT: column 1 | mystery.op(cse)
// DIALECT-NOT: {{(error:|Traceback)}}

// LEVEL: aicc-opt: unknown pass 'O3'; did you mean 'O2'?
// LEVEL-NEXT: column 1 | O3
// LEVEL-NOT: {{(error:|Traceback)}}

// OFLAG: aicc-opt: unknown level '-O1'; the levels are -O0 and -O2 (see aicc-opt --help)
// OFLAG-NOT: {{(error:|Traceback)}}

// FLAG: aicc-opt: unknown flag '--canonicalise'; did you mean '--canonicalize'?
// FLAG-NOT: {{(error:|Traceback)}}

// DRIVERFLAG: aicc-opt: unknown flag '--split-input-fil'; did you mean '--split-input-file'?
// DRIVERFLAG-NOT: {{(error:|Traceback)}}

// PRINT: aicc-opt: unknown pass 'canonicalise' in a --print-ir flag; did you mean 'canonicalize'?
// PRINT-NOT: {{(error:|Traceback)}}
