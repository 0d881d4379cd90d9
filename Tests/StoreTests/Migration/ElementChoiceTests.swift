import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Lists that become single values: which element is kept, what is made of all of them, and what is refused.
@Suite struct ElementChoiceTests {
  private static let author = RemovedRecord("Author") { _ in
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, optional: true)
  }

  /// The third has no name, and the second and the fifth have the same.
  private static let authors: [DynamicRecord] = zip(
    Int64(1)..., ["c", "a", .null, "d", "a"] as [FieldValue]
  ).map { .of("Author", $0, ["name": $1]) }

  private static let lists: [FieldValue] = [
    [1, 2, 4], [], [3], [3, 1], [2, 5], [5, 2], [4, 3, 1],
  ]

  private static let books: [DynamicRecord] = zip(Int64(0)..., lists).map {
    .of("Book", $0, ["authors": $1])
  }

  /// Version 1 has a list of authors, version 2 one author.
  private static func book(_ info: MigrationInfo, optional isOptional: Bool = true) -> RemovedRecord
  {
    RemovedRecord("Book") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 {
        Field(name: "authors", type: .references(to: "Author"))
      } else {
        Field(
          name: "author", type: .reference(to: "Author"), optional: isOptional, migrationInfo: info)
      }
    }
  }

  private static func values(
    _ field: String, of store: PersistentStore
  ) throws -> [FieldValue] {
    defer { try? store.close() }
    return try store.fetch(record: "Book", where: nil).map { $0[field] }
  }

  // MARK: One element

  @Test(
    arguments: [
      (.first, #""first""#, [1, nil, 3, 3, 2, 5, 4]),
      (.last, #""last""#, [4, nil, 3, 1, 5, 2, 1]),
      (.least(by: "name"), #"{"least": "name"}"#, [2, nil, 3, 1, 2, 5, 1]),
      (.greatest(by: "name"), #"{"greatest": "name"}"#, [4, nil, 3, 1, 2, 5, 4]),
    ] as [(ElementChoice, String, [Int64?])])
  func `the element is kept that the description, a step or a file states, J9`(
    choice: ElementChoice, json: String, kept: [Int64?]
  ) throws {
    let expected = kept.map { $0.map { FieldValue.integer($0) } ?? .null }
    let stated = try VersionedStore(
      Self.author, Self.book(.init(choosing: choice, renamingID: "authors")),
      holding: Self.authors + Self.books)
    let plan = try stated.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    #expect(try Self.values("author", of: stated.migrated()) == expected)
    #expect(try Self.values("author", of: stated.migrated([], .deferred)) == expected)

    let other = try VersionedStore(
      Self.author, Self.book(.init(renamingID: "authors")), holding: Self.authors + Self.books)
    let step = MigrationStep(to: 2) {
      UpdateRecord("Book") { UpdateField("author", choosing: choice) }
    }
    #expect(try Self.values("author", of: other.migrated([step])) == expected)
    let steps = try other.model.steps(
      parsing: #"[{"to": 2, "records": {"Book": {"author": {"choose": \#(json)}}}}]"#)
    #expect(try Self.values("author", of: other.migrated(steps)) == expected)
    #expect(try other.plan(steps).steps == other.plan([step]).steps)
  }

  @Test(arguments: [ElementChoice.last, .greatest(by: "name")])
  func `a choice is rehearsed, and rolled back, J9 P2`(choice: ElementChoice) throws {
    let store = try VersionedStore(
      Self.author, Self.book(.init(choosing: choice, renamingID: "authors")),
      holding: Self.authors + Self.books)
    let path = try store.copy()
    let migration = try PersistentStore.migration(at: path, to: store.model)
    _ = try migration.rehearse()
    _ = try migration.run()
    let migrated = try PersistentStore(at: path, model: store.model)
    #expect(try Self.values("author", of: migrated).contains(4))
    try PersistentStore.rollback(at: path, to: 1)
    let old = try PersistentStore(at: path, model: store.model.dynamic(version: 1))
    #expect(try Self.values("authors", of: old) == Self.lists)
  }

  @Test(arguments: [nil, ElementChoice.only])
  func `without a choice a record with several is refused, and the plan names the first three, J9`(
    choice: ElementChoice?
  ) throws {
    let info =
      choice.map { MigrationInfo(choosing: $0, renamingID: "authors") }
      ?? MigrationInfo(renamingID: "authors")
    let store = try VersionedStore(
      Self.author, Self.book(info), holding: Self.authors + Self.books)
    let fault = try #require(try store.faults().first)
    for part in [
      "Book.author: 5 of 7 records would be refused, the first since of the record 0: it has 3 elements",
      "MigrationInfo(choosing: .first) or .last", "a field of Author", ".least(by:",
      #"UpdateField("author", choosing: .first)"#, "; also of 3, 4 and others",
    ] {
      #expect(fault.contains(part), "\(fault)")
    }
    let refusal = try #require(try store.refusal())
    #expect("\(refusal)".contains("MigrationInfo(choosing: .first)"), "\(refusal)")
  }

  @Test func `an empty list has the default where a value is required`() throws {
    let store = try VersionedStore(
      Self.author,
      Self.book(.init(choosing: .last, default: 3, renamingID: "authors"), optional: false),
      holding: Self.authors + Self.books)
    #expect(try Self.values("author", of: store.migrated()) == [4, 3, 3, 1, 5, 2, 1])
    let lacking = try VersionedStore(
      Self.author, Self.book(.init(choosing: .last, renamingID: "authors"), optional: false),
      holding: Self.authors + Self.books)
    let faults = try lacking.faults()
    #expect(faults.count == 1 && faults[0].contains("1 of 7 records"), "\(faults)")
  }

  @Test func `plain values are chosen, and get wider`() throws {
    let store = try VersionedStore(
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "size", type: .array(of: .int16))
        } else {
          Field(
            name: "size", type: .int32, optional: true, indexed: true,
            migrationInfo: .init(choosing: .last))
        }
      },
      holding: [.of("Book", 1, ["size": [7, -3]]), .of("Book", 2, ["size": []])])
    #expect(try Self.values("size", of: store.migrated()) == [-3, .null])
  }

  // MARK: Other destinations

  @Test
  func `an element is chosen of records that are called otherwise afterwards, or were transformed`()
    throws
  {
    func book(_ choice: ElementChoice) -> RemovedRecord {
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "authors", type: .references(to: "Author"))
        } else {
          Field(
            name: "author", type: .reference(to: "Writer"), optional: true,
            migrationInfo: .init(choosing: choice, renamingID: "authors"))
        }
      }
    }
    let renamed = try VersionedStore(
      RemovedRecord("Author") { version in
        if version == 2 { RecordName("Writer", renamingID: "Author") }
        Field(primaryKey: true, name: "id", type: .integer)
        Field(
          name: version == 1 ? "name" : "title", type: .string, optional: true,
          migrationInfo: version == 1 ? nil : .init(renamingID: "name"))
      }, book(.greatest(by: "name")), holding: Self.authors + Self.books)
    #expect(try Self.values("author", of: renamed.migrated()) == [4, .null, 3, 1, 2, 5, 4])

    let transformed = try VersionedStore(
      Self.author,
      RemovedRecord("Writer") { version in
        if version == 2 { Field(primaryKey: true, name: "id", type: .integer) }
      }, book(.first), holding: Self.authors + Self.books)
    let step = MigrationStep(to: 2) {
      TransformRecords("Author", into: "Author", "Writer") { old, emit in
        try emit(old)
        try emit(DynamicRecord("Writer", ["id": old["id"]]))
      }
    }
    #expect(
      try Self.values("author", of: transformed.migrated([step])) == [1, .null, 3, 3, 2, 5, 4])
    // Without the step they lead nowhere.
    let faults = try transformed.faults()
    #expect(faults.contains { $0.contains("lead to no Writer") }, "\(faults)")
  }

  /// A book has authors in version 1, and in version 2 a crew that has them.
  private static func crewed(
    optional isOptional: Bool = true, list: String = "members", stated: Bool = true
  ) -> [RemovedRecord] {
    [
      author,
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "authors", type: .references(to: "Author"))
        } else {
          Field(
            name: "crew", type: .reference(to: "Crew"), optional: isOptional,
            migrationInfo: stated
              ? .init(choosing: .all(in: list), renamingID: "authors")
              : .init(renamingID: "authors"))
        }
      },
      RemovedRecord("Crew") { version in
        if version == 2 {
          Field(primaryKey: true, name: "key", type: .uuid)
          Field(name: "members", type: .references(to: "Author"))
          Field(name: "size", type: .integer, indexed: true, default: 7)
          Field(name: "leader", type: .reference(to: "Author"), optional: true)
        }
      },
    ]
  }

  @Test(arguments: [true, false])
  func `all elements are the list of a new record that the reference leads to`(isOptional: Bool)
    throws
  {
    let store = try VersionedStore(
      versions: 2, Self.crewed(optional: isOptional), holding: Self.authors + Self.books)
    let plan = try store.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    #expect("\(plan)".contains("Book.crew leads to a new Crew, which has the elements of authors"))
    for mode in [MigrationMode.automatic, .deferred] {
      let migrated = try store.migrated([], mode)
      for (id, list) in zip(Int64(0)..., Self.lists) {
        let book = try #require(try migrated.fetch(record: "Book", key: id))
        if isOptional, list == [] {
          #expect(book["crew"] == .null)
          continue
        }
        let key = FieldValue.uuid(UUID(of: .integer(id), in: "Crew"))
        #expect(book["crew"] == key)
        let crew = try #require(try migrated.fetch(record: "Crew", key: key))
        #expect(crew["members"] == list && crew["size"] == 7 && crew["leader"] == .null)
      }
      #expect(try migrated.count(record: "Crew") == (isOptional ? 6 : 7))
      try migrated.remove("Author", 3)
      #expect(
        try migrated.fetch(record: "Crew", key: UUID(of: 6, in: "Crew"))?["members"]
          == [4, 1])
      try migrated.expectSound()
      try migrated.close()
    }
    let path = try store.copy()
    _ = try PersistentStore.migration(at: path, to: store.model).rehearse()
    try PersistentStore(at: path, model: store.model).close()
    try PersistentStore.rollback(at: path, to: 1)
    let old = try PersistentStore(at: path, model: store.model.dynamic(version: 1))
    #expect(try Self.values("authors", of: old) == Self.lists)
  }

  @Test func `the error of a list whose records became others says the line to write`() throws {
    let store = try VersionedStore(
      versions: 2, Self.crewed(stated: false), holding: Self.authors + Self.books)
    let fault = try #require(try store.faults().first)
    #expect(fault.contains(#"MigrationInfo(choosing: .all(in: "members"))"#), "\(fault)")
    #expect(!fault.contains(".first"), "\(fault)")
    let steps = try store.model.steps(
      parsing: #"[{"to": 2, "records": {"Book": {"crew": {"choose": {"all": "members"}}}}}]"#)
    let migrated = try store.migrated(steps)
    #expect(try migrated.count(record: "Crew") == 6)
    try migrated.close()
  }

  @Test(arguments: [ElementChoice.last, .least(by: "name"), .all(in: "members")])
  func `whatever is chosen comes out the same by every path, and survives power cuts`(
    choice: ElementChoice
  ) throws {
    let records =
      choice.isOfAll
      ? Self.crewed() : [Self.author, Self.book(.init(choosing: choice, renamingID: "authors"))]
    var check = MigrationCheck(StoreModel(version: 2, untyped: records))
    check.count = scaled(200, debug: 40)
    try check.everyPath(from: 1)
    check.count = 20
    let cut = try check.everyPowerCut(from: 1, stride: scaled(1, debug: 9))
    #expect(cut.count > 0 && cut.violations == [], "\(cut.violations.prefix(3))")
  }

  // MARK: Several versions

  @Test func `a choice of a version between is made by a step over it, or refused`() throws {
    func store(_ choice: ElementChoice) throws -> VersionedStore {
      try VersionedStore(
        versions: 3,
        [
          Self.author,
          RemovedRecord("Book") { version in
            Field(primaryKey: true, name: "id", type: .integer)
            if version == 2 {
              Field(
                name: "authors", type: .reference(to: "Author"), optional: true,
                migrationInfo: .init(choosing: choice))
            } else {
              Field(name: "authors", type: .references(to: "Author"))
            }
          },
        ], holding: Self.authors + Self.books)
    }
    let last = try store(.last)
    let kept: [FieldValue] = [[4], [], [3], [1], [5], [2], [1]]
    #expect(try Self.values("authors", of: last.migrated()) == kept)
    #expect(
      try Self.values("authors", of: last.migrated([MigrationStep(from: 1, to: 3)])) == kept)
    let least = try store(.least(by: "name"))
    #expect(
      try Self.values("authors", of: least.migrated()) == [[2], [], [3], [1], [2], [5], [1]])
    let faults = try least.faults([MigrationStep(from: 1, to: 3)])
    #expect(faults.contains { $0.contains("take the versions one by one") }, "\(faults)")
  }

  @Test func `records that a version between makes of lists are not made by a step over it`() throws
  {
    // Version 3 is as version 2.
    let records = Self.crewed().map { record in
      RemovedRecord(record.name) { version in record.description(min(version, 2)) }
    }
    let store = try VersionedStore(
      versions: 3, records, holding: Self.authors + Self.books)
    let migrated = try store.migrated()
    #expect(try migrated.count(record: "Crew") == 6)
    try migrated.close()
    let faults = try store.faults([MigrationStep(from: 1, to: 3)])
    #expect(
      faults.contains { $0.hasPrefix("Crew: on the way its records are made for lists of Book") },
      "\(faults)")
  }

  // MARK: What cannot be

  @Test(
    arguments: [
      (.least(by: "age"), "Author does not have in the version before; it has id, name"),
      (.greatest(by: "male"), "has no order"), (.all(in: "name"), "has to be one UUID"),
    ] as [(ElementChoice, String)])
  func `a choice that cannot be made is a fault of the plan`(
    choice: ElementChoice, reason: String
  ) throws {
    let store = try VersionedStore(
      RemovedRecord("Author") { _ in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string, optional: true)
        if reason == "has no order" { Field(name: "male", type: .boolean, default: true) }
      }, Self.book(.init(choosing: choice, renamingID: "authors")),
      holding: Self.books.filter { $0["authors"] == [] })
    let faults = try store.faults()
    #expect(faults.count == 1 && faults[0].contains(reason), "\(faults)")
  }

  @Test func `records cannot be made in a list that is none, nor plain values compared`() throws {
    let crew = try VersionedStore(
      versions: 2, Self.crewed(list: "leader"), holding: Self.authors + Self.books)
    let faults = try crew.faults()
    #expect(
      faults.count == 1 && faults[0].contains("no list \"leader\"")
        && faults[0].contains("members does"), "\(faults)")
    let step = MigrationStep(to: 2) {
      UpdateRecord("Book") {
        UpdateField("size", choosing: .first)
        UpdateField("word", choosing: .least(by: "length"))
        UpdateField("added", choosing: .last)
      }
    }
    let plain = try VersionedStore(
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "size", type: .int16)
        Field(name: "word", type: version == 1 ? .array(of: .string) : .string, optional: true)
        if version == 2 { Field(name: "added", type: .integer, optional: true) }
      }, holding: [.of("Book", 1, ["size": 1, "word": ["a", "b"]])])
    let texts = try plain.faults([step])
    for part in ["Book.size: one element", "Book.word: .least", "Book.added: one element"] {
      #expect(texts.contains { $0.hasPrefix(part) }, "\(texts)")
    }
  }

  // MARK: Locks

  @Test(
    arguments: [
      .first, .last, .only, .least(by: "name"), .greatest(by: "a name"), .all(in: "first"),
    ] as [ElementChoice])
  func `a lock keeps the choice, and a released one is not changed, I4`(choice: ElementChoice)
    throws
  {
    func model(_ choice: ElementChoice?) -> StoreModel {
      let info =
        choice.map { MigrationInfo(choosing: $0, default: 7, renamingID: "authors") }
        ?? MigrationInfo(default: 7, renamingID: "authors")
      return StoreModel(version: 2, untyped: [Self.author, Self.book(info)])
    }
    let lock = try SchemaLock(model(choice))
    let parsed = try SchemaLock(parsing: "\(lock)")
    #expect(parsed == lock && "\(parsed)" == "\(lock)")
    #expect(try SchemaLock(StoreModel(parsed)) == lock)
    let directory = try TemporaryDirectory()
    let path = directory.path + "/Schema.lock"
    try SchemaLock.write(model(choice), at: path)
    #expect {
      try SchemaLock.check(model(nil), at: path)
    } throws: { error in
      "\(error)".contains("the kept element was \(choice) and is none")
        && "\(error)".contains(".init(choosing: \(choice), default: 7, renamingID: \"authors\")")
    }
    withExtendedLifetime(directory) {}
  }
}
