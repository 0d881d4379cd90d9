import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Each kind of change that the server makes by statements.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct MigrationTests {
  private func trial(
    _ name: String, _ one: RecordDescription, _ two: RecordDescription
  ) -> MigrationTrial {
    MigrationTrial(
      name: "m_" + name,
      versions: [
        ModelVersion(1, label: "One", describing: ["Item": one]),
        ModelVersion(2, label: "Two", describing: ["Item": two]),
      ])
  }

  private static let id = Field(primaryKey: true, name: "id", type: .integer)

  @Test("Fields of every type are added, with the values that they get in a store")
  func addedFields() async throws {
    let one = describe {
      Self.id
      Field(name: "name", type: .string)
    }
    let two = describe {
      Self.id
      Field(name: "name", type: .string)
      Field(name: "note", type: .string, optional: true)
      Field(name: "title", type: .string, migrationInfo: .init(default: "it's new"))
      Field(name: "stock", type: .integer, indexed: true, default: 7)
      Field(name: "least", type: .uint8, migrationInfo: .init(default: FieldValue.unsigned(9)))
      Field(
        name: "price", type: .decimal, default: .decimal(1),
        migrationInfo: .init(default: FieldValue.decimal(Decimal(5) / 4)))
      Field(name: "weight", type: .double, migrationInfo: .init(default: 0.1))
      Field(name: "isSold", type: .boolean, migrationInfo: .init(default: true))
      Field(
        name: "made", type: .date,
        migrationInfo: .init(default: FieldValue.date(Date(timeIntervalSinceReferenceDate: 1.5))))
      Field(
        name: "code", type: .uuid,
        migrationInfo: .init(default: FieldValue.uuid(Workshop.identity(1))))
      Field(
        name: "bytes", type: .binaryData,
        migrationInfo: .init(default: FieldValue.data(Data([0, 255]))))
      Field(
        name: "sizes", type: .array(of: .integer),
        migrationInfo: .init(default: FieldValue.array([.integer(1), .integer(2)])))
    }
    try await trial("added", one, two).run(byServer: true)
  }

  @Test("Fields are removed with their indexes, checks and constraints")
  func removedFields() async throws {
    let one = describe {
      Self.id
      Field(name: "name", type: .string, unique: true)
      Field(name: "small", type: .uint8, indexed: true)
      Field(name: "weight", type: .double, indexed: true)
      Field(name: "rest", type: .array(of: .int8))
      Index("small", .descending("weight"))
    }
    let two = describe {
      Self.id
      Field(name: "weight", type: .double, indexed: true)
    }
    try await trial("removed", one, two).run(byServer: true)
  }

  @Test("Fields, and parts of composites, are renamed, with everything that is named after them")
  func renamedFields() async throws {
    let one = describe {
      Self.id
      Field(name: "name", type: .string, unique: true)
      Field(name: "small", type: .uint8, indexed: true)
      Field(
        name: "place",
        type: .composite {
          Field(name: "shelf", type: .string, optional: true)
          Field(name: "row", type: .uint16)
        }, optional: true)
      Field(name: "stays", type: .integer, indexed: true)
      Index("small", named: "large ones", where: .comparison(field: "stays", .greater, 3))
    }
    let two = describe {
      Self.id
      Field(name: "title", type: .string, unique: true, migrationInfo: .init(renamingID: "name"))
      Field(name: "least", type: .uint8, indexed: true, migrationInfo: .init(renamingID: "small"))
      Field(
        name: "spot",
        type: .composite {
          Field(
            name: "board", type: .string, optional: true, migrationInfo: .init(renamingID: "shelf"))
          Field(name: "row", type: .uint16)
        }, optional: true, migrationInfo: .init(renamingID: "place"))
      Field(name: "stays", type: .integer, indexed: true)
      Index("least", named: "large ones", where: .comparison(field: "stays", .greater, 3))
    }
    try await trial("renamed", one, two).run(byServer: true)
  }

  @Test("Fields exchange their names, and a new one gets the name of one that is removed")
  func exchangedNames() async throws {
    let one = describe {
      Self.id
      Field(name: "a", type: .string, indexed: true)
      Field(name: "b", type: .string, unique: true)
      Field(name: "c", type: .integer)
      Field(name: "d", type: .integer)
    }
    let two = describe {
      Self.id
      Field(name: "b", type: .string, indexed: true, migrationInfo: .init(renamingID: "a"))
      Field(name: "a", type: .string, unique: true, migrationInfo: .init(renamingID: "b"))
      Field(name: "c", type: .integer, migrationInfo: .init(renamingID: "d"))
    }
    try await trial("exchanged", one, two).run(byServer: true)
  }

  @Test("Fields become required, with a value where there was none, and optional")
  func optionality() async throws {
    let one = describe {
      Self.id
      Field(name: "note", type: .string, optional: true)
      Field(name: "count", type: .integer, indexed: true)
      Field(
        name: "place", type: .composite { Field(name: "row", type: .integer, optional: true) },
        optional: true)
    }
    let two = describe {
      Self.id
      Field(name: "note", type: .string, migrationInfo: .init(default: "none"))
      Field(name: "count", type: .integer, optional: true, indexed: true)
      Field(
        name: "place",
        type: .composite { Field(name: "row", type: .integer, migrationInfo: .init(default: 5)) },
        optional: true)
    }
    try await trial("optional", one, two).run(byServer: true)
  }

  @Test("Numbers get wider types")
  func widerTypes() async throws {
    func fields(_ types: [(String, FieldType)]) -> RecordDescription {
      describe {
        Self.id
        for (name, type) in types { Field(name: name, type: type, indexed: true) }
      }
    }
    let one = fields([
      ("a", .int8), ("b", .uint8), ("c", .int16), ("d", .uint16), ("e", .int32), ("f", .uint32),
      ("g", .float), ("h", .uint8), ("i", .int32),
    ])
    let two = fields([
      ("a", .int16), ("b", .int32), ("c", .int32), ("d", .uint32), ("e", .int64), ("f", .uint64),
      ("g", .double), ("h", .uint64), ("i", .double),
    ])
    try await trial("wider", one, two).run(byServer: true)
  }

  @Test("Indexes and constraints come and go")
  func indexes() async throws {
    let one = describe {
      Self.id
      Field(name: "a", type: .integer, optional: true, indexed: true)
      Field(name: "b", type: .uuid)
      Field(name: "c", type: .double)
      Unique("b", "c")
      Index("a", .descending("c"), named: "gone")
    }
    let two = describe {
      Self.id
      Field(name: "a", type: .integer, optional: true)
      Field(name: "b", type: .uuid, unique: true)
      Field(name: "c", type: .double, indexed: true)
      Index(.descending("a"), "c")
      Index("c", named: "some", where: .comparison(field: "a", .notEqual, .null))
    }
    try await trial("indexes", one, two).run(byServer: true)
  }

  @Test("A constant of a step is written by the server")
  func constants() async throws {
    let one = describe {
      Self.id
      Field(name: "state", type: .string)
    }
    let two = describe {
      Self.id
      Field(name: "state", type: .string)
      Field(name: "other", type: .integer, optional: true)
    }
    var trial = trial("constants", one, two)
    trial.steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Item") {
          UpdateField("state", value: "open")
          UpdateField("other", value: 3)
        }
      }
    ]
    try await trial.run(byServer: true)
  }

  @Test("Composites, and fields within them, are added and removed")
  func composites() async throws {
    let one = describe {
      Self.id
      Field(
        name: "kept", type: .composite { Field(name: "x", type: .integer) }, optional: true)
      Field(name: "gone", type: .composite { Field(name: "y", type: .uint8) }, optional: true)
    }
    let two = describe {
      Self.id
      Field(
        name: "kept",
        type: .composite {
          Field(name: "x", type: .integer)
          Field(name: "z", type: .uint8, migrationInfo: .init(default: FieldValue.unsigned(4)))
          Field(name: "w", type: .string, optional: true)
        }, optional: true)
      Field(
        name: "new", type: .composite { Field(name: "v", type: .integer, optional: true) },
        optional: true)
      Field(
        name: "whole",
        type: .composite { Field(name: "u", type: .string, migrationInfo: .init(default: "u")) })
    }
    try await trial("composites", one, two).run(byServer: true)
  }

  @Test("Fields that the server computes are added, changed and removed")
  func computedFields() async throws {
    let one = describe {
      Self.id
      Field(name: "a", type: .int32)
      Field(name: "b", type: .int32)
      Field(name: "sum", type: .integer, indexed: true, derived: .value("a + b"))
      Field(name: "gone", type: .integer, derived: .value("a - b"))
    }
    let two = describe {
      Self.id
      Field(name: "a", type: .int32)
      Field(name: "c", type: .int32, migrationInfo: .init(renamingID: "b"))
      Field(name: "sum", type: .integer, indexed: true, derived: .value("a * 2 + c"))
      Field(name: "new", type: .integer, derived: .value("c * c"))
    }
    try await trial("computed", one, two).run(byServer: true)
  }
}

/// Changes of several records, and of what leads from one to another.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct RelatedMigrationTests {
  private static let id = Field(primaryKey: true, name: "id", type: .integer)

  @Test("Records come, go and are renamed, with the references and lists that lead to them")
  func records() async throws {
    let one = [
      "Person": describe {
        Self.id
        Field(name: "name", type: .string, unique: true)
      },
      "Tag": describe { Self.id },
      "Draft": describe {
        Self.id
        Field(name: "author", type: .reference(to: "Person"))
      },
      "Post": describe {
        Self.id
        Field(name: "author", type: .reference(to: "Person"), optional: true)
        Field(name: "tags", type: .references(to: "Tag"))
        Field(name: "readers", type: .references(to: "Person"))
      },
    ]
    let two = [
      "Author": describe {
        RecordName("Author", renamingID: "Person")
        Self.id
        Field(name: "name", type: .string, unique: true)
      },
      "Label": describe {
        RecordName("Label", renamingID: "Tag")
        Self.id
      },
      "Comment": describe {
        Self.id
        Field(name: "post", type: .reference(to: "Post"))
        Field(name: "authors", type: .references(to: "Author"))
      },
      "Post": describe {
        Self.id
        Field(
          name: "writer", type: .reference(to: "Author"), optional: true,
          migrationInfo: .init(renamingID: "author"))
        Field(
          name: "labels", type: .references(to: "Label"), migrationInfo: .init(renamingID: "tags"))
        Field(name: "editor", type: .reference(to: "Author"), optional: true)
        Field(name: "editors", type: .references(to: "Author"))
      },
    ]
    try await MigrationTrial(
      name: "m_records",
      versions: [ModelVersion(1, describing: one), ModelVersion(2, describing: two)]
    ).run(byServer: true)
  }

  @Test("Kinds come, and get and lose fields")
  func kinds() async throws {
    func kind(_ name: String, @RecordDescription.ResultBuilder _ body: () -> RecordDescription)
      -> (String, RecordDescription)
    {
      (
        name,
        describe {
          Parent("Vehicle")
          body()
        }
      )
    }
    let vehicle = describe {
      Self.id
      Field(name: "name", type: .string)
    }
    let one = Dictionary(uniqueKeysWithValues: [
      ("Vehicle", vehicle),
      kind("Truck") {
        Field(name: "load", type: .integer)
        Field(name: "gone", type: .string, optional: true)
      },
      kind("Car") { Field(name: "seats", type: .uint8) },
    ])
    let two = Dictionary(uniqueKeysWithValues: [
      ("Vehicle", vehicle),
      kind("Truck") {
        Field(name: "cargo", type: .integer, migrationInfo: .init(renamingID: "load"))
        Field(name: "axles", type: .uint8, migrationInfo: .init(default: FieldValue.unsigned(2)))
      },
      kind("Car") { Field(name: "seats", type: .uint16) },
      kind("Bicycle") { Field(name: "gears", type: .integer) },
    ])
    try await MigrationTrial(
      name: "m_kinds",
      versions: [ModelVersion(1, describing: one), ModelVersion(2, describing: two)]
    ).run(byServer: true)
  }

  @Test("Several versions are passed at once, each with its step")
  func severalVersions() async throws {
    func item(_ version: Int) -> RecordDescription {
      describe {
        Self.id
        Field(
          name: version == 1 ? "name" : "title", type: .string, indexed: version > 2,
          migrationInfo: version == 2 ? .init(renamingID: "name") : nil)
        if version > 1 {
          Field(name: "size", type: version > 2 ? .int64 : .int32, migrationInfo: .init(default: 1))
        }
        if version > 3 { Field(name: "note", type: .string, optional: true) }
      }
    }
    var trial = MigrationTrial(
      name: "m_several",
      versions: (1...4).map { ModelVersion($0, label: "V\($0)", describing: ["Item": item($0)]) })
    try await trial.run(byServer: true)
    trial = MigrationTrial(name: "m_several_later", versions: trial.versions)
    trial.first = 2
    try await trial.run(byServer: true)
  }
}
