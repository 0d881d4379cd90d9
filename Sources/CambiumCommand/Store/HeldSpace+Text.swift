import Cambium

extension HeldSpace {
  /// "2.0 MiB in deleted files that process 17 reads, the oldest snapshot at least 3 min 5 s old"; nil if there are none.
  var text: String? {
    guard let bytes, bytes > 0 else { return nil }
    let numbers = processes.map { "\($0)" }.joined(separator: ", ")
    let readers = processes.count == 1 ? "process \(numbers) reads" : "processes \(numbers) read"
    let age =
      oldestSnapshotAge.map { ", the oldest snapshot at least \(Figures.time($0)) old" } ?? ""
    return "\(Figures.size(bytes)) in deleted files that \(readers)\(age)"
  }

  var json: JSONValue {
    [
      "bytes": bytes.map { JSONValue($0) } ?? .null,
      "processes": .array(processes.map { JSONValue($0) }),
      "oldestSnapshotSeconds": oldestSnapshotAge.map { JSONValue($0 / .seconds(1)) } ?? .null,
    ]
  }
}
