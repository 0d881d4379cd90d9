/// The part of an engine that transactions use when they outgrow their memory.
struct SpillSupport {
  let runNumbers = RunNumbers()
  /// The numbers of page segments: folds take them with the fold's turn, transactions that load with the writer's.
  let segmentNumbers: SegmentNumbers
  /// Whether loaded pages are written on a thread of their own, while the next are made.
  var writesBehind = false
}
