import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The records of the stores that are found. Version 3 is one that no recorded store has.
enum FoundRecords {
  static let itemCount = 100

  /// Fields that are renamed, widened and added, and an index that is.
  static let items = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("Item") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "name", type: .string, indexed: true)
        } else {
          Field(
            name: "label", type: .string, indexed: true, migrationInfo: .init(renamingID: "name"))
          Field(name: "stock", type: .integer, migrationInfo: .init(default: 7))
        }
        Field(name: "size", type: version == 1 ? .int16 : .int32, indexed: version > 1)
        Field(name: "note", type: .string, optional: true)
        Field(name: "tags", type: .array(of: .string))
        if version > 2 { Field(name: "later", type: .string, optional: true) }
      }
    ])

  static func someItems(_ version: Int, counted: Bool) -> [DynamicRecord] {
    (0..<Int64(itemCount)).map { id in
      var fields: [String: FieldValue] = [
        "size": .integer(id * 300 % 1_000 - 500), "note": id % 3 == 0 ? .null : .string("n\(id)"),
        "tags": .array((0..<id % 4).map { .string("tag \($0)") }),
      ]
      fields[version == 1 ? "name" : "label"] = .string("Öl \(id)")
      if version > 1 { fields["stock"] = .integer(counted ? id : 7) }
      return .of("Item", id, fields)
    }
  }

  /// One of version 1 that a store has had, or nearly.
  static let lostItem = DynamicRecord.of(
    "Item", 1_000, ["name": "lost", "size": 1, "tags": .array([])])

  /// To version 2, by a closure.
  static func step(_ look: @escaping @Sendable (Int) throws -> Void = { _ in }) -> MigrationStep {
    MigrationStep(to: 2) {
      UpdateRecord("Item") {
        UpdateField(
          "stock",
          from: { old in
            let id = try old["id", as: Int.self]
            try look(id)
            return id
          })
      }
    }
  }

  static let photos = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("Photo") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "image", type: .binaryData, storage: .external(threshold: 100))
        Field(
          name: "preview", type: .binaryData,
          storage: .external(threshold: 50, deduplicated: true), optional: true)
        Field(name: "text", type: .string, storage: .external())
        if version > 2 { Field(name: "later", type: .string, optional: true) }
      }
    ])

  static let somePhotos: [DynamicRecord] = (0..<Int64(12)).map { id in
    .of(
      "Photo", id,
      [
        "image": .data(PhotoContent.bytes(50 + 700 * Int(id), seed: UInt64(id))),
        "preview": id % 3 == 0 ? .null : .data(PhotoContent.bytes(300, seed: UInt64(id % 3))),
        "text": .string(PhotoContent.text(1_000 * Int(id))),
      ])
  }

  static let library = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("Author") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        inverse("books", of: "author", in: "Book", .cascade)
        inverse("edited", of: "editor", in: "Book", .nullify)
        if version > 2 { Field(name: "later", type: .string, optional: true) }
      },
      RemovedRecord("Topic") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        inverse("books", of: "topics", in: "Book", .deny)
      },
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "author", type: .reference(to: "Author"))
        Field(name: "editor", type: .reference(to: "Author"), optional: true)
        Field(name: "topics", type: .references(to: "Topic"))
      },
    ])

  static let someBooks: [DynamicRecord] =
    (0..<Int64(5)).map { .of("Author", $0, ["name": .string("author \($0)")]) }
    + (0..<Int64(3)).map { .of("Topic", $0) }
    + (0..<Int64(30)).map { id in
      .of(
        "Book", id,
        [
          "author": .integer(id % 5), "editor": id % 2 == 0 ? .null : .integer((id + 1) % 5),
          "topics": .array((0..<id % 4).map { .integer($0) }),
        ])
    }

  static let trips = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("Trip") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string, indexed: true)
        if version > 2 { Field(name: "later", type: .string, optional: true) }
      },
      RemovedRecord("Business") { _ in
        RecordDescription.Parent("Trip")
        Field(name: "purpose", type: .string)
      },
      RemovedRecord("Sales") { _ in
        RecordDescription.Parent("Business")
        Field(name: "target", type: .integer, indexed: true)
      },
      RemovedRecord("Personal") { _ in RecordDescription.Parent("Trip") },
    ])

  static let someTrips: [DynamicRecord] = (0..<Int64(40)).map { id in
    var fields: [String: FieldValue] = ["name": .string("trip \(id)")]
    switch id % 4 {
    case 1, 2:
      let sales: FieldValue = id % 4 == 2 ? .composite(["target": .integer(id)]) : .null
      fields["Business"] = .composite(["purpose": .string("purpose \(id)"), "Sales": sales])
    case 3: fields["Personal"] = .composite(["is": true])
    default: break
    }
    return .of("Trip", id, fields)
  }
}
