import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Schemas in a store whose references and inverses cannot be: refused when they are read, without a trap.
@Suite struct HostileRelationTests {
  /// An author with a key of one field, a place with one of two, and a book that leads to an author and to books.
  private static let kinds: RelatedKinds = {
    var kinds = RelatedKinds(
      kinds: [
        RelatedKinds.Kind(name: "Author", key: .number(.string)),
        RelatedKinds.Kind(name: "Book", key: .number(.integer)),
        RelatedKinds.Kind(name: "Place", key: .linkFirst(0)),
      ], links: [[], [], []])
    var author = RelatedKinds.Link(name: "author", owner: 1, destination: 0, shape: .optional)
    author.inverse = RelatedKinds.Inverse(name: "books", rule: .cascade, bounds: 0...7)
    var editor = RelatedKinds.Link(name: "editor", owner: 1, destination: 0, shape: .required)
    editor.isUnique = true
    var parts = RelatedKinds.Link(name: "parts", owner: 1, destination: 1, shape: .list)
    parts.bounds = 1...5
    parts.inverse = RelatedKinds.Inverse(name: "wholes", rule: .nullify)
    let zone = RelatedKinds.Link(name: "zone", owner: 2, destination: 0, shape: .required)
    kinds.links = [[], [author, editor, parts], [zone]]
    return kinds
  }()

  private typealias Change = (inout Schema) -> Void

  private static func reference(
    _ field: String, _ change: @escaping (inout ReferenceSchema) -> Void
  ) -> Change {
    { schema in
      schema.change("Book") { book in
        book.change(field) { field in
          guard var reference = field.reference else { return }
          change(&reference)
          field.reference = reference
        }
      }
    }
  }

  private static func inverse(
    _ name: String = "books", of record: String = "Author",
    _ change: @escaping (inout InverseSchema) -> Void
  ) -> Change {
    { schema in
      schema.change(record) { record in
        for place in record.inverses.indices where record.inverses[place].name == name {
          change(&record.inverses[place])
        }
      }
    }
  }

  /// The numbers of the three records, and those of Book's fields.
  private static func numbers() throws -> (author: UInt32, book: UInt32, place: UInt32) {
    let schema = try Self.schema()
    return (
      try #require(schema.record(named: "Author")).number,
      try #require(schema.record(named: "Book")).number,
      try #require(schema.record(named: "Place")).number
    )
  }

  private static func schema() throws -> Schema { try kinds.model.schemas()[0] }

  @Test func `references and inverses that can be are read as they were written`() throws {
    let schema = try Self.schema()
    #expect(try decode(schema.encoded()) == schema)
  }

  @Test func `a reference that cannot be is refused, D2`() throws {
    let numbers = try Self.numbers()
    try refuse([
      ("to nothing", Self.reference("author") { $0.record = 99 }),
      ("to record 0", Self.reference("author") { $0.record = 0 }),
      ("to the highest number", Self.reference("author") { $0.record = .max }),
      ("to a key of two fields", Self.reference("author") { $0.record = numbers.place }),
      ("to a key of another type", Self.reference("author") { $0.record = numbers.book }),
      ("list to a key of another type", Self.reference("parts") { $0.record = numbers.author }),
      (
        "to its own record, with another key", Self.reference("editor") { $0.record = numbers.book }
      ),
      (
        "a field of another type",
        { $0.change("Book") { $0.change("author") { $0.type = .scalar(.uuid) } } }
      ),
      (
        "a list of others",
        { $0.change("Book") { $0.change("parts") { $0.type = .array(of: .string) } } }
      ),
      (
        "a list where one is",
        { $0.change("Book") { $0.change("parts") { $0.type = .scalar(.int64) } } }
      ),
      (
        "coded by a codec",
        { $0.change("Book") { $0.change("author") { $0.type = .transformable(codec: "json") } } }
      ),
      ("bounds without a list", Self.reference("author") { $0.bounds = .init(least: 1, most: 2) }),
      ("no number is within", Self.reference("parts") { $0.bounds = .init(least: 3, most: 2) }),
      ("a rule of its own that is none", Self.reference("author") { $0.deleteRule = .noAction }),
      (
        "an unchecked one that deletes",
        Self.reference("editor") {
          $0.isChecked = false
          $0.deleteRule = .cascade
        }
      ),
      ("without a way back", { $0.change("Book") { $0.indexes = [] } }),
      (
        "with a way back for some",
        { schema in
          schema.change("Book") { book in
            for place in book.indexes.indices {
              book.indexes[place].condition = .comparison(field: "note", .equal, 1)
            }
          }
        }
      ),
      (
        "with one that is without case",
        { schema in
          schema.change("Book") { book in
            for place in book.indexes.indices where book.indexes[place].parts[0].expansion == .none
            {
              book.indexes[place].parts[0].isCaseInsensitive = true
            }
          }
        }
      ),
      ("its destination is gone", { $0.records.removeAll { $0.name == "Author" } }),
    ])
  }

  @Test func `an inverse that cannot be is refused, D2`() throws {
    let numbers = try Self.numbers()
    let book = try #require(try Self.schema().record(named: "Book"))
    let fields = book.numbers
    let wholes = try #require(book.inverse(named: "wholes"))
    try refuse([
      ("of no record", Self.inverse { $0.record = 0 }),
      ("of a record that is not there", Self.inverse { $0.record = 77 }),
      ("of another record", Self.inverse { $0.record = numbers.place }),
      ("of its own record", Self.inverse { $0.record = numbers.author }),
      ("of no field", Self.inverse { $0.field = 0 }),
      ("of a field that is no reference", Self.inverse { $0.field = fields["note"] ?? 0 }),
      ("of one that leads elsewhere", Self.inverse { $0.field = fields["parts"] ?? 0 }),
      ("of an inverse", Self.inverse { $0.field = wholes.number }),
      ("of itself", Self.inverse("wholes", of: "Book") { $0.field = $0.number }),
      (
        "nullify of what is not optional",
        Self.inverse {
          $0.field = fields["editor"] ?? 0
          $0.deleteRule = .nullify
        }
      ),
      ("no action of what is checked", Self.inverse { $0.deleteRule = .noAction }),
      (
        "a rule for what is not checked", Self.reference("author") { $0.isChecked = false }
      ),
      ("no number is within", Self.inverse { $0.bounds = .init(least: 8, most: 7) }),
      (
        "two of a unique one",
        Self.inverse {
          $0.field = fields["editor"] ?? 0
          $0.bounds = .init(least: 2, most: 3)
        }
      ),
      ("without a name", Self.inverse { $0.name = "" }),
      ("with a dot", Self.inverse { $0.name = "a.b" }),
      ("with a field's name", Self.inverse { $0.name = "id" }),
      ("with number 0", Self.inverse { $0.number = 0 }),
      ("with a field's number", Self.inverse { $0.number = 1 }),
      ("with a number that was not given", Self.inverse { $0.number = 500 }),
      (
        "twice",
        { $0.change("Author") { $0.inverses += $0.inverses } }
      ),
      (
        "two of one reference",
        { schema in
          schema.change("Author") { author in
            guard var other = author.inverses.first else { return }
            other.number = author.nextField
            author.nextField += 1
            other.name = "too"
            author.inverses.append(other)
          }
        }
      ),
    ])
  }

  @Test
  func `a rule, a flag or an element that is not known is refused as newer, or as damage, D1`()
    throws
  {
    let schema = try Self.schema()
    var other = schema
    Self.reference("author") { $0.deleteRule = .cascade }(&other)
    var unchecked = schema
    Self.reference("author") { $0.isChecked = false }(&unchecked)
    var denying = schema
    Self.inverse { $0.deleteRule = .deny }(&denying)
    let bytes = schema.encoded()
    for changed in [other, unchecked, denying] {
      let place = try #require(zip(bytes, changed.encoded()).enumerated().first { $1.0 != $1.1 })
        .offset
      for code in [0, 5, 6, 100, 255] as [UInt8] {
        var hostile = bytes
        hostile[place] = code
        let found = self.error(hostile)
        #expect(found?.isOfSchema == true, "\(code) at \(place): \(String(describing: found))")
      }
    }
  }

  @Test func `a field with two references is refused, D1`() throws {
    var bytes = try Self.schema().encoded()
    func length(at place: Int) -> Int {
      bytes[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let header: Bytes = [9, 0, 1, 0, 14, 0, 0, 0]
    let reference = try #require(bytes.indices.first { bytes[$0...].starts(with: header) })
    let end = reference + header.count + 14
    let field = try #require(
      (0..<reference).last { bytes[$0] == 5 && $0 + 8 + length(at: $0) == end })
    // The elements of the schema come after its fingerprint.
    var record = 16
    while record + 8 + length(at: record) < end { record += 8 + length(at: record) }
    for place in [field, record] {
      let longer = UInt16(length(at: place) + end - reference)
      (bytes[place + 4], bytes[place + 5]) = (UInt8(longer & 255), UInt8(longer >> 8))
    }
    bytes.insert(contentsOf: bytes[reference..<end], at: end)
    #expect(error(bytes)?.breaks(.schemaLayout) == true, "\(String(describing: error(bytes)))")
  }

  @Test func `whatever bytes of relations become, they are read or refused`() throws {
    var refused = 0
    replaying(0..<UInt64(scaled(300, debug: 12))) { seed in
      var random = SplitMix64(seed: seed)
      let schema = try RelatedKinds.random(&random).model.schemas()[0]
      let bytes = schema.encoded()
      try agree(decode(bytes) == schema, "it reads otherwise")
      for _ in 0..<60 {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...2, using: &random) {
          let place = Int.random(in: 0..<damaged.count, using: &random)
          switch random.next() % 4 {
          case 0: damaged[place] ^= 1 << UInt8(random.next() % 8)
          case 1: damaged[place] = UInt8(random.next() % 12)
          case 2:
            damaged.insert(
              contentsOf: damaged[place..<min(damaged.count, place + 26)], at: place)
          default: damaged.removeSubrange(place..<min(damaged.count, place + 4))
          }
          if damaged.isEmpty { damaged = [0] }
        }
        if let error = error(damaged) {
          refused += 1
          try agree(error.isOfSchema, "\(error)")
        } else {
          try use(try decode(damaged))
        }
      }
    }
    #expect(refused > scaled(5_000, debug: 200))
  }

  /// Opens a store with a schema that was read, and deletes what there is.
  private func use(_ schema: Schema) throws {
    let backend = try EngineBackend(inMemory: StoreOptions())
    let entities = try Entities(schema, model: nil, names: backend.names)
    try backend.write(.durable) { trees in
      let writer = RecordWriter(trees, entities)
      for entity in entities.all { try writer.deleteAllWithHooks(of: entity) }
    }
    try backend.close()
  }

  private func refuse(_ changes: [(String, Change)]) throws {
    let schema = try Self.schema()
    for (what, change) in changes {
      var changed = schema
      change(&changed)
      guard changed != schema else {
        Issue.record("\(what) changes nothing")
        continue
      }
      guard
        case .corrupt(.entry("schema", [0, 0, 0, 1]), .schemaContents, _)? = error(
          changed.encoded())
      else {
        Issue.record("\(what): \(String(describing: error(changed.encoded())))")
        continue
      }
    }
  }

  private func decode(_ bytes: Bytes) throws(StoreError) -> Schema {
    try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
  }

  private func error(_ bytes: Bytes) -> StoreError? {
    storeError { () throws(StoreError) in _ = try decode(bytes) }
  }
}

extension Schema {
  fileprivate mutating func change(_ name: String, _ body: (inout RecordSchema) -> Void) {
    for place in records.indices where records[place].name == name { body(&records[place]) }
  }
}

extension RecordSchema {
  fileprivate mutating func change(_ name: String, _ body: (inout FieldSchema) -> Void) {
    for place in fields.indices where fields[place].name == name { body(&fields[place]) }
  }
}

extension StoreError {
  fileprivate var isOfSchema: Bool {
    switch self {
    case .corrupt(.entry, .schemaLayout, _), .corrupt(.entry, .schemaContents, _), .newerFormat:
      true
    default: false
    }
  }
}
