import Cambium
import FoundationEssentials
import TestSupport

/// The records of the stores that the command is tried on: fields of every kind, in two versions.
enum Shop {
  struct Place: Codable, Equatable, Sendable {
    var x: Double
    var y: Double?
  }

  /// As version 1 had it.
  struct OldItem: Record {
    var id: Int
    var title: String
    var price: Decimal
    var tags: [String]
    var added: Date
    var note: String?
    var place: Place?
    var picture: Data
    var reference: UUID
    var ratio: Double
    var link: URL?
    var small: Int8
    var large: UInt64
    var rough: Float
    var extra: [String: Int]?

    static func recordDescription(for version: Int) -> RecordDescription {
      Item.recordDescription(for: 1)
    }
  }

  struct Item: Record {
    var id: Int
    var name: String
    var count: Int
    var price: Decimal
    var tags: [String]
    var added: Date
    var note: String?
    var place: Place?
    var picture: Data
    var reference: UUID
    var ratio: Double
    var link: URL?
    var small: Int8
    var large: UInt64
    var rough: Float
    var extra: [String: Int]?

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Item")
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 {
        Field(name: "title", type: .string)
      } else {
        Field(name: "name", type: .string, migrationInfo: .init(renamingID: "title"))
        Field(name: "count", type: .integer, default: 0)
        Index("name", named: "the names")
      }
      Field(name: "price", type: .decimal)
      Field(name: "tags", type: .array(of: .string))
      Field(name: "added", type: .date)
      Field(name: "note", type: .string, optional: true)
      Field(
        name: "place",
        type: .composite {
          Field(name: "x", type: .double)
          Field(name: "y", type: .double, optional: true)
        }, optional: true)
      Field(name: "picture", type: .binaryData)
      Field(name: "reference", type: .uuid)
      Field(name: "ratio", type: .double)
      Field(name: "link", type: .url, optional: true)
      Field(name: "small", type: .int8)
      Field(name: "large", type: .uint64)
      Field(name: "rough", type: .float)
      Field(name: "extra", type: .transformable, optional: true)
    }
  }

  struct Visit: Record {
    var day: Date
    var person: String
    var seen: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(name: "day", type: .date)
      Field(name: "person", type: .string)
      Field(name: "seen", type: .boolean)
      PrimaryKey("person", .descending("day"))
      Unique("person", "seen", where: .comparison(field: "seen", .equal, true))
    }
  }

  static let old = StoreModel(version: 1, label: "first", records: [OldItem.self, Visit.self])
  static let model = StoreModel(version: 2, records: [Item.self, Visit.self])

  static let reference = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  static func oldItem(_ id: Int) -> OldItem {
    OldItem(
      id: id, title: "thing \(id)", price: Decimal(id) / 4, tags: ["a", "b \(id)"],
      added: Date(timeIntervalSinceReferenceDate: Double(id) * 86_400.5),
      note: id == 2 ? nil : "ok",
      place: id == 3 ? nil : Place(x: Double(id), y: nil),
      picture: Data([0, 255, UInt8(truncatingIfNeeded: id)]),
      reference: reference, ratio: Double(id) / 3, link: URL(string: "https://example.com/\(id)"),
      small: Int8(truncatingIfNeeded: -id), large: UInt64.max - UInt64(id), rough: 0.1,
      extra: ["one": id])
  }

  static func item(_ id: Int, name: String = "new") -> Item {
    Item(
      id: id, name: name, count: 7, price: 1, tags: [],
      added: Date(timeIntervalSinceReferenceDate: 0),
      note: nil, place: nil, picture: Data(), reference: reference, ratio: 0, link: nil, small: 0,
      large: 0, rough: 0, extra: nil)
  }

  static var options: StoreOptions {
    var options = StoreOptions()
    options.history = .keptForever
    return options
  }

  /// Makes a store of version 1 with three items.
  static func makeOld(at path: String) throws {
    let store = try PersistentStore(at: path, model: old, options: options)
    try store.write(author: "test") { transaction in
      for id in 1...3 { try transaction.save(oldItem(id)) }
      try transaction.save(
        Visit(day: Date(timeIntervalSinceReferenceDate: 1), person: "Ada", seen: true))
      try transaction.setMetadata(["shop", "1"], for: "owner")
    }
    try store.close()
  }

  /// Makes a store that was migrated from version 1 to 2, and written to since.
  static func make(at path: String) throws {
    try makeOld(at: path)
    let store = try PersistentStore(at: path, model: model, options: options)
    try store.write(author: "test") { transaction in try transaction.save(item(4)) }
    try store.close()
  }
}
