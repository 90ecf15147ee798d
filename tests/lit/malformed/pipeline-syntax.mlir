// RUN: %exits 2 aicc-opt %s -p 'canonicalize,' 2>&1 | filecheck %s --check-prefix=TRAILING
// RUN: %exits 2 aicc-opt %s -p ',canonicalize' 2>&1 | filecheck %s --check-prefix=LEADING
// RUN: %exits 2 aicc-opt %s -p 'canonicalize;cse' 2>&1 | filecheck %s --check-prefix=SEPARATOR
// RUN: %exits 2 aicc-opt %s -p 'builtin.module(canonicalize' 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: %exits 2 aicc-opt %s -p 'builtin.module(func.func(canonicalize)' 2>&1 | filecheck %s --check-prefix=OPEN2
// RUN: %exits 2 aicc-opt %s -p 'canonicalize)' 2>&1 | filecheck %s --check-prefix=CLOSE
// RUN: %exits 2 aicc-opt %s -p 'canonicalize{' 2>&1 | filecheck %s --check-prefix=BRACE
// RUN: %exits 2 aicc-opt %s -p 'canonicalize}' 2>&1 | filecheck %s --check-prefix=BRACE2
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=}' 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{=4}' 2>&1 | filecheck %s --check-prefix=KEY
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=4=5}' 2>&1 | filecheck %s --check-prefix=EQUALS
// RUN: %exits 2 aicc-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=(4}' 2>&1 | filecheck %s --check-prefix=BRACKET
// RUN: %exits 2 aicc-opt %s -p 'canonicalize cse' 2>&1 | filecheck %s --check-prefix=BLANK

// Texts that are no pipeline: each names the column.

// TRAILING: aicc-opt: expected a pass name at the end
// TRAILING-NEXT: column 14 | canonicalize,
// TRAILING-NOT: {{(error:|Traceback)}}

// LEADING: aicc-opt: expected a pass name, found ','
// LEADING-NEXT: column 1 | ,canonicalize
// LEADING-NOT: {{(error:|Traceback)}}

// SEPARATOR: aicc-opt: expected ',' or the end of the pipeline
// SEPARATOR-NEXT: column 13 | canonicalize;cse
// SEPARATOR-NOT: {{(error:|Traceback)}}

// OPEN: aicc-opt: 'builtin.module(' is not closed, expected ')'
// OPEN-NEXT: column 1 | builtin.module(canonicalize
// OPEN-NOT: {{(error:|Traceback)}}

// OPEN2: aicc-opt: 'builtin.module(' is not closed, expected ')'
// OPEN2-NEXT: column 1 | builtin.module(func.func(canonicalize)
// OPEN2-NOT: {{(error:|Traceback)}}

// CLOSE: aicc-opt: unmatched ')'
// CLOSE-NEXT: column 13 | canonicalize)
// CLOSE-NOT: {{(error:|Traceback)}}

// BRACE: aicc-opt: '{' is not closed, expected '}'
// BRACE-NEXT: column 13 | canonicalize{
// BRACE-NOT: {{(error:|Traceback)}}

// BRACE2: aicc-opt: expected ',' or the end of the pipeline
// BRACE2-NEXT: column 13 | canonicalize}
// BRACE2-NOT: {{(error:|Traceback)}}

// VALUE: aicc-opt: expected an option value
// VALUE-NEXT: column 51 | scf-parallel-loop-tiling{parallel-loop-tile-sizes=}
// VALUE-NOT: {{(error:|Traceback)}}

// KEY: aicc-opt: expected an option name, found '='
// KEY-NEXT: column 26 | scf-parallel-loop-tiling{=4}
// KEY-NOT: {{(error:|Traceback)}}

// EQUALS: aicc-opt: '=' in an option value; put the value in double quotes
// EQUALS-NEXT: column 52 | scf-parallel-loop-tiling{parallel-loop-tile-sizes=4=5}
// EQUALS-NOT: {{(error:|Traceback)}}

// BRACKET: aicc-opt: '{' is not closed, expected '}'
// BRACKET-NEXT: column 25 | scf-parallel-loop-tiling{parallel-loop-tile-sizes=(4}
// BRACKET-NOT: {{(error:|Traceback)}}

// BLANK: aicc-opt: expected ',' or the end of the pipeline
// BLANK-NEXT: column 14 | canonicalize cse
// BLANK-NOT: {{(error:|Traceback)}}
