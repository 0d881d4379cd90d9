import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Whatever happens to the bytes of keys and rows, reading them throws, or gives values that there are.
@Suite struct DamagedRecordTests {
  private let sample: AnyRecord

  init() throws {
    sample = try AnyRecord()
  }

  @Test func `every beginning of a row is refused`() {
    replaying(0..<UInt64(scaled(50, debug: 5))) { seed in
      let stored = try record(seed)
      for count in stored.row.indices {
        let damaged = StoredRecord(key: stored.key, row: Bytes(stored.row.prefix(count)))
        let error = storeError { () throws(StoreError) in _ = try sample.decode(damaged) }
        guard case .corrupt(.entry("Item", stored.key), .rowLayout, _)? = error else {
          guard case .corrupt(.entry("Item", stored.key), .rowEnds, _)? = error else {
            throw Disagreement(description: "\(count) bytes: \(error.map { "\($0)" } ?? "read")")
          }
          continue
        }
      }
      try survive(StoredRecord(key: stored.key, row: stored.row + [0]))
    }
  }

  @Test func `every beginning of a key is refused or is another key`() {
    replaying(0..<UInt64(scaled(50, debug: 5))) { seed in
      let stored = try record(seed)
      for count in stored.key.indices {
        try survive(StoredRecord(key: Bytes(stored.key.prefix(count)), row: stored.row))
      }
    }
  }

  @Test func `every flipped bit is refused or is another value`() {
    replaying(0..<UInt64(scaled(20, debug: 1))) { seed in
      let stored = try record(seed)
      for bit in stride(from: 0, to: stored.row.count * 8, by: scaled(1, debug: 5)) {
        var damaged = stored
        damaged.row[bit / 8] ^= 1 << UInt8(bit % 8)
        try survive(damaged)
      }
      for bit in 0..<stored.key.count * 8 {
        var damaged = stored
        damaged.key[bit / 8] ^= 1 << UInt8(bit % 8)
        try survive(damaged)
      }
    }
  }

  @Test func `random bytes are refused or are a record`() {
    replaying(0..<UInt64(scaled(20_000, debug: 500))) { seed in
      var random = SplitMix64(seed: seed)
      var stored = try record(seed % 16)
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        stored.row[Int.random(in: stored.row.indices, using: &random)] = UInt8(
          truncatingIfNeeded: random.next() >> 40)
      }
      try survive(stored)
    }
  }

  private func record(_ seed: UInt64) throws -> StoredRecord {
    var random = SplitMix64(seed: seed)
    return try sample.encode(sample.random(using: &random))
  }

  /// Does with a record what there is to be done with one.
  private func survive(_ stored: StoredRecord) throws {
    guard var read = try read(stored) else { return }
    try replaceRelativeURLs(in: &read)
    let again = try sample.encode(read)
    // What is not a number differs from itself.
    let differing = try sample.decode(again).fields.dictionary.filter { name, value in
      read[name] != value && "\(read[name])" != "\(value)"
    }
    try agree(
      differing.isEmpty, "\(differing.keys.map { "\(read[$0])" }) is written as \(differing)")
  }

  /// Expects that a record with relative URLs is refused when it is saved again, and gives it absolute ones.
  ///
  /// Bytes of a scheme that change leave a relative URL. It is read like those that earlier versions stored.
  private func replaceRelativeURLs(in record: inout DynamicRecord) throws {
    let relative = record.fields.dictionary.filter { $0.value.hasRelativeURL }
    if relative.isEmpty { return }
    let absolute = FieldValue.url(try #require(URL(string: "https://a.example/b")))
    let error = storeError { [record] in try sample.encode(record) }
    guard case .invalidValue("Item", let field?, _)? = error, relative[field] != nil else {
      throw Disagreement(description: "\(relative): \(error.map { "\($0)" } ?? "saved")")
    }
    for (name, value) in relative {
      if case .array(let elements) = value {
        record[name] = .array(elements.map { $0.hasRelativeURL ? absolute : $0 })
      } else {
        record[name] = absolute
      }
    }
  }

  /// What is read, unless that is refused as it should be.
  private func read(_ stored: StoredRecord) throws(StoreError) -> DynamicRecord? {
    do throws(StoreError) {
      let record = try RowReader(
        key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
      let key = KeyEncoder()
      let read = try DynamicRecord(record)
      for index in sample.indexes { _ = try index.encode(record, to: key) }
      return read
    } catch {
      switch error {
      case .corrupt(.entry, _, _), .newerFormat, .invalidValue: return nil
      default: throw error
      }
    }
  }
}

extension FieldValue {
  fileprivate var hasRelativeURL: Bool {
    switch self {
    case .url(let value): value.scheme == nil
    case .array(let elements): elements.contains(where: \.hasRelativeURL)
    default: false
    }
  }
}

/// What a check finds that reading lets pass.
@Suite struct CheckedRecordTests {
  @Test func `bytes of what is null are found`() throws {
    let sample = try AnyRecord()
    var random = SplitMix64(seed: 1)
    var record = sample.random(using: &random)
    record["int32Maybe"] = .integer(1)
    record["stringMaybe"] = .string("text")
    let stored = try sample.encode(record)
    for name in ["int32Maybe", "stringMaybe"] {
      let bit = try #require(sample.layout.column(named: name)?.place.nullBit)
      var damaged = stored
      try check(damaged, sample)
      damaged.row[1 + bit / 8] |= 1 << UInt8(bit % 8)
      let error = #expect(throws: StoreError.self) { try check(damaged, sample) }
      guard case .corrupt(_, .rowNulls, "\(name) is null and has bytes") = error else {
        Issue.record("\(error.map { "\($0)" } ?? "nothing")")
        return
      }
    }
  }

  private func check(_ stored: StoredRecord, _ sample: AnyRecord) throws {
    try RowReader(key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout).check()
  }
}
