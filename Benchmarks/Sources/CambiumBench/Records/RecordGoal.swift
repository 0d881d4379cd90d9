import BenchmarkReport

extension Goal {
  /// How many times as fast as a peer measured in the same run, or nil if nothing is promised.
  static func speed(
    of engine: RecordEngineName, against peer: RecordEngineName, at workload: RecordWorkload
  ) -> Goal? {
    guard engine == .cambium, peer == .grdb else { return nil }
    return switch workload {
    case .fetch, .fetchEach, .scan: .atLeast(8)
    case .insertOnce, .insertBatches: .atLeast(5)
    case .insertEach, .saveEach, .update, .delete: nil
    }
  }

  /// Records a second.
  static func rate(
    of engine: RecordEngineName, at workload: RecordWorkload, _ setting: RecordSetting,
    _ keyOrder: CommitKeyOrder
  ) -> Goal? {
    guard engine == .cambium, workload == .saveEach, setting.indexes == .none,
      setting.durability == .relaxed, keyOrder == .ascending
    else { return nil }
    return .atLeast(500_000)
  }

  /// The bytes on disk, over a peer's.
  static func size(of engine: RecordEngineName, against peer: RecordEngineName) -> Goal? {
    engine == .cambium && peer == .grdb ? .atMost(0.8) : nil
  }
}
