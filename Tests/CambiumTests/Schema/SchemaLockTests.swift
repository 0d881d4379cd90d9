import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The text that says which versions were released.
@Suite struct SchemaLockTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/Schema.lock" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Two versions with everything that a lock has.
  private static let full: Describing = { version in
    description {
      RecordName(version == 1 ? "Old item" : "Item", renamingID: version == 1 ? nil : "Old item")
      Field(name: "id", type: .uuid)
      Field(
        name: version == 1 ? "title" : "name", type: .string, optional: true, indexed: true,
        validation: [.length(1...80)], modifier: "m\"1\"",
        migrationInfo: version == 1 ? nil : .init(default: "no\nname", renamingID: "title"))
      Field(name: "größe", type: .int32, default: 7)
      Field(name: "tags", type: .array(of: .string), default: ["a", "b"])
      Field(name: "blob", type: .transformable(using: ReversingCodec()), optional: true)
      Field(
        name: "at",
        type: .composite {
          Field(name: "x", type: .double)
          Field(name: "y", type: .composite { Field(name: "z", type: .date, optional: true) })
        }, optional: true)
      PrimaryKey("id", .descending("größe"))
      if version == 2 {
        Unique(
          .caseInsensitive("name", descending: true), "at.x",
          where: .comparison(field: "name", .notEqual, "a\"b"))
        RecordModifier("2")
      }
      Validation("it is # as it should be") { (_: Item) in true }
    }
  }

  private static let small: Describing = { version in
    description {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      if version > 1 { Field(name: "count", type: .integer, default: 0) }
    }
  }

  /// With values outside of rows.
  private static let external: Describing = { version in
    description {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "photo", type: .binaryData, storage: .external(), optional: true)
      if version > 1 {
        Field(
          name: "text", type: .string,
          storage: .external(threshold: 7, compression: .none, deduplicated: true),
          default: "none")
      }
    }
  }

  private func with<Result>(
    _ item: @escaping Describing, other: @escaping Describing = { _ in RecordDescription() },
    version: Int, label: String? = nil, _ body: (StoreModel) throws -> Result
  ) rethrows -> Result {
    try Item.describing.withValue(item) {
      try Other.describing.withValue(other) {
        try body(StoreModel(version: version, label: label, records: [Item.self, Other.self]))
      }
    }
  }

  private func failure(_ body: () throws -> Void) -> SchemaLockError? {
    do {
      try body()
      return nil
    } catch { return error as? SchemaLockError }
  }

  // MARK: The text

  @Test func `it is a text of one line for each thing, I4`() throws {
    let text = try with(Self.small, version: 2, label: "spring") { "\(try SchemaLock($0))" }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
      .map { $0.contains("fingerprint") ? String($0.prefix(while: { $0 != "t" })) : String($0) }
    #expect(
      lines == [
        "schema-lock 1", "", "version 1", "fingerprin", "", "record Item", "  fingerprin",
        "  field id int64", "  field name string", "  key id", "", "version 2 \"spring\"",
        "fingerprin", "", "record Item", "  fingerprin", "  field count int64 default \"0\"",
        "  field id int64", "  field name string", "  key id", "",
      ])
  }

  @Test func `what is printed is parsed as the same, I4`() throws {
    let lock = try with(Self.full, other: Self.external, version: 2, label: "l\u{301}\"a") {
      try SchemaLock($0)
    }
    let parsed = try SchemaLock(parsing: "\(lock)")
    #expect(parsed == lock)
    #expect("\(parsed)" == "\(lock)")
    #expect(lock[2]?.records.map(\.name) == ["Item", "Other"])
    #expect(lock.contains(version: 1) && !lock.contains(version: 3))
    #expect(
      lock[2]?.fingerprint
        == (try with(Self.full, other: Self.external, version: 2) {
          "\(try #require($0.schemas().last).fingerprint)"
        }))
    // By hand, and from elsewhere.
    let other = "\(lock)".replacing("\n", with: "  # so\r\n").replacing("  field", with: "\tfield")
    #expect(try SchemaLock(parsing: other) == lock)
  }

  @Test func `a lock of a store has the defaults that the store keeps`() throws {
    let schemas = try with(Self.full, other: Self.external, version: 2) { try $0.schemas() }
    let lock = SchemaLock(schemas)
    #expect("\(lock)".contains(#"field "größe" int32 default "7""#))
    #expect("\(lock)".contains(#"field tags array of string default "[\"a\", \"b\"]""#))
    #expect(try SchemaLock(parsing: "\(lock)") == lock)
    let continued = try StoreModel(continuing: schemas, with: []).schemas()
    #expect(
      continued.last?.record(named: "Other")?.field(named: "text")?.defaultValue == "none")
  }

  @Test func `a default that its field cannot have is named with its place`() throws {
    let text = try with(Self.small, version: 2) { "\(try SchemaLock($0))" }
    for wrong in [#""one""#, "null", "1.5", "no value", "{}"] {
      let damaged = text.replacing(#"default "0""#, with: "default \(wrong.quoted)")
      guard
        case .malformed(let line, _, let reason) = failure({ _ = try SchemaLock(parsing: damaged) })
      else {
        Issue.record("\(wrong) is taken")
        continue
      }
      #expect(line > 10 && reason == "the default \(wrong) is not a value of int64")
    }
  }

  @Test func `random descriptions come back from the text as they were, I4`() throws {
    for seed in 0..<UInt64(scaled(2_000, debug: 100)) {
      var random = SplitMix64(seed: seed)
      let described = RandomDescription.make(&random)
      let describing: Describing = { _ in described }
      let lock = try with(describing, version: 1) { try SchemaLock($0) }
      #expect(try SchemaLock(parsing: "\(lock)") == lock, "seed \(seed)")
    }
  }

  @Test(arguments: [
    ("", 1, 1), ("version 1", 1, 1), ("schema-lock 2", 1, 13), ("schema-lock 1\nrecord A", 2, 1),
    ("schema-lock 1\nversion 0", 2, 9), ("schema-lock 1\nversion x", 2, 9),
    ("schema-lock 1\nversion 1\n\nversion 2", 2, 9),
    ("schema-lock 1\nversion 1 \"a", 2, 11), (#"schema-lock 1\#nversion 1 "\q""#, 2, 11),
    ("schema-lock 1\nversion 1 \"a\" b", 2, 15),
    ("schema-lock 1\nversion 1\nfingerprint 12", 3, 13),
    ("schema-lock 1\nversion 1\nfingerprint 0123456789abcdef0123456789abcdef\nfield a", 4, 1),
    ("schema-lock 1\nversion 1\nfingerprint 0123456789abcdef0123456789abcdef\nrecord A", 4, 8),
    (
      """
      schema-lock 1
      version 1
      fingerprint 0123456789abcdef0123456789abcdef
      record A
        fingerprint 0123456789abcdef0123456789abcdef
        field b int
      """, 6, 11
    ),
    (
      """
      schema-lock 1
      version 1
      fingerprint 0123456789abcdef0123456789abcdef
      record A
        fingerprint 0123456789abcdef0123456789abcdef
        field b int8
        field a int8
      """, 7, 9
    ),
    (
      """
      schema-lock 1
      version 1
      fingerprint 0123456789abcdef0123456789abcdef
      record A
        fingerprint 0123456789abcdef0123456789abcdef
        key a,
      """, 6, 9
    ),
    (
      """
      schema-lock 1
      version 1
      fingerprint 0123456789abcdef0123456789abcdef
      record A
        fingerprint 0123456789abcdef0123456789abcdef
        key "\\u{110000}"
      """, 6, 7
    ),
  ])
  func `what is no lock is refused with its place, I4`(_ text: String, _ line: Int, _ column: Int) {
    guard
      case .malformed(let foundLine, let foundColumn, let reason) = failure({
        _ = try SchemaLock(parsing: text)
      })
    else { return #expect(Bool(false), "it is parsed") }
    #expect(foundLine == line && foundColumn == column, "\(foundLine), \(foundColumn): \(reason)")
  }

  @Test func `whatever the bytes are, they are parsed and printed the same, or refused, I4`() throws
  {
    let lock = try with(Self.full, other: Self.external, version: 2) { "\(try SchemaLock($0))" }
    let base = Array(lock.utf8)
    let tokens = [
      "version 3", "record Item", "field a int8", "field b external binaryData", "\"", "\\u{",
      "key a, b", "#", "\n", ",",
    ]
    var (parsed, refused) = (0, 0)
    for seed in 0..<UInt64(scaled(20_000, debug: 600)) {
      var random = SplitMix64(seed: seed)
      var bytes = base
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1:
          bytes.removeSubrange(
            place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
        case 2:
          bytes.insert(contentsOf: Array(tokens.randomElement(using: &random)!.utf8), at: place)
        default:
          let end = min(bytes.count, place + Int.random(in: 1...200, using: &random))
          bytes.insert(contentsOf: bytes[place..<end], at: place)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      do throws(SchemaLockError) {
        let found = try SchemaLock(parsing: text)
        parsed += 1
        #expect(try SchemaLock(parsing: "\(found)") == found, "seed \(seed)")
      } catch {
        refused += 1
        guard case .malformed(let line, let column, _) = error, line >= 1, column >= 1 else {
          return #expect(Bool(false), "seed \(seed): \(error)")
        }
      }
    }
    #expect(parsed > 0 && refused > 0, "\(parsed), \(refused)")
  }

  // MARK: Checking

  @Test func `the first check says how to make the lock, and it holds then, T5`() throws {
    try with(Self.small, version: 2, label: "spring") { model in
      let error = failure { try SchemaLock.check(model, at: path) }
      #expect(error == .missing(path: path))
      #expect("\(error.map { "\($0)" } ?? "")".contains("SchemaLock.write(model, at: "))
      try SchemaLock.write(model, at: path)
      try SchemaLock.check(model, at: path)
    }
    // The label of an older version is not in the model any more.
    try with(Self.small, version: 3, label: "summer") { model in
      #expect(
        failure { try SchemaLock.check(model, at: path) } == .notLocked(versions: [3], path: path))
      try SchemaLock.check(model, at: path, allowsUnreleased: true)
      try SchemaLock.write(model, at: path)
      try SchemaLock.check(model, at: path)
    }
    with(Self.small, version: 5) { model in
      #expect(
        failure { try SchemaLock.check(model, at: path, allowsUnreleased: true) }
          == .notLocked(versions: [4], path: path))
    }
    #expect(try SchemaLock(contentsOf: path).versions.map(\.label) == [nil, "spring", "summer"])
    with(Self.small, version: 2) { model in
      #expect(failure { try SchemaLock.check(model, at: path) } == .newer(version: 3, model: 2))
    }
  }

  private static func changed(_ field: Field?, index: Bool = false) -> Describing {
    { version in
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        if let field { field }
        if version > 1 { Field(name: "count", type: .integer, default: 0) }
        if index { Index("id", "count") }
      }
    }
  }

  @Test(
    arguments: [
      (Field(name: "name", type: .url), "Item.name was string and is url"),
      (
        Field(name: "name", type: .string, optional: true),
        "Item.name is optional"
      ),
      (
        Field(name: "name", type: .string, default: "x"),
        #"Item.name: the default was none and is "x""#
      ),
      (
        Field(name: "name", type: .string, migrationInfo: .init(default: "x")),
        #"Item.name: the default for migrations was none and is "x""#
      ),
      (
        Field(name: "name", type: .string, modifier: "2"),
        "Item.name: the modifier was none and is “2”"
      ),
      (nil, "Item.name is removed"),
    ] as [(Field?, String)])
  func `a change of a released version is named, with what to write instead, T5`(
    _ field: Field?, _ difference: String
  ) throws {
    try with(Self.small, version: 1) { try SchemaLock.write($0, at: path) }
    let text = try Data(contentsOf: URL(filePath: path))
    with(Self.changed(field), version: 1) { model in
      for write in [false, true] {
        let error = failure {
          try write ? SchemaLock.write(model, at: path) : SchemaLock.check(model, at: path)
        }
        guard case .changed(1, let differences, let advice) = error else {
          return #expect(Bool(false), "\(error.map { "\($0)" } ?? "nothing")")
        }
        #expect(differences.map(\.description) == [difference])
        #expect(advice.contains("StoreModel(version: 2"), "\(advice)")
        #expect(advice.contains("if version <= 1 {"), "\(advice)")
        #expect(advice.contains(#"Field(name: "name", type: .string)"#), "\(advice)")
      }
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == text)
    // The change in a version of its own.
    let both: Describing = { version in version == 1 ? Self.small(1) : Self.changed(field)(2) }
    with(both, version: 2) { model in
      #expect(
        failure { try SchemaLock.check(model, at: path) } == .notLocked(versions: [2], path: path))
    }
  }

  @Test func `what is advised is the description, in Swift`() throws {
    try with(Self.full, other: Self.small, version: 2) { try SchemaLock.write($0, at: path) }
    let first: Describing = { _ in Self.full(1) }
    let error = with(first, other: Self.small, version: 2) { model in
      failure { try SchemaLock.check(model, at: path) }
    }
    guard case .changed(2, _, let advice) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(
      advice == #"""
        Describe version 2 as it was, and what is new as version 3:

          StoreModel(version: 3, …)

          // Item
          if version <= 2 {
            RecordName("Item", renamingID: "Old item")
            RecordModifier("2")
            Field(name: "at", type: .composite {
              Field(name: "x", type: .double)
              Field(name: "y", type: .composite {
                Field(name: "z", type: .date, optional: true)
              })
            }, optional: true)
            Field(name: "blob", type: .transformable(using: /* the codec "reversed" */), optional: true)
            Field(name: "größe", type: .int32, default: 7)
            Field(name: "id", type: .uuid)
            Field(name: "name", type: .string, optional: true, modifier: "m\"1\"", migrationInfo: .init(default: "no\nname", renamingID: "title"))
            Field(name: "tags", type: .array(of: .string), default: ["a", "b"])
            PrimaryKey("id", .descending("größe"))
            Index("name")
            Unique(.caseInsensitive("name", descending: true), "at.x", where: .comparison(field: "name", .notEqual, "a\"b"))
          }

          // Old item
          if version <= 2 {
          } else {
            RecordName("Old item")
            Field(name: "at", type: .composite {
              Field(name: "x", type: .double)
              Field(name: "y", type: .composite {
                Field(name: "z", type: .date, optional: true)
              })
            }, optional: true)
            Field(name: "blob", type: .transformable(using: /* the codec "reversed" */), optional: true)
            Field(name: "größe", type: .int32, default: 7)
            Field(name: "id", type: .uuid)
            Field(name: "tags", type: .array(of: .string), default: ["a", "b"])
            Field(name: "title", type: .string, optional: true, modifier: "m\"1\"")
            PrimaryKey("id", .descending("größe"))
            Index("title")
          }

        """#)
  }

  @Test func `a lock states the steps to each version, and says that they have changed`() throws {
    let step = MigrationStep(to: 2, label: "a \"step\"", revision: 7) { RunAfter { _ in } }
    let back = MigrationStep(from: 2, to: 1) { RunAfter { _ in } }
    let over = MigrationStep(squashing: 1...1, to: 2) { RunAfter { _ in } }
    let text = try with(Self.small, version: 2) { model in
      let lock = try SchemaLock(model, steps: [step, back, over])
      #expect(try SchemaLock(parsing: "\(lock)") == lock)
      return "\(lock)"
    }
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("step") }
    #expect(
      lines == [
        "step from 2", #"step from 1 label "a \"step\"" revision 7"#, "step from 1...1",
      ])
    // A lock without them is read, and is completed when steps are passed.
    try with(Self.small, version: 2) { model in
      try SchemaLock.write(model, at: path)
      try SchemaLock.check(model, at: path)
      let error = failure { try SchemaLock.check(model, steps: [step], at: path) }
      #expect("\(error as Any)".contains("the step was not stated and is step 1 → 2"))
      try SchemaLock.write(model, steps: [step], at: path)
      try SchemaLock.check(model, steps: [step], at: path)
      // Without steps, what is locked stays.
      try SchemaLock.check(model, at: path)
      try SchemaLock.write(model, at: path)
      try SchemaLock.check(model, steps: [step], at: path)
      let changed = "the step was step 1 → 2"
      // A step back leads to the first version, which is compared first.
      let others: [([MigrationStep], String)] = [
        ([], changed), ([MigrationStep(to: 2, label: "a \"step\"", revision: 8)], changed),
        ([back], "the step was none and is step 2 → 1"),
        ([MigrationStep(to: 2, revision: 7)], changed),
      ]
      for (steps, expected) in others {
        let error = failure { try SchemaLock.check(model, steps: steps, at: path) }
        #expect("\(error as Any)".contains(expected), "\(steps)")
      }
      try SchemaLock.write(model, steps: [], at: path)
      #expect(try TextFile.text(at: path).contains("\nsteps none\n"))
    }
  }

  @Test(arguments: [
    "steps none\nsteps none", "steps none\nstep from 1", "step from 1\nsteps none", "steps",
    "step", "step from", "step from 0", "step from 2...1", "step from 1...2", "step from x",
    "step from 1 revision x", "step from 1 label", "step from 1 2",
  ])
  func `lines of steps that are wrong are refused`(lines: String) throws {
    try with(Self.small, version: 2) { model in
      let text = "\(try SchemaLock(model))".replacing("version 2\n", with: "version 2\n\(lines)\n")
      #expect(throws: SchemaLockError.self) { try SchemaLock(parsing: text) }
    }
  }

  @Test func `what no store depends on is said to be written again, and is, T5`() throws {
    try with(Self.small, version: 1) { try SchemaLock.write($0, at: path) }
    let validated: Describing = { version in
      description {
        Self.small(version)
        Validation("it is good") { (_: Item) in true }
      }
    }
    try with(validated, version: 1, label: "first") { model in
      #expect(
        failure { try SchemaLock.check(model, at: path) }
          == .outdated(
            version: 1,
            differences: [
              SchemaDifference(.changed(.label, from: nil, to: "first"), of: nil),
              SchemaDifference(.ruleAdded("it is good"), of: "Item"),
            ], path: path))
      try SchemaLock.write(model, at: path)
      try SchemaLock.check(model, at: path)
    }
    #expect(try SchemaLock(contentsOf: path)[1]?.label == "first")
  }
}
