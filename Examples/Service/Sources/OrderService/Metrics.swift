import Cambium

/// What the store says of itself, in the text format of Prometheus.
///
/// All of it comes from counts that the store keeps: asking reads no record.
struct Metrics {
  private(set) var lines: [String] = []

  init(of store: PersistentStore) throws {
    let snapshot = try store.snapshot()
    add("cambium_commits_total", Int(snapshot.sequence))
    add("cambium_pending_records", try snapshot.pendingMigration()?.recordCount ?? 0)
    for record in try snapshot.statistics().records {
      let label = "{record=\"\(record.name)\"}"
      add("cambium_records\(label)", record.count)
      add("cambium_row_bytes\(label)", record.rowBytes)
      add("cambium_index_bytes\(label)", record.indexBytes)
    }
    let room = try store.predictedGain()
    add("cambium_page_bytes", room.size)
    add("cambium_live_bytes", room.liveBytes)
    add("cambium_garbage_bytes", room.garbage)
  }

  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func add(_ name: String, _ value: Int) {
    lines.append("\(name) \(value)")
  }
}
