// RUN: aicc-opt %s --split-input-file -p 'loops-tile{label=i size=8}' | filecheck %s --check-prefix=PEEL
// RUN: aicc-opt %s --split-input-file -p 'loops-tile{label=i size=8 tail=mask}' | filecheck %s --check-prefix=MASK
// RUN: aicc-opt %s --split-input-file -p 'loops-tile{label=i size=8 tail=pair}' | filecheck %s --check-prefix=PAIR

// The remainder of a known extent is one shorter tile.
// PEEL-LABEL: @known
// PEEL:         loops.for "i.o" %[[O:.*]] = 0 to 2 parallel {
// PEEL-NEXT:      loops.for "i.i" %[[I:.*]] = 0 to 8 parallel {
// PEEL-NEXT:        %[[V:.*]] = loops.load %x[%[[O]] * 8 + %[[I]]]
// PEEL-NEXT:        loops.store %[[V]], %o[%[[O]] * 8 + %[[I]]]
// PEEL:         loops.for "i.t" %{{.*}} = 2 to 3 parallel {
// PEEL-NEXT:      loops.for "i.i" %[[J:.*]] = 0 to 4 parallel {
// PEEL-NEXT:        %[[W:.*]] = loops.load %x[%[[J]] + 16]
// PEEL-NEXT:        loops.store %[[W]], %o[%[[J]] + 16]

// MASK-LABEL: @known
// MASK:         loops.for "i.o" %[[O:.*]] = 0 to 3 parallel {
// MASK-NEXT:      loops.for "i.i" %{{.*}} = 0 to min(8, 20 - %[[O]] * 8) parallel {
// MASK-NOT:     "i.t"
// Of a known number what is left over is one tile whatever it is.
// PAIR-LABEL: @known
// PAIR:         loops.for "i.o" %{{.*}} = 0 to 2 parallel {
// PAIR:         loops.for "i.t" %{{.*}} = 2 to 3 parallel {
// PAIR-NEXT:      loops.for "i.i" %{{.*}} = 0 to 4 parallel {
func.func private @known(%x: memref<20xf32>, %o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 20 parallel {
    %v = loops.load %x[%i] : memref<20xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<20xf32>
  }
  func.return
}

// -----

// A remainder of unknown length is at most one tile.
// PEEL-LABEL: @symbolic
// PEEL:         loops.for "i.o" %{{.*}} = 0 to %[[N:.*]] floordiv 8 parallel {
// PEEL-NEXT:      loops.for "i.i" %{{.*}} = 0 to 8 parallel {
// PEEL:         loops.for "i.t" %{{.*}} = %[[N]] floordiv 8 to (%[[N]] + 7) floordiv 8 parallel {
// PEEL-NEXT:      loops.for "i.i" %{{.*}} = 0 to %[[N]] mod 8 parallel {
// One that would be left over alone goes with the last full tile.
// PAIR-LABEL: @symbolic
// PAIR-NEXT:    %[[REST:.*]] = loops.size #graph.shape<min(9,max({{.*}}+s0,0))>
// PAIR-NEXT:    %[[END:.*]] = loops.size #graph.shape<max(0,floordiv(s0,8)+{{.*}})+min(1,max({{.*}}+s0,0))>
// PAIR-NEXT:    %[[FULL:.*]] = loops.size #graph.shape<max(0,floordiv(s0,8)+min(1,max(0,mod(s0,8)-1))-min(1,mod(s0,8)))>
// PAIR:         loops.for "i.o" %{{.*}} = 0 to %[[FULL]] parallel {
// PAIR-NEXT:      loops.for "i.i" %{{.*}} = 0 to 8 parallel {
// PAIR:         loops.for "i.t" %[[O:.*]] = %[[FULL]] to %[[END]] parallel {
// PAIR-NEXT:      loops.for "i.i" %{{.*}} = 0 to %[[REST]] parallel {
func.func private @symbolic(%n: index, %o: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %n parallel {
    loops.store %z, %o[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}

// -----

// Tiles that divide the extent leave no remainder; the index starts at the lower bound and keeps its step.
// PEEL-LABEL: @from_two_in_steps
// PEEL:         loops.for "i.o" %[[O:.*]] = 0 to 2 parallel {
// PEEL-NEXT:      loops.for "i.i" %[[I:.*]] = 0 to 8 parallel {
// PEEL-NEXT:        loops.store %{{.*}}, %o[%[[O]] * 24 + %[[I]] * 3 + 2]
// PEEL-NOT:     "i.t"
func.func private @from_two_in_steps(%o: memref<64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 2 to 48 step 3 parallel {
    loops.store %z, %o[%i] : f32 to memref<64xf32>
  }
  func.return
}

// -----

// A loop without iterations disappears, and its results are its inits.
// PEEL-LABEL: @none
// PEEL-NOT:     loops.for
// PEEL:         loops.store %z, %o[0]
func.func private @none(%o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %s = loops.for "i" %i = 0 to 0 iter_args(%a = %z) -> (f32) {
    %b = arith.addf %a, %a : f32
    loops.yield %b : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

// A tile larger than the extent: only the remainder.
// PEEL-LABEL: @small
// PEEL:         loops.for "i.t" %{{.*}} = 0 to 1 parallel {
// PEEL-NEXT:      loops.for "i.i" %{{.*}} = 0 to 3 parallel {
func.func private @small(%o: memref<3xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 3 parallel {
    loops.store %z, %o[%i] : f32 to memref<3xf32>
  }
  func.return
}

// -----

// A tile that divides the one bound that is a number: a remainder is left only where the other bound is smaller.
// PEEL-LABEL: @bounded
// PEEL:         loops.for "i.o" %{{.*}} = 0 to min(3, %n floordiv 8) parallel {
// PEEL-NEXT:      loops.for "i.i" %{{.*}} = 0 to 8 parallel {
// PEEL:         loops.for "i.t" %{{.*}} = max(%n floordiv 8, 0) to min(3, (%n + 7) floordiv 8) parallel {
// PEEL-NEXT:      loops.for "i.i" %{{.*}} = 0 to %n mod 8 parallel {
// MASK-LABEL: @bounded
// MASK:         loops.for "i.o"
func.func private @bounded(%n: index, %x: memref<24xf32>, %o: memref<24xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["n"]} {
  loops.for "i" %i = 0 to min(24, %n) parallel {
    %v = loops.load %x[%i] : memref<24xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<24xf32>
  }
  func.return
}
