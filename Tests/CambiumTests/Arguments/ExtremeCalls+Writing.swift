import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

extension ExtremeCalls {
  static let writing: [String: @Sendable (Extremes) throws -> Void] = [
    "PersistentStore.write(durability:author:_:)": { extremes in
      for author in Extremes.strings {
        Extremes.attempt { try extremes.store.write(author: author) { _ in } }
      }
      for delay in Extremes.durations {
        Extremes.attempt {
          try extremes.store.write(durability: .relaxed(flushWithin: delay)) { transaction in
            try transaction.save(Photo(4, image: 0))
          }
        }
      }
    },
    "WriteTransaction.save(_:onConflict:)": { extremes in
      for field in ["id", "name", "image", "notes"] {
        for value in Extremes.values {
          extremes.write { transaction in
            var fields: [String: FieldValue] = [
              "id": 9, "name": "x", "image": .data(Data()), "notes": "",
            ]
            fields[field] = value
            try transaction.save(DynamicRecord("Photo", RecordFields(fields)))
            // Only that it was accepted or refused counts.
            try transaction.delete(Photo.where { $0.id != 1 && $0.id != 2 })
          }
        }
      }
      for name in Extremes.strings {
        extremes.write { try $0.save(DynamicRecord(name, [name: 1])) }
      }
    },
    "WriteTransaction.delete(_:key:_:)": { extremes in
      for value in Extremes.values where value != .integer(1) {
        extremes.write { _ = try $0.delete(Photo.self, key: value) }
      }
    },
    "PortableTransaction.delete(_:key:_:)": { extremes in
      for value in Extremes.values where value != .integer(1) {
        extremes.write { transaction in
          var portable = PortableTransaction(writer: transaction.writer)
          _ = try portable.delete(Photo.self, key: value)
        }
      }
    },
    "PersistentStore.delete(_:key:_:)": { extremes in
      for value in Extremes.values where value != .integer(1) && value != .integer(2) {
        Extremes.attempt { _ = try extremes.store.delete(Photo.self, key: value) }
      }
    },
    "WriteTransaction.delete(record:key:_:)": { extremes in
      for value in Extremes.values where value != .integer(1) {
        extremes.write { _ = try $0.delete(record: "Photo", key: value) }
      }
    },
    "WriteTransaction.importRecords(_:decoding:using:merging:)": { extremes in
      for isMerging in [false, true] {
        for text in jsonTexts {
          extremes.write { transaction in
            try transaction.importRecords(Photo.self, decoding: Data(text.utf8), merging: isMerging)
            try transaction.delete(Photo.where { $0.id != 1 && $0.id != 2 })
          }
        }
      }
      for property in [nil, \Photo.id, \Photo.name] as [PartialKeyPath<Photo>?] {
        extremes.write { transaction in
          try transaction.importRecords(
            Photo.self, from: Extremes.values, id: { $0 }, uniqueID: property
          ) { $1 }
        }
        for value in Extremes.values {
          extremes.write { transaction in
            try transaction.importRecords(
              Photo.self, from: [value], id: { $0 }, uniqueID: property
            ) { $1 }
          }
        }
      }
    },
    "PersistentStore.importRecords(_:decoding:using:merging:durability:)": { extremes in
      for text in jsonTexts {
        Extremes.attempt {
          try extremes.store.importRecords(
            Photo.self, decoding: Data(text.utf8), merging: true,
            durability: .relaxed(flushWithin: .seconds(Int64.max)))
        }
      }
      for bytes in [Data([0xff]), Data("{\"id\":\"".utf8) + Data([0xff, 0x22, 0x7d])] {
        Extremes.attempt { try extremes.store.importRecords(Photo.self, decoding: bytes) }
      }
    },
    "WriteTransaction.undo(since:by:)": { extremes in
      let place = try extremes.store.snapshot().historyCursor
      try extremes.store.write(author: "\0") { try $0.save(Photo(4, image: 0)) }
      for author in Extremes.strings {
        extremes.write { try $0.undo(since: place, by: author) }
      }
    },
    "PersistentStore.undo(since:by:durability:)": { extremes in
      let place = try extremes.store.snapshot().historyCursor
      for author in Extremes.strings {
        Extremes.attempt { _ = try extremes.store.undo(since: place, by: author) }
      }
    },
    "WriteTransaction.setMetadata(_:for:)": { extremes in
      for name in Extremes.strings { extremes.write { try $0.setMetadata(1, for: name) } }
    },
    "WriteTransaction.setQuery(_:named:)": { extremes in
      for name in Extremes.strings {
        extremes.write { try $0.setQuery(Query<Photo>().limit(.max).offset(.min), named: name) }
      }
    },
    "WriteTransaction.setQuery(record:where:sortedBy:limit:named:)": { extremes in
      for name in Extremes.strings {
        extremes.write { try $0.setQuery(record: name, named: name) }
        extremes.write { try $0.setQuery(record: "Photo", limit: .min, named: name) }
        extremes.write { transaction in
          try transaction.setQuery(
            record: "Photo", sortedBy: [FieldOrder(field: name)], named: name)
        }
      }
    },
    "WriteTransaction.removeQuery(record:named:)": { extremes in
      for name in Extremes.strings {
        extremes.write { try $0.removeQuery(record: name, named: name) }
        extremes.write { try $0.removeQuery(record: "Photo", named: name) }
      }
    },
    "WriteTransaction.purgeHistory(before:)": { extremes in
      for date in Extremes.dates { extremes.write { try $0.purgeHistory(before: date) } }
    },
    "BlobWriter.append(_:)": { extremes in
      let writer = try extremes.store.makeBlobWriter()
      try writer.append(Data())
      try writer.append(Data([1]))
      _ = try writer.finish()
      Extremes.attempt { try writer.append(Data([2])) }
      Extremes.attempt { _ = try writer.finish() }
    },
    "PersistentStore.makeBlob(from:compression:deduplicating:)": { extremes in
      for level in [Int.min, -1, 0, 1, 22, 23, Int.max] {
        Extremes.attempt {
          _ = try extremes.store.makeBlob(
            from: Data(repeating: 1, count: 5_000), compression: .zstd(level: level))
        }
      }
      for descriptor in [Int32.min, -1, .max] {
        Extremes.attempt { _ = try extremes.store.makeBlob(from: descriptor) }
      }
    },
    "PersistentStore.makeBlob(contentsOf:compression:deduplicating:)": { extremes in
      for path in Extremes.strings {
        Extremes.attempt { _ = try extremes.store.makeBlob(contentsOf: path) }
      }
    },
    "BlobBudget.init(bytes:garbageShare:)": { extremes in
      for bytes in Extremes.integers {
        for share in Extremes.numbers {
          Extremes.attempt {
            _ = try extremes.store.collectBlobs(BlobBudget(bytes: bytes, garbageShare: share))
          }
        }
      }
    },
    "WorkBudget.init(records:bytes:time:)": { extremes in
      for number in Extremes.integers {
        finish(extremes, WorkBudget(records: number, bytes: number))
      }
    },
    "WorkBudget.records(_:)": { extremes in
      for number in Extremes.integers { finish(extremes, .records(number)) }
    },
    "WorkBudget.bytes(_:)": { extremes in
      for number in Extremes.integers { finish(extremes, .bytes(number)) }
    },
    "WorkBudget.time(_:)": { extremes in
      for duration in Extremes.durations { finish(extremes, .time(duration)) }
    },
  ]

  /// JSON of photos, or of nothing.
  private static let jsonTexts: [String] =
    Extremes.strings + [
      String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 100_000),
      "[{\"id\":1e400}]", "{\"id\":99999999999999999999}", "{\"id\":-0}", "{}", "[null]",
      "{\"id\":9,\"id\":9,\"name\":\"\\ud800\",\"image\":\"\",\"notes\":\"\"}",
      "{\"id\":9,\"name\":\"x\",\"image\":\"AA==\",\"notes\":\"\"}",
    ]

  private static func finish(_ extremes: Extremes, _ budget: WorkBudget) {
    Extremes.attempt { _ = try extremes.store.finishMigration(budget: budget) }
    Extremes.attempt { _ = try extremes.store.compactionStep(budget: budget) }
  }
}
