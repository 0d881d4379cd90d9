import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What follows of relations from two descriptions, on data; and what is refused, with its count.
@Suite struct RelationMigrationTests {
  private typealias Rows = [DynamicRecord]

  private static let author = RemovedRecord("Author") { _ in
    Field(primaryKey: true, name: "id", type: .integer)
  }

  private static func book(
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) -> RemovedRecord {
    RemovedRecord("Book") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      fields(version)
    }
  }

  private static let authors: Rows = (1...3).map { .of("Author", $0) }

  /// Authors 1 to 3, and books with a field.
  private static func store(
    _ values: [FieldValue], of field: String = "author", versions: Int = 2,
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) throws -> VersionedStore {
    let books = values.enumerated().map { index, value in
      DynamicRecord.of("Book", Int64(index), [field: value])
    }
    return try VersionedStore(
      versions: versions, author, book(fields), holding: authors + books)
  }

  private static func values(_ field: String, of store: PersistentStore) throws -> [FieldValue] {
    try store.fetch(record: "Book", where: nil).map { $0[field] }
  }

  /// The values of a field after a migration, done at once and deferred.
  private static func values(
    _ field: String, _ store: VersionedStore, deferrable isDeferrable: Bool,
    _ steps: [MigrationStep] = []
  ) throws -> [FieldValue] {
    let plan = try store.plan(steps)
    #expect(plan.canRun, "\(plan)")
    #expect(plan.isInferred == steps.isEmpty)
    #expect(plan.steps.map(\.isDeferrable) == [isDeferrable], "\(plan)")
    let migrated = try store.migrated(steps)
    let values = try values(field, of: migrated)
    try migrated.close()
    let later = try store.migrated(steps, .deferred)
    #expect(try self.values(field, of: later) == values)
    if !isDeferrable { #expect(try later.pendingMigration == nil) }
    while try later.finishMigration(budget: WorkBudget(records: 1)) {}
    #expect(try self.values(field, of: later) == values)
    try later.expectSound()
    try later.close()
    return values
  }

  // MARK: Added

  @Test func `J8: an optional reference and a list are added, null and empty, also deferred`()
    throws
  {
    let store = try VersionedStore(
      Self.author,
      Self.book { version in
        if version > 1 {
          Field(name: "author", type: .reference(to: "Author"), optional: true)
          Field(name: "readers", type: .references(to: "Author"))
        }
      }, holding: Self.authors + (0..<4).map { .of("Book", $0) })
    #expect(try Self.values("author", store, deferrable: true) == Array(repeating: .null, count: 4))
    #expect(
      try Self.values("readers", store, deferrable: true) == Array(repeating: .array([]), count: 4))
  }

  @Test func `deletions obey references whose rows are still of an older version`() throws {
    let store = try VersionedStore(
      Self.author,
      Self.book { version in
        if version > 1 {
          Field(name: "author", type: .reference(to: "Author"), optional: true)
          Field(name: "readers", type: .references(to: "Author"))
        }
      }, holding: Self.authors + (0..<4).map { .of("Book", $0) })
    let later = try store.migrated([], .deferred)
    #expect(try later.pendingMigration?.indexes == [])
    try later.write { transaction in
      for id in [Int64(0), 2] {
        try transaction.save(.of("Book", id, ["author": 1, "readers": [1, 3]]))
      }
      try transaction.delete(record: "Author", key: 1)
    }
    #expect(try Self.values("author", of: later) == Array(repeating: .null, count: 4))
    #expect(try Self.values("readers", of: later) == [[3], [], [3], []])
    #expect(
      storeError { try later.write { try $0.save(.of("Book", 7, ["author": 1, "readers": []])) } }
        == .danglingReference(record: "Book", key: "7", field: "author", destination: "Author 1"))
    try later.expectSound()
    while try later.finishMigration(budget: WorkBudget(records: 1)) {}
    try later.expectSound()
    try later.close()
  }

  @Test(arguments: [nil, 2, 9] as [FieldValue?])
  func `J8: a required reference needs a default that leads somewhere, or a step`(
    value: FieldValue?
  ) throws {
    let store = try VersionedStore(
      Self.author,
      Self.book { version in
        if version > 1 {
          Field(
            name: "author", type: .reference(to: "Author"),
            migrationInfo: value.map { .init(default: $0) })
        }
      }, holding: Self.authors + (0..<4).map { .of("Book", $0) })
    let faults = try store.faults()
    switch value {
    case nil:
      #expect(faults.count == 1 && faults[0].hasPrefix("Book.author: it is new, not optional"))
    case 2:
      #expect(
        try Self.values("author", store, deferrable: false) == Array(repeating: 2, count: 4))
    default:
      #expect(
        faults == [
          "Book.author: 4 references lead to no Author, the first of the record 0 to 9"
        ])
      guard case .stepFailed(2, "Book.author", let reason) = try store.refusal() else {
        return #expect(Bool(false), "it is migrated")
      }
      #expect(
        reason.hasPrefix(
          "4 references lead to no Author, the first of the record 0 to 9"), "\(reason)")
    }
    let step = MigrationStep(to: 2) {
      UpdateRecord("Book") {
        UpdateField("author", from: { old in try old["id", as: Int.self] % 3 + 1 })
      }
    }
    let migrated = try store.migrated([step])
    #expect(try Self.values("author", of: migrated) == [1, 2, 3, 1])
    try migrated.close()
  }

  @Test func `a list that must not be empty needs a step`() throws {
    let store = try VersionedStore(
      Self.author,
      Self.book { version in
        if version > 1 { Field(name: "readers", type: .references(to: "Author", count: 1...)) }
      }, holding: Self.authors + [.of("Book", 0)])
    let faults = try store.faults()
    #expect(faults.count == 1 && faults[0].hasPrefix("Book.readers: it is new"), "\(faults)")
  }

  @Test func `a list made of one value has as many as its bounds say, or is refused`() throws {
    func store(_ authors: [FieldValue], count: ClosedRange<Int>) throws -> VersionedStore {
      try Self.store(authors) { version in
        if version == 1 {
          Field(name: "author", type: .reference(to: "Author"), optional: true)
        } else {
          Field(name: "author", type: .references(to: "Author", count: count))
        }
      }
    }
    let whole = try store([1, 2, 3], count: 1...5).migrated([])
    #expect(try Self.values("author", of: whole) == [[1], [2], [3]])
    try whole.close()
    let lacking = try store([1, .null, 3], count: 1...5)
    guard case .stepFailed(2, let place, _) = storeError({ try lacking.migrated([]) }) else {
      Issue.record("it is migrated")
      return
    }
    #expect(place.contains("Book.author"), "\(place)")
    let faults = try store([1, 2, 3], count: 2...5).faults()
    #expect(
      faults.count == 1 && faults[0].hasPrefix("Book.author: each value becomes a list of one"),
      "\(faults)")
    let empty = try store([1, .null, 3], count: 0...1).migrated([])
    #expect(try Self.values("author", of: empty) == [[1], [], [3]])
    try empty.close()
  }

  // MARK: Removed, renamed, optional

  @Test func `J8: references are removed, and renamed with their way back, also deferred`() throws {
    let store = try Self.store([1, .null, 3]) { version in
      Field(
        name: version == 1 ? "author" : "writer", type: .reference(to: "Author"), optional: true,
        migrationInfo: version == 1 ? nil : .init(renamingID: "author"))
    }
    #expect(try Self.values("writer", store, deferrable: true) == [1, .null, 3])
    let migrated = try store.migrated([], .deferred)
    try migrated.remove("Author", 3)
    #expect(try Self.values("writer", of: migrated) == [1, .null, .null])
    try migrated.close()
    let gone = try Self.store([1, .null, 3]) { version in
      if version == 1 { Field(name: "author", type: .reference(to: "Author"), optional: true) }
    }
    #expect(try Self.values("author", gone, deferrable: true) == [.null, .null, .null])
    let without = try gone.migrated([], .deferred)
    try without.remove("Author", 3)
    try without.expectSound()
    try without.close()
  }

  @Test func `J8: a required reference becomes optional, and then required with a default`() throws
  {
    let store = try Self.store([1, 2, 3]) { version in
      Field(name: "author", type: .reference(to: "Author"), optional: version > 1)
    }
    #expect(try Self.values("author", store, deferrable: true) == [1, 2, 3])
    // Deletions find records by the entries that were there.
    for mode in [MigrationMode.automatic, .deferred] {
      let migrated = try store.migrated([], mode)
      try migrated.remove("Author", 2)
      #expect(try Self.values("author", of: migrated) == [1, .null, 3])
      try migrated.expectSound()
      try migrated.close()
    }
    for (value, count) in [(2, 0), (9, 2)] as [(FieldValue, Int)] {
      let back = try Self.store([1, .null, 3, .null]) { version in
        Field(
          name: "author", type: .reference(to: "Author"), optional: version < 2,
          migrationInfo: .init(default: value))
      }
      let faults = try back.faults()
      #expect(faults.count == (count > 0 ? 1 : 0), "\(faults)")
      if count > 0 {
        #expect(
          try #require(faults.first).hasPrefix("Book.author: 2 references lead to no Author"),
          "\(faults)")
      } else {
        #expect(try Self.values("author", back, deferrable: false) == [1, 2, 3, 2])
      }
    }
  }

  // MARK: One and many

  @Test(arguments: [true, false])
  func `J9: to-one becomes to-many, and null an empty list`(isOptional: Bool) throws {
    let store = try Self.store([3, isOptional ? .null : 1, 2]) { version in
      if version == 1 {
        Field(name: "author", type: .reference(to: "Author"), optional: isOptional)
      } else {
        Field(
          name: "authors", type: .references(to: "Author"),
          migrationInfo: .init(renamingID: "author"))
      }
    }
    #expect(
      try Self.values("authors", store, deferrable: true)
        == [[3], isOptional ? [] : [1], [2]])
    // Deletions find records by the entries that were there.
    for mode in [MigrationMode.automatic, .deferred] {
      let migrated = try store.migrated([], mode)
      try migrated.remove("Author", 3)
      #expect(try Self.values("authors", of: migrated)[0] == [])
      try migrated.expectSound()
      try migrated.close()
    }
  }

  /// The index that leads back keeps its number, its tree and the bytes of its entries, whatever they would be in a new store.
  @Test func `a reference becomes optional, a list, and one again, and its index is built last`()
    throws
  {
    let book = Self.book { version in
      Field(
        name: "author", type: version == 3 ? .references(to: "Author") : .reference(to: "Author"),
        optional: version == 2 || version == 4,
        migrationInfo: version == 4 ? .init(choosing: .first) : nil)
    }
    let model = StoreModel(version: 4, untyped: [Self.author, book])
    let schemas = try model.schemas()
    let indexes = try schemas.map { try #require($0.record(named: "Book")).indexes }
    #expect(indexes.allSatisfy { $0.count == 1 })
    #expect(indexes.map { $0[0].parts[0].flipsNullByte } == [false, true, false, false])
    let numbers = indexes.map { $0[0].number }
    #expect(numbers[..<3].allSatisfy { $0 == numbers[0] } && numbers[3] > numbers[0])
    // Stored and read, and told by name alone, they are the same.
    for schema in schemas {
      let bytes = schema.encoded()
      let read = try Schema(decoding: bytes.rawSpan, version: schema.storedVersion, path: "")
      #expect(read.records == schema.records)
    }
    let optional = Self.book { _ in
      Field(name: "author", type: .reference(to: "Author"), optional: true)
    }
    let fresh = try StoreModel(version: 1, untyped: [Self.author, optional]).schemas()
    #expect(fresh[0].fingerprint == schemas[1].fingerprint)
    #expect(!fresh[0].records.contains { $0.indexes.contains { $0.parts[0].flipsNullByte } })
  }

  @Test func `J9: a plain field becomes a list of one, wider where the elements are`() throws {
    let store = try VersionedStore(
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(
          name: "size", type: version == 1 ? .int16 : .array(of: .int32), optional: version == 1)
        Field(
          name: "word", type: version == 1 ? .string : .array(of: .string), optional: true,
          indexed: version == 1)
      },
      holding: [
        .of("Book", 0, ["size": 300, "word": "a"]), .of("Book", 1), .of("Book", 2, ["word": ""]),
      ])
    #expect(try Self.values("size", store, deferrable: true) == [[300], [], []])
    #expect(try Self.values("word", store, deferrable: true) == [["a"], .null, [""]])
  }

  @Test func `J9: values of every type become lists of one`() throws {
    for type in ScalarType.allCases {
      let values = SampleValues.edges(type)
      for isOptional in [true, false] {
        let store = try VersionedStore(
          RemovedRecord("Book") { version in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(
              name: "value",
              type: version == 1 ? FieldType(type) : .array(of: FieldType(type)),
              optional: isOptional)
          },
          holding: values.enumerated().map { .of("Book", Int64($0.offset), ["value": $0.element]) })
        let migrated = try store.migrated()
        #expect(
          try Self.values("value", of: migrated) == values.map { .array([$0]) }, "\(type)")
        try migrated.close()
      }
    }
  }

  @RecordDescription.ResultBuilder
  private static func toOne(_ version: Int) -> RecordDescription {
    if version == 1 {
      Field(name: "authors", type: .references(to: "Author"))
    } else {
      Field(
        name: "author", type: .reference(to: "Author"), optional: true,
        migrationInfo: .init(renamingID: "authors"))
    }
  }

  @Test func `J9: to-many becomes to-one where no record has two; else they are counted`() throws {
    let store = try Self.store([[3], [], [2]], of: "authors") { Self.toOne($0) }
    #expect(try Self.values("author", store, deferrable: false) == [3, .null, 2])
    let migrated = try store.migrated()
    try migrated.remove("Author", 3)
    #expect(try Self.values("author", of: migrated) == [.null, .null, 2])
    try migrated.close()

    let full = try Self.store([[3, 1], [], [2], [1, 2, 3]], of: "authors") { Self.toOne($0) }
    let faults = try full.faults()
    try #require(faults.count == 1)
    #expect(
      faults[0].hasPrefix(
        "Book.author: 2 of 4 records would be refused, the first since of the record 0: it has 2 elements"
      ),
      "\(faults)")
    let advice = #"UpdateField("author", choosing: .first)"#
    #expect(faults[0].contains(advice), "\(faults)")
    let refusal = try #require(try full.refusal())
    #expect("\(refusal)".contains(advice), "\(refusal)")
    let step = MigrationStep(to: 2) {
      UpdateRecord("Book") {
        UpdateField("author", choosing: .first)
      }
    }
    let chosen = try full.migrated([step])
    #expect(try Self.values("author", of: chosen) == [3, .null, 2, 1])
    try chosen.close()
  }

  @Test func `J9: a list becomes a required reference if no record is without`() throws {
    for (values, value) in [([[3], [1]], nil), ([[3], []], 2), ([[3], []], nil)]
      as [([FieldValue], FieldValue?)]
    {
      let store = try Self.store(values) { version in
        if version == 1 {
          Field(name: "author", type: .references(to: "Author"))
        } else {
          Field(
            name: "author", type: .reference(to: "Author"),
            migrationInfo: value.map { .init(default: $0) })
        }
      }
      if values[1] == [], value == nil {
        let faults = try store.faults()
        #expect(faults.count == 1 && faults[0].contains("1 of 2 records"), "\(faults)")
      } else {
        #expect(
          try Self.values("author", store, deferrable: false)
            == [3, values[1] == [] ? 2 : 1])
      }
    }
  }

  // MARK: Checked for the first time

  @Test(arguments: [true, false], [true, false])
  func `what is checked for the first time is looked up, counted and refused`(
    isPlain: Bool, isList: Bool
  ) throws {
    let valid: [FieldValue] = isList ? [[1, 3], [], [2]] : [1, .null, 2]
    let dangling: [FieldValue] = isList ? [[1, 7], [8, 9], [2]] : [7, .null, 2, 8]
    func store(_ values: [FieldValue]) throws -> VersionedStore {
      try Self.store(values) { version in
        let type: FieldType =
          switch (version == 1, isPlain, isList) {
          case (true, true, true): .array(of: .integer)
          case (true, true, false): .integer
          case (let isFirst, _, true): .references(to: "Author", checked: !isFirst)
          case (let isFirst, _, false): .reference(to: "Author", checked: !isFirst)
          }
        Field(name: "author", type: type, optional: !isList)
      }
    }
    let sound = try store(valid)
    #expect(try Self.values("author", sound, deferrable: false) == valid)
    let work = try sound.plan().work.map(\.description)
    #expect(work.contains("proving that Book.author leads to Author, 3 records"), "\(work)")
    let migrated = try sound.migrated()
    try migrated.remove("Author", 1)
    #expect(try Self.values("author", of: migrated)[0] == (isList ? [3] : .null))
    try migrated.close()

    let broken = try store(dangling)
    let count = isList ? 3 : 2
    let sentence =
      "\(count) references lead to no Author, the first of the record 0 to 7"
    #expect(try broken.faults() == ["Book.author: " + sentence])
    guard case .stepFailed(2, "Book.author", let reason) = try broken.refusal() else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(reason.hasPrefix(sentence), "\(reason)")

    // A hook may mend it: then only a rehearsal knows.
    let mending = MigrationStep(to: 2) {
      RunBefore { transaction in
        for id in [Int64(7), 8, 9] { try transaction.save(.of("Author", id)) }
      }
    }
    let plan = try broken.plan([mending])
    #expect(plan.canRun && plan.uncertainties.count == 1, "\(plan)")
    #expect("\(plan.uncertainties[0])".hasPrefix("Book.author: " + sentence))
    let mended = try broken.migrated([mending])
    #expect(try Self.values("author", of: mended) == dangling)
    try mended.close()
  }

  @Test func `a plain list with a key twice is refused as a list of references, and counted`()
    throws
  {
    let store = try Self.store([[1, 2, 1], [3], [2, 2]]) { version in
      Field(
        name: "author", type: version == 1 ? .array(of: .integer) : .references(to: "Author"))
    }
    let faults = try store.faults()
    #expect(faults.count == 1 && faults[0].contains("2 of 3 records would be refused"), "\(faults)")
    #expect(faults.first?.contains("it leads to 1 twice") ?? false, "\(faults)")
    #expect(try store.refusal() != nil)
  }

  @Test func `a reference is not checked any more, and may lead nowhere then`() throws {
    let store = try Self.store([1, .null, 2]) { version in
      Field(
        name: "author", type: .reference(to: "Author", checked: version == 1), optional: true)
    }
    #expect(try Self.values("author", store, deferrable: true) == [1, .null, 2])
    let migrated = try store.migrated([], .deferred)
    try migrated.remove("Author", 1)
    #expect(try Self.values("author", of: migrated) == [1, .null, 2])
    try migrated.close()
  }

  // MARK: Destinations

  @Test func `a destination that is renamed is the same`() throws {
    let store = try VersionedStore(
      RemovedRecord("Author") { version in
        if version > 1 { RecordName("Writer", renamingID: "Author") }
        Field(primaryKey: true, name: "id", type: .integer)
      },
      Self.book { version in
        Field(
          name: "author", type: .reference(to: version == 1 ? "Author" : "Writer"), optional: true)
      }, holding: Self.authors + [.of("Book", 0, ["author": 2])])
    #expect(try Self.values("author", store, deferrable: true) == [2])
    #expect(try store.plan().work.isEmpty)
  }

  @Test func `a destination goes only together with the references to it`() throws {
    func types(_ keepsReference: Bool) -> [RemovedRecord] {
      [
        RemovedRecord("Author") { version in
          if version == 1 { Field(primaryKey: true, name: "id", type: .integer) }
        },
        Self.book { version in
          if version == 1 || keepsReference {
            Field(name: "author", type: .reference(to: "Author"), optional: true)
          }
        },
      ]
    }
    let together = types(false)
    let store = try VersionedStore(
      together[0], together[1], holding: Self.authors + [.of("Book", 0, ["author": 2])])
    #expect(try Self.values("author", store, deferrable: true) == [.null])
    let alone = types(true)
    let broken = try VersionedStore(
      alone[0], alone[1], holding: Self.authors + [.of("Book", 0, ["author": 2])])
    let error = #expect(throws: StoreError.self) { try broken.plan() }
    #expect(
      "\(error.map { "\($0)" } ?? "")".contains("it leads to Author, which is not in this version"))
  }

  @Test func `a reference leads to records of another type if all of them are there`() throws {
    let person = RemovedRecord("Person") { _ in Field(primaryKey: true, name: "id", type: .integer)
    }
    func store(_ authors: [FieldValue]) throws -> VersionedStore {
      try VersionedStore(
        Self.author, person,
        Self.book { version in
          Field(
            name: "author", type: .reference(to: version == 1 ? "Author" : "Person"),
            optional: true)
        },
        holding: Self.authors + [.of("Person", 2)]
          + authors.enumerated().map { .of("Book", Int64($0.offset), ["author": $0.element]) })
    }
    let sound = try store([2, .null, 2])
    #expect(try Self.values("author", sound, deferrable: false) == [2, .null, 2])
    let sentences = try sound.plan().steps.flatMap { $0.changes.map(\.description) }
    #expect(sentences == ["Book.author leads to Person instead of Author"])
    let broken = try store([2, 1, 3])
    #expect(
      try broken.faults() == [
        "Book.author: 2 references lead to no Person, the first of the record 1 to 1"
      ])
    // A step that makes them is the way.
    let step = MigrationStep(to: 2) {
      TransformRecords("Author", into: "Author", "Person") { old, emit in
        try emit(old)
        try emit.upsert(.of("Person", try old["id", as: Int64.self]))
      }
    }
    let moved = try broken.migrated([step])
    #expect(try Self.values("author", of: moved) == [2, 1, 3])
    try moved.close()
  }

  @Test(arguments: [true, false])
  func `a destination gets another key with the references, by one function`(isBoth: Bool) throws {
    let key: @Sendable (FieldValue) throws -> String? = { old in
      try old.as(Int64.self).map { "a\($0)" }
    }
    let store = try VersionedStore(
      RemovedRecord("Author") { version in
        Field(primaryKey: true, name: "id", type: version == 1 ? .integer : .string)
      },
      Self.book { _ in Field(name: "author", type: .reference(to: "Author"), optional: true) },
      holding: Self.authors + [.of("Book", 0, ["author": 2]), .of("Book", 1)])
    let step = MigrationStep(to: 2) {
      UpdateRecord("Author") { UpdateField("id", by: key) }
      UpdateRecord("Book") {
        UpdateField(
          "author", by: { old in isBoth ? try key(old) : try old.as(Int64.self).map { "\($0)" } })
      }
    }
    if isBoth {
      let migrated = try store.migrated([step])
      #expect(try Self.values("author", of: migrated) == ["a2", .null])
      try migrated.close()
    } else {
      guard case .stepFailed(2, "Book.author", let reason) = try store.refusal([step]) else {
        return #expect(Bool(false), "it is migrated")
      }
      #expect(reason.hasPrefix("1 reference leads to no Author, the first of the record 0 to"))
    }
  }

  @Test func `a key becomes wider, and the references with it`() throws {
    let store = try VersionedStore(
      RemovedRecord("Author") { version in
        Field(primaryKey: true, name: "id", type: version == 1 ? .int32 : .int64)
      },
      Self.book { _ in Field(name: "author", type: .reference(to: "Author"), optional: true) },
      holding: Self.authors + [.of("Book", 0, ["author": 2]), .of("Book", 1)])
    #expect(try Self.values("author", store, deferrable: false) == [2, .null])
    let migrated = try store.migrated()
    try migrated.remove("Author", 2)
    #expect(try Self.values("author", of: migrated) == [.null, .null])
    try migrated.close()
  }

  @Test func `a migration that is cancelled before its proof is resumed there`() throws {
    let values = (0..<50).map { FieldValue.integer($0 % 3 + 1) }
    for (offset, isRefused) in [(0, false), (1, true)] as [(Int64, Bool)] {
      let store = try Self.store(values) { version in
        Field(
          name: "author", type: version == 1 ? .integer : .reference(to: "Author"), optional: true)
      }
      let (calls, running) = (Guarded(0), Guarded<Migration?>(nil))
      let step = MigrationStep(to: 2) {
        UpdateRecord("Book") {
          UpdateField(
            "author",
            by: { old in
              calls.withLock { $0 += 1 }
              return try old.as(Int64.self).map { $0 + offset }
            })
        }
        CheckRecords("it is cancelled now") { _ in running.withLock { $0 }?.cancel() }
      }
      let path = try store.copy()
      let migration = try PersistentStore.migration(at: path, to: store.model, steps: [step])
      running.withLock { $0 = migration }
      #expect(storeError { try migration.run() } == .migrationCancelled(from: 1, to: 2))
      running.withLock { $0 = nil }
      #expect(calls.withLock { $0 } == 50)
      let error = storeError { try migration.run() }
      #expect(calls.withLock { $0 } == 50)
      guard isRefused else {
        #expect(error == nil)
        continue
      }
      guard case .stepFailed(2, "Book.author", let reason)? = error else {
        return #expect(Bool(false), "it is migrated")
      }
      #expect(reason.hasPrefix("16 references lead to no Author"), "\(reason)")
    }
  }

  // MARK: What closures make

  @Test func `records that a closure emits have each element of a list once`() throws {
    let store = try Self.store([[1, 2]], of: "authors") { _ in
      Field(name: "authors", type: .references(to: "Author"))
    }
    for (elements, isRefused) in [([1, 2], false), ([1, 1], true), ([1, 9], true)]
      as [(FieldValue, Bool)]
    {
      let step = MigrationStep(to: 2) {
        TransformRecords("Book") { old, emit in
          try emit(.of("Book", try old["id", as: Int64.self], ["authors": elements]))
        }
      }
      #expect((try store.refusal([step]) != nil) == isRefused, "\(elements)")
    }
  }
}
