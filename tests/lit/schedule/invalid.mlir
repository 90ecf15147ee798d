// RUN: aicc-opt %s --split-input-file --verify-diagnostics

transform.named_sequence @tile_c1_sizes(%k: !transform.any_op) {
  // expected-error@+1 {{2 sizes for 1 loops, expected one each}}
  %o, %i, %t = schedule.tile %k {sizes = array<i64: 6, 16>}
  transform.yield
}

// -----

transform.named_sequence @tile_c1_tails(%k: !transform.any_op) {
  // expected-error@+1 {{2 tails for 1 loops, expected one each}}
  %o, %i, %t = schedule.tile %k {sizes = array<i64: 6>, tails = ["peel", "peel"]}
  transform.yield
}

// -----

transform.named_sequence @tile_c1_none(%k: !transform.any_op) {
  // expected-error@+1 {{no loop to tile, expected at least one}}
  %t = "schedule.tile"() <{sizes = array<i64>}> : () -> !transform.any_op
  transform.yield
}

// -----

transform.named_sequence @tile_c2(%k: !transform.any_op) {
  // expected-error@+1 {{sizes[0] is 0, expected at least 1}}
  %o, %i, %t = schedule.tile %k {sizes = array<i64: 0>}
  transform.yield
}

// -----

transform.named_sequence @tile_c3(%k: !transform.any_op) {
  // expected-error@+1 {{tails[0] is 'cut', expected 'peel' or 'pair' or 'mask'}}
  %o, %i, %t = schedule.tile %k {sizes = array<i64: 4>, tails = ["cut"]}
  transform.yield
}

// -----

transform.named_sequence @tile_c4(%k: !transform.any_op) {
  // expected-error@+1 {{2 results for 1 loops, expected 3}}
  %o, %i = "schedule.tile"(%k) <{sizes = array<i64: 4>}> : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// -----

transform.named_sequence @interchange_c1(%k: !transform.any_op) {
  // expected-error@+1 {{order [0, 0] is not a permutation of the 2 loops' positions}}
  %a, %b = schedule.interchange %k, %k {order = array<i64: 0, 0>}
  transform.yield
}

// -----

transform.named_sequence @interchange_c2(%k: !transform.any_op) {
  // expected-error@+1 {{1 results for 2 loops, expected one each}}
  %a = "schedule.interchange"(%k, %k) <{order = array<i64: 1, 0>}> : (!transform.any_op, !transform.any_op) -> !transform.any_op
  transform.yield
}

// -----

transform.named_sequence @unroll_c1(%k: !transform.any_op) {
  // expected-error@+1 {{factor is 0, expected at least 1}}
  schedule.unroll %k {factor = 0 : i64}
  transform.yield
}

// -----

transform.named_sequence @vectorize_c1(%k: !transform.any_op) {
  // expected-error@+1 {{no loop to vectorize, expected at least one}}
  "schedule.vectorize"() : () -> ()
  transform.yield
}

// -----

transform.named_sequence @tile_some_c1(%k: !transform.any_op) {
  // expected-error@+1 {{size is 0, expected at least 1}}
  %o, %i, %t = schedule.tile_some %k {size = 0 : i64, most = #graph.shape<n>}
  transform.yield
}

// -----

transform.named_sequence @vectorize_rows_c1(%k: !transform.any_op) {
  // expected-error@+1 {{no loop along the lanes, expected at least one}}
  "schedule.vectorize_rows"(%k) : (!transform.any_op) -> ()
  transform.yield
}

// -----

transform.named_sequence @parallelize_c1(%k: !transform.any_op) {
  // expected-error@+1 {{grain is 0, expected at least 1}}
  schedule.parallelize %k {grain = 0 : i64}
  transform.yield
}

// -----

transform.named_sequence @parallelize_c1_least(%k: !transform.any_op) {
  // expected-error@+1 {{least is 0, expected at least 1}}
  schedule.parallelize %k {least = 0 : i64}
  transform.yield
}

// -----

transform.named_sequence @parallelize_c3(%k: !transform.any_op) {
  // expected-error@+1 {{part is given without work, expected both or none}}
  schedule.parallelize %k {part = 5 : i64}
  transform.yield
}

// -----

transform.named_sequence @pack_c1(%k: !transform.any_op) {
  // expected-error@+1 {{argument is -1, expected at least 0}}
  schedule.pack %k {argument = -1 : i64, tiles = array<i64: 16, 0>, order = array<i64: 0, 1>}
  transform.yield
}

// -----

transform.named_sequence @pack_c2(%k: !transform.any_op) {
  // expected-error@+1 {{order [0] is not a permutation of the 2 dimensions of tiles}}
  schedule.pack %k {argument = 1 : i64, tiles = array<i64: 16, 0>, order = array<i64: 0>}
  transform.yield
}

// -----

transform.named_sequence @pack_c3(%k: !transform.any_op) {
  // expected-error@+1 {{tiles[0] is -16, expected at least 1, or 0 for none}}
  schedule.pack %k {argument = 1 : i64, tiles = array<i64: -16, 0>, order = array<i64: 0, 1>}
  transform.yield
}

// -----

transform.named_sequence @select_c1(%k: !transform.any_op) {
  // expected-error@+1 {{position -1, expected at least 0}}
  %a = schedule.select %k {positions = array<i64: -1>}
  transform.yield
}

// -----

transform.named_sequence @split_reduction_c1(%k: !transform.any_op) {
  // expected-error@+1 {{size is 0, expected at least 1}}
  %a, %b = schedule.split_reduction %k, %k {size = 0 : i64}
  transform.yield
}

// -----

transform.named_sequence @partial_results_c1(%k: !transform.any_op) {
  // expected-error@+1 {{size is 0, expected at least 1}}
  %a, %b = schedule.partial_results %k {size = 0 : i64}
  transform.yield
}

// -----

transform.named_sequence @split_c1(%k: !transform.any_op) {
  // expected-error@+1 {{size is 0, expected at least 1}}
  %a, %b = schedule.split %k {size = 0 : i64}
  transform.yield
}

// -----

transform.named_sequence @bypass_caches_c1(%k: !transform.any_op) {
  // expected-error@+1 {{argument is -1, expected at least 0}}
  schedule.bypass_caches %k {argument = -1 : i64}
  transform.yield
}

// -----

transform.named_sequence @privatize_c1(%k: !transform.any_op) {
  // expected-error@+1 {{argument is -1, expected at least 0}}
  schedule.privatize %k {argument = -1 : i64}
  transform.yield
}

// -----

transform.named_sequence @read_ahead_c1(%k: !transform.any_op) {
  // expected-error@+1 {{argument is -1, expected at least 0}}
  schedule.read_ahead %k {argument = -1 : i64, elements = 1 : i64}
  transform.yield
}

// -----

transform.named_sequence @read_ahead_c2(%k: !transform.any_op) {
  // expected-error@+1 {{elements is 0, expected at least 1}}
  schedule.read_ahead %k {argument = 0 : i64, elements = 0 : i64}
  transform.yield
}

// -----

// C0 of all steps.
transform.named_sequence @other_attribute(%k: !transform.any_op) {
  // expected-error@+1 {{attribute 'bogus' is not known, expected one of grain, least, part, why, within, work}}
  schedule.parallelize %k {bogus}
  transform.yield
}

// -----

transform.named_sequence @other_attribute_of_a_step_by_hand(%k: !transform.any_op) {
  // expected-error@+1 {{attribute 'tail' is not known, expected one of sizes, tails, why}}
  %o, %i, %t = schedule.tile %k {sizes = array<i64: 6>, tail = ["mask"]}
  transform.yield
}

// -----

transform.named_sequence @prefetch_argument(%k: !transform.any_op) {
  // expected-error@+1 {{argument is -1, expected at least 0}}
  schedule.prefetch %k, %k {argument = -1 : i64, line = 64 : i64, locality = 2 : i64}
  transform.yield
}

// -----

transform.named_sequence @prefetch_line(%k: !transform.any_op) {
  // expected-error@+1 {{line is 0, expected at least 1}}
  schedule.prefetch %k, %k {argument = 0 : i64, line = 0 : i64, locality = 2 : i64}
  transform.yield
}

// -----

transform.named_sequence @prefetch_locality(%k: !transform.any_op) {
  // expected-error@+1 {{locality is 4, expected 0 to 3}}
  schedule.prefetch %k, %k {argument = 0 : i64, line = 64 : i64, locality = 4 : i64}
  transform.yield
}
