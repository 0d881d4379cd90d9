import FoundationEssentials

@testable import Cambium

/// A public way of reading all of a store that has no model.
enum StoreUse: String, CaseIterable, Sendable {
  case inspect, map, check, deepCheck, records, queries, blobs, history, backUp, salvage, typed,
    plan, write, compact, delete, migrate

  /// - Parameter scratch: Where nothing is yet.
  /// - Returns: the faults that a check found; nothing if another found none.
  /// - Throws: errors of the library.
  func run(at path: String, scratch: String) throws -> [StoreError] {
    switch self {
    case .inspect:
      let found = try PersistentStore.inspect(at: path)
      // All values that are computed from the files.
      _ = (found.pageBytes, found.liveShare, found.blobBytes, found.liveBlobBytes, found.size)
      _ = (found.garbageBlobBytes, found.statistics.recordCount, found.keptBytes)
    case .map: _ = try PersistentStore.map(at: path)
    case .check: return try PersistentStore.check(at: path).faults
    case .deepCheck: return try PersistentStore.check(at: path, .deep).faults
    case .records, .queries, .blobs, .history: try read(PersistentStore.snapshot(at: path))
    case .backUp:
      var options = StoreOptions()
      options.access = .reading
      try PersistentStore(untypedAt: path, options: options).backUp(to: scratch)
      return try PersistentStore.check(at: scratch, .deep).faults
    case .salvage:
      let report = try PersistentStore.salvage(at: path, to: scratch)
      return report.remainingFaults
    case .typed:
      let model = try StoreModel(SchemaLock(try PersistentStore.inspect(at: path).schemas))
      let store = try PersistentStore(at: path, model: model, migration: .refuse)
      defer { try? store.close() }
      for record in store.schema.records { _ = try store.count(record: record.name) }
    case .plan:
      let model = try Self.newer(than: try PersistentStore.inspect(at: path).schemas)
      _ = try PersistentStore.migration(at: path, to: model).plan
    case .migrate:
      let model = try Self.newer(than: try PersistentStore.inspect(at: path).schemas)
      let store = try PersistentStore(at: path, model: model)
      defer { try? store.close() }
      for record in store.schema.records { _ = try store.count(record: record.name) }
    case .write:
      let store = try PersistentStore(untypedAt: path)
      defer { try? store.close() }
      try store.write { transaction in try transaction.setMetadata(1, for: "hostile") }
    case .delete:
      let store = try PersistentStore(untypedAt: path)
      defer { try? store.close() }
      // The first record of each type, with the records that its references demand; more than one refuses that.
      for entity in store.entities.all {
        try store.write { transaction in
          let cursor = try TreeAccess.transaction(transaction.writer.trees).cursor(in: entity.rows)
          if try cursor.first() {
            _ = try transaction.writer.delete(cursor.key.array().rawSpan, of: entity)
          }
        }
      }
    case .compact:
      let store = try PersistentStore(untypedAt: path)
      defer { try? store.close() }
      try store.compact()
    }
    return []
  }

  private func read(_ snapshot: StoreSnapshot) throws {
    if self == .history {
      _ = try snapshot.metadataNames()
      let history = try snapshot.history()
      while try history.next() != nil {}
      return
    }
    for record in snapshot.schema.records {
      switch self {
      case .records: try snapshot.forEach(record: record.name) { _ in }
      case .queries:
        // Each index in its order, from its middle on; one of elements by an element.
        for index in record.indexes {
          guard let part = index.parts.first, let field = record.field(part.field) else { continue }
          if part.expansion == .elements {
            try find(anElementOf: field, record, snapshot)
            continue
          }
          try snapshot.forEach(
            record: record.name, where: nil, sortedBy: [FieldOrder(field: field.name)], limit: nil,
            offset: snapshot.count(record: record.name) / 2
          ) { _ in }
        }
      default:
        try snapshot.forEach(record: record.name) { found in
          for case (_, .blob(let blob)) in found.fields {
            let reader = try blob.reader()
            while try reader.read(upTo: 1 << 20) != nil {}
          }
        }
      }
    }
  }
}

extension StoreUse {
  /// The model of a program that knows all versions of a store, and one more: there each record has another field, and there
  /// is another record with an index.
  private static func newer(than schemas: [Schema]) throws -> StoreModel {
    guard var last = schemas.last else { throw StoreError.unknownRecord(name: "any") }
    last = Schema(
      version: UInt32(clamping: last.version + 1), label: nil, records: last.records,
      nextNumber: last.nextNumber)
    for place in last.records.indices {
      last.records[place].fields.append(
        FieldSchema(
          number: .max, name: "zz", type: .int64, isOptional: true, composite: nil, modifier: nil))
    }
    last.records.append(
      RecordSchema(
        number: .max, name: "ZZ",
        fields: [
          FieldSchema(
            number: 1, name: "id", type: .int64, isOptional: false, composite: nil, modifier: nil)
        ], primaryKey: [KeyPart(field: 1, isDescending: false, isCaseInsensitive: false)],
        indexes: [], modifier: nil))
    return try StoreModel(SchemaLock(schemas + [last]))
  }

  /// Finds the records whose arrays have the first element of the first array.
  private func find(
    anElementOf field: FieldSchema, _ record: RecordSchema, _ snapshot: StoreSnapshot
  ) throws {
    var elements: [FieldValue] = []
    try snapshot.forEach(record: record.name) { found in
      if elements.isEmpty, case .array(let all) = found.fields[field.name] { elements = all }
    }
    guard let element = elements.first else { return }
    try snapshot.forEach(
      record: record.name, where: .contains(field: field.name, element), sortedBy: [], limit: nil,
      offset: 0
    ) { _ in }
  }
}

// MARK: - All of them

/// A wrong answer to a use of a store.
struct WrongUse: Error, CustomStringConvertible {
  let description: String
}

extension StoreUse {
  /// Uses a store in every way: each use answers or throws a `StoreError`. If a deep check finds nothing, all that read
  /// answer, the backup is whole, and so is the store when it was written to and compacted.
  ///
  /// - Parameter scratch: Where nothing is yet, nor afterwards.
  /// - Throws: `WrongUse`.
  static func tryAll(at path: String, scratch: String) throws {
    // Nothing is read of a store that no program has put a model into.
    let hasSchema = try? !PersistentStore.inspect(at: path).schemas.isEmpty
    let isWhole = try faults(.deepCheck, path, scratch).isEmpty && hasSchema == true
    for use in allCases where use != .deepCheck {
      let faults = try faults(use, path, scratch)
      // A write or a compaction refuses faults that reading does not meet.
      guard isWhole, ![.write, .compact, .delete, .typed, .plan, .migrate].contains(use),
        let fault = faults.first
      else {
        continue
      }
      throw WrongUse(description: "a deep check finds nothing, and \(use) says: \(fault)")
    }
    if isWhole, let fault = try faults(.deepCheck, path, scratch).first {
      throw WrongUse(description: "a deep check finds nothing, and after writing: \(fault)")
    }
  }

  /// - Returns: the faults that a check found, or the error that was thrown.
  private static func faults(
    _ use: StoreUse, _ path: String, _ scratch: String
  ) throws -> [StoreError] {
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    do {
      return try use.run(at: path, scratch: scratch)
    } catch let error as StoreError {
      return [error]
    } catch {
      throw WrongUse(description: "\(use) throws \(error)")
    }
  }
}
