/// The key of a part of a commit in the history: its number and the part's, big-endian.
///
/// The entry with the empty key says up to which commit the history is not there.
struct HistoryKey: Hashable {
  let sequence: UInt64
  let part: UInt32

  static var size: Int { 12 }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: sequence.byteSwapped)
    bytes.append(integer: part.byteSwapped)
    return bytes
  }

  init(sequence: UInt64, part: UInt32) {
    self.sequence = sequence
    self.part = part
  }

  /// - Throws: `.corrupt` (H1).
  init(_ bytes: RawSpan) throws(StoreError) {
    guard bytes.byteCount == Self.size else {
      throw .historyFault(bytes, "its key is \(bytes.byteCount) bytes")
    }
    sequence = bytes.load(0, as: UInt64.self).byteSwapped
    part = bytes.load(8, as: UInt32.self).byteSwapped
    guard sequence > 0 else { throw .historyFault(bytes, "it is of commit 0") }
  }

  /// The tree of the history.
  static var treeName: String { "history" }
}

extension StoreError {
  /// Returns the error for an entry of the history that breaks a rule.
  static func historyFault(_ key: RawSpan, _ reason: String) -> StoreError {
    .corrupt(
      .entry(tree: HistoryKey.treeName, key: key.array()), invariant: .history, reason: reason)
  }
}

/// The change of a record by a commit.
enum HistoryKind: UInt8 {
  case inserted = 1
  case updated = 2
  case deleted = 3
}
