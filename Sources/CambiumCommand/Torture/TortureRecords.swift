import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The records that a torture writes: all values of a record follow from its key and its stamp.
struct TortureItem: Record, Equatable {
  var id: Int
  /// Of the change that wrote it.
  var stamp: Int
  var name: String
  var code: String
  var payload: Data

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "stamp", type: .integer)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "code", type: .string, unique: true)
    Field(name: "payload", type: .binaryData)
  }

  init(id: Int, stamp: Int) {
    self.id = id
    self.stamp = stamp
    name = "name \(stamp % 97)"
    code = "\(id)/\(stamp % 7)"
    var random = TortureRandom(seed: UInt64(stamp))
    // Now and then one that has pages of its own.
    let length = stamp % 101 == 0 ? 50_000 : stamp % 200
    payload = Data((0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }
}

/// How far a torture has come.
struct TortureProgress: Record {
  var id = 0
  /// The transactions that were made.
  var count: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Progress")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "count", type: .integer)
  }
}

/// SplitMix64: the same numbers for the same seed.
struct TortureRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
