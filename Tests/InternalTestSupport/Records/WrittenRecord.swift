import FoundationEssentials

@testable import Cambium

/// A record with every kind of index that writing has to keep in step.
struct WrittenRecord: Record, Hashable {
  var id: String
  var group = 0
  var code: String
  var mail: String?
  var flag = false
  var name = ""
  var score: Double?
  var tags: [String]?
  var marks: [Int] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    Field(name: "group", type: .integer, indexed: true)
    Field(name: "code", type: .string, unique: true)
    Field(name: "mail", type: .string, optional: true, unique: true)
    Field(name: "flag", type: .boolean)
    Field(name: "name", type: .string)
    Field(name: "score", type: .double, optional: true)
    Field(name: "tags", type: .array(of: .string), optional: true)
    Field(name: "marks", type: .array(of: .integer))
    Index(.descending("name"), "code")
    Index(.caseInsensitive("name"), .descending("score"))
    Index("group", named: "flagged", where: flagged)
    Index("group", .elements("tags"))
    Unique(.elements("marks"))
    Unique(.caseInsensitive("name"), .descending("group"), named: "nameGroup", where: flagged)
  }

  private static var flagged: FieldCondition {
    .comparison(field: "flag", .equal, .boolean(true))
  }

  /// Values of which two records cannot have the same.
  var claims: [String] {
    var claims = ["code \(code)"]
    if let mail { claims.append("mail \(mail)") }
    claims += marks.map { "mark \($0)" }
    if flag { claims.append("nameGroup \(group) \(Self.lowercase(name))") }
    return claims
  }

  /// As simple lowercase mapping has it, of the names that the tests use.
  private static func lowercase(_ name: String) -> String {
    String(
      String.UnicodeScalarView(name.unicodeScalars.map { $0 == "Ä" ? "ä" : $0 == "A" ? "a" : $0 }))
  }
}

/// Records as a dictionary, which knows what each write has to do.
struct RecordModel: Equatable {
  private(set) var records: [String: WrittenRecord] = [:]

  enum Outcome: Hashable { case done, duplicateKey, noSuchRecord, uniqueConflict }

  mutating func write(
    _ record: WrittenRecord, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) -> Outcome {
    let isThere = records[record.id] != nil
    if presence == .isNew, isThere { return .duplicateKey }
    if presence == .isThere, !isThere { return .noSuchRecord }
    let claims = Set(record.claims)
    let others = records.values.filter { $0.id != record.id && !claims.isDisjoint(with: $0.claims) }
    if !others.isEmpty {
      switch policy {
      case .refuse: return .uniqueConflict
      case .keepOther: return .done
      case .updateOther:
        guard !isThere, others.count == 1 else { return .uniqueConflict }
        var updated = record
        updated.id = others[0].id
        records[updated.id] = updated
        return .done
      case .replaceOther: for other in others { records[other.id] = nil }
      }
    }
    records[record.id] = record
    return .done
  }

  mutating func delete(_ id: String) -> Bool { records.removeValue(forKey: id) != nil }
  mutating func deleteAll() { records = [:] }
}

/// A thing done to records, as a value.
enum RecordOperation: Hashable, Sendable {
  case write(WrittenRecord, RecordWriter.Presence, ConflictPolicy)
  case delete(String)
  case deleteAll
}

/// The trees of `WrittenRecord`, and how to do things to them.
struct WrittenRecords {
  let entities: Entities
  let type: RecordType<WrittenRecord>
  private let key = KeyEncoder()
  private let row = RowWriter()

  init(_ names: TreeNames) throws {
    let checked = try StoreModel(records: [WrittenRecord.self]).checked()
    entities = try Entities(checked.schema, model: checked, names: names)
    type = try entities.type(WrittenRecord.self)
  }

  var trees: Entity { type }

  /// Does it to both, and compares the results.
  func perform(
    _ operation: RecordOperation, _ writer: RecordWriter, _ model: inout RecordModel
  ) throws {
    switch operation {
    case .write(let record, let presence, let policy):
      let expected = model.write(record, presence, policy)
      try type.encode(record, to: row, key: key)
      let found = try outcome {
        () throws(StoreError) in
        try writer.write(key.key, row.row, of: trees, presence: presence, onConflict: policy)
      }
      try agree(found == expected, "\(operation) comes to \(found), not \(expected)")
    case .delete(let id):
      let expected = model.delete(id)
      let found = try writer.delete(Array(id.utf8).rawSpan, of: trees)
      try agree(found == expected, "\(operation) comes to \(found)")
    case .deleteAll:
      model.deleteAll()
      try writer.deleteAll(of: trees)
    }
  }

  private func outcome(
    _ body: () throws(StoreError) -> Void
  ) throws(StoreError) -> RecordModel.Outcome {
    do throws(StoreError) {
      try body()
      return .done
    } catch .duplicateKey {
      return .duplicateKey
    } catch .noSuchRecord {
      return .noSuchRecord
    } catch .uniqueConflict {
      return .uniqueConflict
    }
  }

  /// Compares every record and every index entry with the model.
  func compare(_ access: TreeAccess, _ model: RecordModel) throws {
    let count = try access.count(in: trees.rows)
    try agree(count == model.records.count, "\(count) records, not \(model.records.count)")
    let cursor = try access.cursor(in: trees.rows)
    var isOn = try cursor.first()
    while isOn {
      let record = try type.load(key: cursor.key, row: try cursor.value())
      try agree(model.records[record.id] == record, "there is \(record)")
      isOn = try cursor.next()
    }
    try compareElements(access, model)
    let faults = try RecordCheck.faults(of: [trees], in: access)
    try agree(faults.isEmpty, "\(faults)")
  }

  /// Compares the entries of elements with the model, which knows what is in each array.
  private func compareElements(_ access: TreeAccess, _ model: RecordModel) throws {
    var expected: [String: [String]] = ["group, elements(tags)": [], "elements(marks)": []]
    for record in model.records.values {
      expected["group, elements(tags)"]? += Set(record.tags ?? []).map { _ in record.id }
      expected["elements(marks)"]? += Set(record.marks).map { _ in record.id }
    }
    for index in trees.indexes {
      guard let expected = expected[index.layout.schema.name] else { continue }
      var found: [String] = []
      let cursor = try access.cursor(in: index.slot)
      while try cursor.advance() {
        let key = try index.layout.primaryKey(
          key: cursor.key, value: try cursor.value(), layout: trees.layout)
        found.append(String(decoding: key.array(), as: UTF8.self))
      }
      try agree(found.sorted() == expected.sorted(), "\(index.layout.schema.name) has \(found)")
    }
  }

  /// A record's row.
  func row(of record: WrittenRecord) throws -> Bytes {
    try type.encode(record, to: row, key: key)
    return row.row.array()
  }
}
