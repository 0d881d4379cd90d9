public import Cambium

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A digest of the records of a store: equal for two stores exactly if they hold the same records, as far as 128 bits
/// can, whatever numbers their schemas have, how their trees came about and in which pages they are.
///
/// It is made of every record of every type: the type's name, and its fields' names and values, in the order of
/// the primary key; of blobs it is the content. Indexes, metadata and history are no part of it.
public struct ContentFingerprint: Hashable, Sendable {
  private let hash: SipHash128
  /// How many records there are, by type.
  public let counts: [String: Int]

  /// - Complexity: linear in all records.
  /// - Throws: `StoreError.corrupt`, `.io`.
  public init(of snapshot: StoreSnapshot) throws {
    var counts: [String: Int] = [:]
    var all = SipHash128(hashing: [])
    for name in snapshot.schema.records.map(\.name).sorted() {
      var hash = SipHash128(hashing: Array(name.utf8))
      var count = 0
      try snapshot.forEach(record: name) { record in
        hash = hash.followed(by: Array(try record.text().utf8))
        count += 1
      }
      counts[name] = count
      all = all.followed(by: hash.bytes)
    }
    self.counts = counts
    hash = all
  }
}

extension ContentFingerprint: CustomStringConvertible {
  /// 32 hexadecimal digits.
  public var description: String { "\(hash)" }
}

extension StoreSnapshot {
  /// - Complexity: linear in all records.
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func contentFingerprint() throws -> ContentFingerprint { try ContentFingerprint(of: self) }

  /// The first records that another state has otherwise, or that only one of the two has, in words. None: the two
  /// have the same content fingerprint.
  ///
  /// - Complexity: linear in all records, of which those of one type are in memory at a time.
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func contentDifferences(to other: StoreSnapshot, atMost limit: Int = 5) throws -> [String]
  {
    let names = Set(schema.records.map(\.name)).union(other.schema.records.map(\.name))
    var differences: [String] = []
    for name in names.sorted() where differences.count < limit {
      guard schema.record(named: name) != nil, other.schema.record(named: name) != nil else {
        differences.append("only one of the two has \(name)")
        continue
      }
      var texts: Set<String> = []
      try forEach(record: name) { texts.insert(try $0.text()) }
      try other.forEach(record: name) { record in
        let text = try record.text()
        if texts.remove(text) == nil { differences.append("only there: \(text)") }
      }
      differences += texts.sorted().map { "only here: \($0)" }
    }
    return Array(differences.prefix(limit))
  }
}

extension DynamicRecord {
  /// All that it is, in one order.
  ///
  /// - Throws: `StoreError.corrupt`, `.io` where a blob cannot be read.
  func text() throws(StoreError) -> String {
    var parts: [String] = []
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      parts.append("\(name): \(try value.withoutBlobs().literal)")
    }
    return name + "(" + parts.joined(separator: ", ") + ")"
  }
}

extension FieldValue {
  /// The value with a text in place of each blob in it, which is the same for the same content.
  fileprivate func withoutBlobs() throws(StoreError) -> FieldValue {
    switch self {
    case .blob(let blob):
      var hash = SipHash128(hashing: [])
      let reader = try blob.reader()
      while let piece = try reader.read(upTo: 1 << 18) { hash = hash.followed(by: Array(piece)) }
      return .string("\(blob.count) bytes, \(hash)")
    case .composite(let parts):
      var made: [String: FieldValue] = [:]
      for (name, value) in parts { made[name] = try value.withoutBlobs() }
      return .composite(made)
    default: return self
    }
  }
}

extension SipHash128 {
  fileprivate var bytes: [UInt8] {
    [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }

  fileprivate func followed(by bytes: [UInt8]) -> SipHash128 {
    SipHash128(hashing: self.bytes + bytes)
  }
}
