import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// One thing that a version changes of the records of `LongRecords`, with what becomes of them: worked out without the
/// library.
enum LongChange: Hashable, Sendable {
  /// A smaller integer becomes a larger one.
  case widened
  /// A field that could be null gets a value everywhere.
  case required
  /// A field and an index are added.
  case added
  /// A closure makes a field, and another changes one that is unique.
  case computed
  /// A reference becomes a list of references.
  case listed
  /// That list becomes the list of a new record that a reference leads to.
  case gathered
  /// Another field is the primary key.
  case rekeyed
  /// A transform makes records of another type.
  case split
  /// The records become a kind of others.
  case entered
  /// A value of the row becomes a blob.
  case external
  /// A string is derived from the code.
  case derived
  /// A hook changes records of the old version.
  case before
  /// A hook changes records of the new version.
  case after
}

/// The records that long operations work on: items that fill pages, some with a value that has pages of its own, and a few
/// others.
struct LongRecords: Sendable {
  let count: Int
  /// The bytes of each item's text.
  let textSize: Int
  /// Every so many items have a body, of so many bytes.
  let bodies: (every: Int, size: Int)
  let ownerCount = 12

  /// Few that fill hundreds of blocks: three items a leaf.
  static let wide = LongRecords(count: 108, textSize: 2_500, bodies: (10, 12_000))

  /// - Parameter count: As many items as are asked for, small ones.
  static func small(_ count: Int) -> LongRecords {
    LongRecords(count: count, textSize: 24, bodies: (500, 12_000))
  }

  /// What others lead to comes first: a store is made in several transactions.
  var all: [DynamicRecord] {
    (0..<ownerCount).map { .of("Owner", Int64($0), ["name": .string("owner \($0)")]) } + items
      + (0..<8).map { .of("Thing", Int64(10_000_000 + $0)) }
  }

  private var items: [DynamicRecord] { (0..<count).map { item($0) } }

  func item(_ id: Int) -> DynamicRecord {
    let hasBody = id % bodies.every == 3
    return .of(
      "Item", Int64(id),
      [
        "code": .string(Self.code(id)), "size": .integer(Int64(id % 97)),
        "note": id % 3 == 0 ? .null : .string("note \(id)"),
        "owner": id % 4 == 0 ? .null : .integer(Int64(id % ownerCount)),
        "text": .string(Self.text(id, textSize)),
        "body": hasBody ? .data(Data(Self.text(id, bodies.size).utf8)) : .null,
      ])
  }

  private static func code(_ id: Int) -> String {
    let digits = String(id)
    return "c" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
  }

  /// Does not compress to nothing.
  private static func text(_ id: Int, _ size: Int) -> String {
    var word = UInt64(truncatingIfNeeded: id) &* 0x9e37_79b9_7f4a_7c15 | 1
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for _ in 0..<size {
      word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes.append(97 + UInt8(word >> 59) % 26)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

// MARK: Descriptions

extension LongChange {
  typealias Changes = Set<LongChange>

  /// - Parameter versions: What each version after the first changes.
  static func model(_ versions: [Changes]) -> StoreModel {
    @Sendable func changes(_ version: Int) -> Changes {
      versions.prefix(max(0, version - 1)).reduce([]) { $0.union($1) }
    }
    return StoreModel(
      version: versions.count + 1,
      untyped: [
        RemovedRecord("Item") { item(changes($0)) },
        RemovedRecord("Owner") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        },
        RemovedRecord("Thing") { _ in Field(primaryKey: true, name: "id", type: .integer) },
        RemovedRecord("Tag") { version in
          if changes(version).contains(.split) {
            Field(primaryKey: true, name: "name", type: .string)
            Field(name: "count", type: .integer, indexed: true)
          }
        },
        RemovedRecord("Crew") { version in
          if changes(version).contains(.gathered) {
            Field(primaryKey: true, name: "id", type: .uuid)
            Field(name: "owners", type: .references(to: "Owner"))
          }
        },
      ])
  }

  @RecordDescription.ResultBuilder
  private static func item(_ has: Changes) -> RecordDescription {
    if has.contains(.entered) {
      RecordDescription.Parent("Thing")
    } else {
      Field(primaryKey: !has.contains(.rekeyed), name: "id", type: .integer)
    }
    Field(
      primaryKey: has.contains(.rekeyed), name: "code", type: .string,
      unique: !has.contains(.rekeyed))
    Field(name: "size", type: has.contains(.widened) ? .int64 : .int16, indexed: true)
    Field(
      name: "note", type: .string, optional: !has.contains(.required),
      migrationInfo: has.contains(.required) ? .init(default: "none") : nil)
    if has.contains(.gathered) {
      Field(
        name: "crew", type: .reference(to: "Crew"), optional: true,
        migrationInfo: .init(choosing: .all(in: "owners"), renamingID: "owners"))
    } else if has.contains(.listed) {
      Field(
        name: "owners", type: .references(to: "Owner"),
        migrationInfo: .init(renamingID: "owner"))
    } else {
      Field(name: "owner", type: .reference(to: "Owner"), optional: true)
    }
    Field(name: "text", type: .string)
    if has.contains(.external) {
      Field(
        name: "body", type: .binaryData, storage: .external(threshold: 100), optional: true)
    } else {
      Field(name: "body", type: .binaryData, optional: true)
    }
    if has.contains(.added) {
      Field(name: "rank", type: .integer, indexed: true, migrationInfo: .init(default: 3))
    }
    if has.contains(.computed) { Field(name: "digest", type: .integer) }
    if has.contains(.derived) {
      Field(name: "key", type: .string, derived: .lowercased("code"))
    }
  }

  /// The step to a version that makes some changes.
  static func step(to version: Int, _ changes: Changes) -> MigrationStep {
    MigrationStep(to: version) {
      if changes.contains(.before) {
        RunBefore { transaction in
          _ = try transaction.delete(record: "Item", key: 5)
          guard var item = try transaction.fetch(record: "Item", key: 6) else { return }
          item["text"] = "six"
          try transaction.save(item)
        }
      }
      if changes.contains(.computed) {
        UpdateRecord("Item") {
          UpdateField("digest", from: { old in digest(old.record) })
          UpdateField("code", by: { old in try old.as(String.self).map { $0 + "!" } })
        }
      }
      if changes.contains(.split) {
        TransformRecords("Item", into: "Item", "Tag") { old, emit in
          try emit(old)
          try emit.upsert(tag(old.record)) { existing, _ in
            var merged = existing
            merged["count"] = .integer(try existing["count", as: Int64.self] + 1)
            return merged
          }
        }
      }
      if changes.contains(.after) {
        RunAfter { transaction in try transaction.save(lastOwner) }
      }
    }
  }
}

// MARK: What becomes of records

extension LongChange {
  private static let lastOwner = DynamicRecord.of("Owner", 1_000, ["name": "the last"])

  private static func digest(_ item: DynamicRecord) -> FieldValue {
    guard case .string(let text) = item["text"], case .integer(let id) = item["id"] else {
      return .null
    }
    return .integer(id * 1_000 + Int64(text.utf8.prefix(9).reduce(0) { $0 + Int($1) }))
  }

  private static func tag(_ item: DynamicRecord) -> DynamicRecord {
    let size = if case .integer(let size) = item["size"] { size % 7 } else { Int64(-1) }
    return DynamicRecord("Tag", ["name": .string("tag \(size)"), "count": 1])
  }

  /// The record that has an item's owners, if it has any.
  private static func crew(_ item: DynamicRecord) -> DynamicRecord? {
    if item["owners"] == [] { return nil }
    return DynamicRecord(
      "Crew",
      ["id": .uuid(UUID(of: item["id"], in: "Crew")), "owners": item["owners"]])
  }

  /// The records of the first version after the changes of each later one.
  static func records(_ records: [DynamicRecord], after versions: [Changes]) -> [DynamicRecord] {
    versions.reduce(records) { changed($0, by: $1) }
  }

  private static func changed(_ records: [DynamicRecord], by changes: Changes) -> [DynamicRecord] {
    var records = records
    if changes.contains(.before) {
      records.removeAll { $0.name == "Item" && $0["id"] == 5 }
      for place in records.indices where records[place]["id"] == 6 {
        if records[place].name == "Item" { records[place]["text"] = "six" }
      }
    }
    var tags: [FieldValue: Int64] = [:]
    if changes.contains(.split) {
      for item in records where item.name == "Item" { tags[tag(item)["name"], default: 0] += 1 }
    }
    let crews =
      changes.contains(.gathered) ? records.filter { $0.name == "Item" }.compactMap(crew) : []
    records = records.map { $0.name == "Item" ? item($0, changes) : $0 } + crews
    if changes.contains(.entered) {
      records = records.map { record in
        var record = record
        if record.name == "Thing", record.fields["Item"] == nil {
          record.fields["Item"] = .some(.null)
        }
        return record
      }
    }
    records += tags.map {
      DynamicRecord("Tag", ["name": $0.key, "count": .integer($0.value)])
    }
    if changes.contains(.after) { records.append(lastOwner) }
    return records
  }

  private static func item(_ item: DynamicRecord, _ changes: Changes) -> DynamicRecord {
    var item = item
    if changes.contains(.required), item["note"] == .null { item["note"] = "none" }
    if changes.contains(.added) { item["rank"] = 3 }
    if changes.contains(.listed) {
      let owner = item["owner"]
      item.fields["owner"] = nil
      item["owners"] = owner == .null ? [] : .array([owner])
    }
    if changes.contains(.gathered) {
      item["crew"] = crew(item)?["id"] ?? .null
      item.fields["owners"] = nil
    }
    if changes.contains(.computed) {
      item["digest"] = digest(item)
      if case .string(let code) = item["code"] { item["code"] = .string(code + "!") }
    }
    // Codes are lowercase.
    if changes.contains(.derived) || item.fields["key"] != nil { item["key"] = item["code"] }
    guard changes.contains(.entered) else { return item }
    var own = item.fields.dictionary
    own["id"] = nil
    return .of(
      "Thing", { if case .integer(let id) = item["id"] { id } else { 0 } }(),
      ["Item": .composite(own)])
  }
}
