// RUN: not aicc-opt %s -p 'poly-even-to-square{min-degree=1}' 2>&1 | filecheck %s
// RUN: not aicc-opt %s -p 'poly-even-to-sqare' 2>&1 | filecheck %s --check-prefix=TYPO
// RUN: aicc-opt --show-passes | filecheck %s --check-prefix=SHOWN

// CHECK: poly-even-to-square: min-degree must be at least 2, got 1
// TYPO: did you mean 'poly-even-to-square'
// SHOWN: poly-even-to-square
