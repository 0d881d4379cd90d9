import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Relations through several versions: whatever steps are taken, records lead where they led.
@Suite struct RelationRouteTests {
  /// Destination and reference change their names in turn, by the same pairs again; in version 3 the reference is a list, in
  /// version 2 it is not checked.
  private static func store() throws -> VersionedStore {
    try VersionedStore(
      versions: 4,
      [
        RemovedRecord("Author") { version in
          switch version {
          case 1: RecordName("Author")
          case 3: RecordName("Author", renamingID: "Writer")
          default: RecordName("Writer", renamingID: "Author")
          }
          Field(primaryKey: true, name: "id", type: .integer)
        },
        RemovedRecord("Book") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          let name = version % 2 == 1 ? "a" : "b"
          let info = version == 1 ? nil : MigrationInfo(renamingID: version % 2 == 1 ? "b" : "a")
          let destination = version % 2 == 1 ? "Author" : "Writer"
          if version < 3 {
            Field(
              name: name, type: .reference(to: destination, checked: version != 2),
              optional: true, migrationInfo: info)
          } else {
            Field(name: name, type: .references(to: destination), migrationInfo: info)
          }
        },
      ],
      holding: (1...3).map { .of("Author", $0) } + [
        .of("Book", 0, ["a": 3]), .of("Book", 1), .of("Book", 2, ["a": 1]),
      ])
  }

  private static let shortcuts: [[MigrationStep]] = [
    [], [MigrationStep(from: 1, to: 4)], [MigrationStep(squashing: 1...3, to: 4)],
    [MigrationStep(from: 1, to: 3)], [MigrationStep(from: 2, to: 4)],
    [MigrationStep(from: 1, to: 2), MigrationStep(from: 2, to: 4)],
  ]

  @Test(arguments: shortcuts.indices, [MigrationMode.automatic, .deferred])
  func `L4: references and destinations are followed through every renaming`(
    steps: Int, mode: MigrationMode
  ) throws {
    let store = try Self.store().migrated(Self.shortcuts[steps], mode)
    func books() throws -> [FieldValue] {
      try store.fetch(record: "Book", where: nil).map { $0["b"] }
    }
    #expect(try books() == [[3], [], [1]])
    try store.remove("Writer", 3)
    #expect(try books() == [[], [], [1]])
    try store.expectSound()
    try store.close()
  }

  @Test func `L6: a list goes back to a single reference, unless a record has two by then`() throws
  {
    let types = [
      RemovedRecord("Author") { _ in Field(primaryKey: true, name: "id", type: .integer) },
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "author", type: .reference(to: "Author"), optional: true)
        } else {
          Field(name: "author", type: .references(to: "Author"))
        }
      },
    ]
    let back = MigrationStep(from: 2, to: 1)
    for added in [[2], [2, 3]] as [FieldValue] {
      let image = StoreImage()
      let model = StoreModel(version: 2, untyped: types)
      let old = try image.open(model.dynamic(version: 1))
      try old.write { transaction in
        for id in Int64(1)...3 { try transaction.save(.of("Author", id)) }
        try transaction.save(.of("Book", 0, ["author": 1]))
        try transaction.save(.of("Book", 1))
      }
      try old.close()
      let new = try image.open(model.dynamic(version: 2))
      try new.write { try $0.save(.of("Book", 2, ["author": added])) }
      try new.close()
      let error = storeError {
        let again = try image.open(model.dynamic(version: 1), steps: [back])
        #expect(
          try again.fetch(record: "Book", where: nil).map { $0["author"] } == [1, nil, 2])
        try again.remove("Author", 2)
        #expect(
          try again.fetch(record: "Book", where: nil).map { $0["author"] } == [1, nil, nil])
        try again.expectSound()
        try again.close()
      }
      #expect((error != nil) == (added != [2]), "\(error.map { "\($0)" } ?? "")")
    }
  }
}
