import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields derived of expressions, in descriptions, schemas and locks.
@Suite struct DerivedExpressionSchemaTests {
  private static let book = description {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "author", type: .reference(to: "Author"))
    Field(name: "price", type: .decimal)
    Field(name: "stock", type: .int32)
    Field(name: "title", type: .string)
    Field(name: "published", type: .date)
  }

  private static func model(_ fields: Field...) -> StoreModel {
    var elements: [RecordDescription.Element] = [
      .init(kind: .field(Field(primaryKey: true, name: "id", type: .integer))),
      .init(kind: .field(Field(name: "name", type: .string))),
      .init(kind: .field(Field(name: "nick", type: .string, optional: true))),
      .init(kind: .field(Field(name: "score", type: .float))),
      .init(kind: .field(Field(name: "born date", type: .date))),
      .init(kind: .field(Field(name: "tags", type: .array(of: .string)))),
    ]
    elements += fields.map { .init(kind: .field($0)) }
    elements += inverse("books", of: "author", in: "Book", .cascade).elements
    return untyped(("Author", RecordDescription(elements)), ("Book", book))
  }

  private static let whole = model(
    Field(name: "double", type: .integer, indexed: true, derived: .value("id*2")),
    Field(name: "year", type: .int16, derived: .value("year(`born date`, \"-08:00\")")),
    Field(name: "label", type: .string, derived: .value("lowercased(nick ?? name)")),
    Field(name: "level", type: .double, derived: .value("bucket(-(score), 0.5)")),
    Field(name: "tagCount", type: .integer, derived: .value("length(tags) % 3")),
    Field(name: "worth", type: .decimal, derived: .sum(of: "books", value: "price * stock")),
    Field(
      name: "first", type: .date, optional: true,
      derived: .minimum(of: "books", value: "published + 60")),
    Field(
      name: "most", type: .integer, optional: true,
      derived: .maximum(of: "books", value: "year(published)")))

  // MARK: Refused

  private static func own(
    _ text: String, _ type: FieldType = .integer, optional: Bool = false, unique: Bool = false
  ) -> Field {
    Field(name: "d", type: type, optional: optional, unique: unique, derived: .value(text))
  }

  private static let refused: [(String, Field)] = [
    ("cannot be read", own("id +")),
    ("cannot be read", own("id == 1")),
    ("not there", own("missing + 1")),
    ("leads over books", own("books.count()")),
    ("leads over books", own("books.sum(stock)")),
    ("field of another record", own("books.stock")),
    ("a query is of other records", own("(select count() from Book)")),
    ("counts characters", own("length(name)")),
    ("counts characters", own("prefix(name, 1)", .string)),
    ("may be nil", own("nick", .string)),
    ("derived itself", own("d + 1")),
    ("are integers", own("id * 2", .double)),
    ("are doubles", own("score * 2", .float)),
    ("are strings", own("name", .binaryData)),
    ("cannot be computed", own("name + 1")),
    ("cannot be computed", own("name * 2")),
    ("cannot be computed", own("bucket(id, 0)")),
    ("cannot be computed", own("null + 1")),
    ("which is array", own("tags + 1")),
    ("cannot be unique", own("id * 2", unique: true)),
    ("is no finite number", own("id * double\"nan\"", .double)),
    ("nested over 32 deep", own("id" + String(repeating: " + id", count: 40))),
    (
      "field of another record",
      Field(name: "d", type: .integer, derived: .sum(of: "books", value: "author.id * 2"))
    ),
    ("a reference", Field(name: "d", type: .integer, derived: .sum(of: "books", value: "author"))),
    ("not there", Field(name: "d", type: .decimal, derived: .sum(of: "books", value: "cost"))),
    ("no inverse", Field(name: "d", type: .decimal, derived: .sum(of: "works", value: "price"))),
    (
      "neither numbers nor dates",
      Field(
        name: "d", type: .string, optional: true, derived: .maximum(of: "books", value: "title"))
    ),
    (
      "has no sum",
      Field(name: "d", type: .date, derived: .sum(of: "books", value: "published + 1"))
    ),
    (
      "its type is decimal",
      Field(name: "d", type: .double, derived: .sum(of: "books", value: "price * 2"))
    ),
    (
      "it is not optional",
      Field(
        name: "d", type: .decimal, optional: true, derived: .sum(of: "books", value: "price * 2"))
    ),
    (
      "it is optional",
      Field(name: "d", type: .decimal, derived: .minimum(of: "books", value: "price * 2"))
    ),
  ]

  @Test func `A22: an expression that cannot be derived is refused when the model is checked`() {
    for (sentence, field) in Self.refused {
      let error = storeError { try Self.model(field).schemas() }
      guard case .invalidDescription("Author", "d"?, 1, let reason)? = error else {
        Issue.record("\(sentence): \(String(describing: error))")
        continue
      }
      #expect(reason.contains(sentence), "\(sentence) is not in: \(reason)")
    }
  }

  // MARK: Schemas

  @Test func `a schema with derived expressions reads as it was written`() throws {
    let schema = try Self.whole.checked().schema
    let bytes = try schema.published()
    let read = try Schema(decoding: bytes.rawSpan, version: 1, path: "")
    #expect(read == schema)
    let author = try #require(read.record(named: "Author"))
    let descriptions = author.fields.compactMap { $0.derivation.map { "\($0)" } }
    #expect(
      descriptions.sorted() == [
        "maximum over Book.author of year(published)",
        "minimum over Book.author of (published + 60)",
        "sum over Book.author of (price * stock)",
        "value of (id * 2)", "value of (length(tags) % 3)", "value of bucket(-(score), 0.5)",
        "value of lowercased((nick ?? name))", "value of year(`born date`, \"-08:00\")",
      ])
  }

  @Test func `expressions are in the fingerprint, however they are written`() throws {
    func schema(_ text: String) throws -> Schema {
      try Self.model(Self.own(text)).checked().schema
    }
    let all = ["id * 2", "id * 3", "id + 2", "2 * id", "id", "-id", "length(tags)", "id ?? 2"]
    #expect(Set(try all.map { try schema($0).fingerprint }).count == all.count)
    #expect(try schema("id*2").fingerprint == schema("((id) * 2)").fingerprint)
    #expect(try schema("id*2").differences(to: schema("(id * 2)")) == [])
    #expect(
      try schema("id * 2").differences(to: schema("id * 3")).map(\.description) == [
        "Author.d: the derivation was value of (id * 2) and is value of (id * 3)"
      ])
  }

  @Test func `a lock has expressions, and the Swift form states them`() throws {
    let lock = try SchemaLock(Self.whole)
    let text = "\(lock)"
    for line in [
      #"field double int64 derived value as "(id * 2)""#,
      #"field worth decimal derived sum over Book.author as "(price * stock)""#,
      #"field year int16 derived value as "year(`born date`, \"-08:00\")""#,
    ] {
      #expect(text.contains(line), "\(line) is not in \(text)")
    }
    #expect(try SchemaLock(parsing: text) == lock)
    let schema = try Self.whole.checked().schema
    let again = try StoreModel(SchemaLock(parsing: text)).checked().schema
    #expect(again.fingerprint == schema.fingerprint)
    let author = try #require(schema.record(named: "Author"))
    let swift = author.swiftStatements(isNamed: false, in: schema)
    for statement in [
      #"Field(name: "label", type: .string, derived: .value("lowercased((nick ?? name))"))"#,
      #"Field(name: "worth", type: .decimal, derived: .sum(of: "books", value: "(price * stock)"))"#,
    ] {
      #expect(swift.contains(statement), "\(statement) is not in \(swift)")
    }
    for expression in ["(id *", "prefix(name, 1)", "books.count()"] {
      #expect(throws: SchemaLockError.self) {
        try SchemaLock(parsing: text.replacing("(id * 2)", with: expression))
      }
    }
  }

  @Test func `constants of every type are kept, in the schema and in a lock`() throws {
    let values: [(ScalarType, FieldValue)] = [
      (.boolean, true), (.int8, -5), (.uint64, .unsigned(.max)), (.double, -2.25),
      (.double, .double(1e300)), (.double, .double(3)),
      (.decimal, .decimal(try #require(Decimal(string: "-123.45")))), (.string, "é\"\\\n\u{0}"),
      (.date, .date(Date(timeIntervalSinceReferenceDate: 0.5))), (.date, .date(.distantPast)),
      (.binaryData, .data(Data([1, 0]))), (.uuid, "00112233-4455-6677-8899-AABBCCDDEEFF"),
      (.url, "http://a/b?c"),
    ]
    for (type, value) in values {
      let constant = try #require(value.converted(to: .scalar(type)))
      let expression = FieldExpression.coalesced(.field("v"), .value(constant))
      let model = untyped(
        (
          "R",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "v", type: FieldType(type), optional: true)
            Field(name: "d", type: FieldType(type), derived: .value("\(expression)"))
          }
        ))
      let schema = try model.checked().schema
      let derivation = try #require(schema.record(named: "R")?.field(named: "d")?.derivation)
      #expect(derivation.expression == expression)
      #expect(try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "") == schema)
      let lock = try SchemaLock(model)
      #expect(try SchemaLock(parsing: "\(lock)") == lock, "\(lock)")
      let again = try StoreModel(SchemaLock(parsing: "\(lock)")).checked().schema
      #expect(again.fingerprint == schema.fingerprint, "\(expression)")
    }
  }

  @Test func `an expression that cannot be is refused when a store's schema is read`() throws {
    let schema = try Self.whole.checked().schema
    let trees: [ExpressionTree<UInt32>] = [
      .field(0), .field(99), .value(.null), .value(.double(.nan)), .value(.array([])),
      .arithmetic(.value(1), .plus, .value("x")), .negated(.value("x")), .length(.value("x")),
      .function(.part(.year, in: .minutes(5_000)), .value(.date(.distantPast))),
      .function(.bucket(of: .integer(-1)), .value(1)),
      Self.nested(33),
    ]
    func refuses(_ change: (inout DerivationSchema) -> Void) throws -> Bool {
      var changed = schema
      let place = try #require(changed.records.firstIndex { $0.name == "Author" })
      for field in changed.records[place].fields.indices {
        guard var derivation = changed.records[place].fields[field].derivation else { continue }
        change(&derivation)
        changed.records[place].fields[field].derivation = derivation
        break
      }
      changed.nameRelations()
      let error = storeError { () throws(StoreError) in
        try Schema(decoding: changed.encoded().rawSpan, version: 1, path: "")
      }
      return error?.breaks(.schemaContents) ?? false || error?.breaks(.schemaLayout) ?? false
    }
    #expect(try !refuses { _ in })
    for tree in trees {
      #expect(try refuses { $0.numberedExpression = tree }, "\(tree)")
    }
    #expect(try refuses { $0.numberedExpression = nil })
    #expect(try refuses { $0.sourceNumber = 1 })
    #expect(try refuses { $0.relatedNumber = 1 })
  }

  private static func nested(_ depth: Int) -> ExpressionTree<UInt32> {
    (1..<depth).reduce(ExpressionTree<UInt32>.value(1)) { tree, _ in .negated(tree) }
  }

  // MARK: Kinds

  private static let leaves: [FieldExpression] = [
    .field("id"), .field("name"), .field("nick"), .field("score"), .field("born date"),
    .field("tags"), .field("price"), .field("missing"), .value(0), .value(3), .value(.double(0.5)),
    .value("2020-01-01T00:00:00Z"), .value("x"), .value(.null), .value(true), .value(.decimal(2)),
  ]

  private static func random(_ depth: Int, _ random: inout SplitMix64) -> FieldExpression {
    if depth == 0 || random.next() % 4 == 0 { return random.pick(leaves) }
    let operand = Self.random(depth - 1, &random)
    switch random.next() % 9 {
    case 0: return .negated(operand)
    case 1: return .length(operand)
    case 2: return .lowercased(operand)
    case 3: return .coalesced(operand, Self.random(depth - 1, &random))
    case 4: return .function(.part(random.pick(DatePart.allCases), in: .utc), operand)
    case 5:
      let widths: [FieldValue] = [2, 0, .double(0.5), .decimal(3), "x"]
      return .function(.bucket(of: random.pick(widths)), operand)
    default:
      return .arithmetic(
        operand, random.pick(FieldArithmetic.allCases), Self.random(depth - 1, &random))
    }
  }

  private static func record() throws -> RecordSchema {
    let model = untyped(
      (
        "R",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          Field(name: "nick", type: .string, optional: true)
          Field(name: "score", type: .float)
          Field(name: "born date", type: .date)
          Field(name: "tags", type: .array(of: .string))
          Field(name: "price", type: .decimal)
        }
      ))
    return try #require(try model.checked().schema.record(named: "R"))
  }

  @Test func `an expression that the rules accept can be computed, and has the kind that they say`()
    throws
  {
    let record = try Self.record()
    let layout = try RowLayout(record, version: 1)
    var accepted = 0
    replaying(0..<UInt64(scaled(20_000, debug: 4_000))) { seed in
      var random = SplitMix64(seed: seed)
      let expression = Self.random(Int(random.next() % 4), &random)
      guard let shape = try? record.shape(of: expression, for: nil) else { return }
      accepted += 1
      var terms = ComputedTerms(isStrict: true)
      let computed = try terms.add(expression, in: layout, nil)
      #expect(computed.kind == shape.kind, "\(expression)")
    }
    #expect(accepted > 200)
  }

  /// The value of a step; nil if it refuses the row.
  private static func value(
    of step: UInt32, _ terms: ComputedTerms, _ row: borrowing RowReader
  ) throws -> ComputedValue? {
    do throws(StoreError) {
      return try terms.value(step, row)
    } catch {
      guard case .invalidQuery = error else { throw error }
      return nil
    }
  }

  @Test func `an expression that the rules do not take for null has a value, or refuses the write`()
    throws
  {
    let schema = try Self.record()
    let layout = try RowLayout(schema, version: 1)
    let id = try #require(schema.field(named: "id"))
    var (found, refused) = (0, 0)
    replaying(0..<UInt64(scaled(20_000, debug: 4_000))) { seed in
      var random = SplitMix64(seed: seed)
      let expression = Self.random(1 + Int(random.next() % 3), &random)
      guard let shape = try? schema.shape(of: expression, for: id) else { return }
      let price = Decimal(Int.random(in: -3...3, using: &random)) / 4
      let record = DynamicRecord.of(
        "R", Int64.random(in: -3...3, using: &random),
        [
          "name": "Ab", "nick": .null, "score": .float(Float(random.next() % 8) / 4),
          "born date": .date(Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000))),
          "tags": .array(["x"]), "price": .decimal(price),
        ])
      let (key, row) = (KeyEncoder(), RowWriter())
      try record.encode(to: row, key: key, layout: layout)
      let reader = try RowReader(key: key.key, row: row.row, layout: layout)
      var terms = ComputedTerms(isStrict: true)
      let computed = try terms.add(expression, in: layout, nil)
      switch try Self.value(of: computed.step, terms, reader) {
      case nil: refused += 1
      case .null: try agree(shape.mayBeNull, "\(expression) has no value")
      default: found += 1
      }
    }
    #expect(found > 200 && refused > 3, "\(found), \(refused)")
  }

  @Test func `an expression with parts that are not known refuses the store as newer`() throws {
    let bytes = try Self.model(Self.own("id * 2")).checked().schema.encoded()
    let start = try #require(bytes.firstRange(of: [18, 0, 1, 0]))
    for (offset, code, sentence) in [
      (8, 99, "an expression of kind 99"), (9, 77, "arithmetic of kind 77"),
    ] as [(Int, UInt8, String)] {
      var changed = bytes
      changed[start.lowerBound + offset] = code
      let error = storeError { try Schema(decoding: changed.rawSpan, version: 1, path: "") }
      guard case .newerFormat(_, let reason)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains(sentence), "\(reason)")
    }
  }

  @Test func `the check finds a derived expression that has another value, K5`() throws {
    let store = try PersistentStore(inMemory: Self.model(Self.own("id * 2")))
    let fields: [String: FieldValue] = [
      "name": "A", "score": .float(0), "born date": .date(.distantPast), "tags": .array([]),
    ]
    try store.write { try $0.save(.of("Author", 2, fields)) }
    try store.expectSound()
    let entity = try store.entities.entity(named: "Author")
    let column = try #require(entity.layout.index(named: "d"))
    let (key, changed) = (KeyEncoder(), RowWriter())
    try key.encode(primaryKey: [2], of: entity)
    var row: Bytes = []
    #expect(try store.snapshot().trees.copyValue(of: key.key, in: entity.rows, to: &row))
    let reader = try entity.row(key: key.key, row: row.rawSpan)
    try reader.copy(to: changed, replacing: [column: 5])
    try store.backend.commit { trees throws(StoreError) in
      try trees.put(key.key, changed.row, schemaVersion: entity.layout.version, in: entity.rows)
    }
    let faults = try store.snapshot().check()
    guard case .corrupt(_, .derivations, let reason)? = faults.first else {
      Issue.record("\(faults)")
      return
    }
    #expect(reason.contains("d is 5, and the value of (id * 2) is 4"), "\(reason)")
  }
}
