import Cambium

/// A relation whose records are shown with those of a query.
struct IncludedRelation {
  /// The name of a reference of the record, or of one of its inverses.
  let name: String
  /// True if it leads to one record at most.
  let isOne: Bool
  /// The record that it leads to.
  private let schema: RecordSchema
  let shape: RecordShape
  private(set) var nested: [IncludedRelation] = []

  private init(_ name: String, isOne: Bool, to schema: RecordSchema) {
    self.name = name
    self.isOne = isOne
    self.schema = schema
    shape = RecordShape(schema)
  }

  /// The most relations that lead on from one another, as in conditions: each is a level of the output.
  private static let depthMax = 24
  /// The most relations in all: each is a pass over all records that lead to it.
  private static let countMax = 200

  /// Returns the relations that are named, with commas between them: `author.country,tags`.
  ///
  /// - Throws: `CommandFailure` if a record has no such relation, or if there are too many of them.
  static func relations(
    _ names: String, of record: RecordSchema, in schema: Schema
  ) throws -> [IncludedRelation] {
    var relations: [IncludedRelation] = []
    var count = 0
    for path in names.split(separator: ",", omittingEmptySubsequences: false) {
      try add(path.drop { $0 == " " }, of: record, in: schema, to: &relations, depth: 1, &count)
    }
    return relations
  }

  private static func add(
    _ path: Substring, of record: RecordSchema, in schema: Schema,
    to relations: inout [IncludedRelation], depth: Int, _ count: inout Int
  ) throws {
    let all = Self.all(of: record, in: schema)
    // The name of a reference within a composite has dots of its own.
    let found = all.filter { path == $0.name || path.hasPrefix($0.name + ".") }
    guard let relation = found.max(by: { $0.name.count < $1.name.count }) else {
      throw CommandFailure.unknown("relation", path, in: record.name, known: all.map(\.name))
    }
    let place = relations.firstIndex { $0.name == relation.name } ?? relations.count
    if place == relations.count {
      relations.append(relation)
      count += 1
    }
    guard depth <= depthMax, count <= countMax else {
      throw CommandFailure(
        .usage,
        "--including follows \(depthMax) relations at most, one after the other, and"
          + " \(countMax) in all.")
    }
    let rest = path.dropFirst(relation.name.count + 1)
    if path.count > relation.name.count {
      try add(
        rest, of: relation.schema, in: schema, to: &relations[place].nested, depth: depth + 1,
        &count)
    }
  }

  private static func all(of record: RecordSchema, in schema: Schema) -> [IncludedRelation] {
    let references = record.fields.compactMap { field -> IncludedRelation? in
      guard let name = field.reference?.destination, let record = schema.record(named: name) else {
        return nil
      }
      return IncludedRelation(field.name, isOne: field.type.scalar != nil, to: record)
    }
    let inverses = record.inverses.compactMap { inverse in
      schema.record(named: inverse.related).map {
        IncludedRelation(inverse.name, isOne: false, to: $0)
      }
    }
    return references + inverses
  }
}

/// A record with those of relations.
struct ShownRecord {
  let record: DynamicRecord
  var related: [(relation: IncludedRelation, records: [ShownRecord])] = []
}

extension StoreSnapshot {
  /// The most records that are shown at once of a relation that leads on from another. One that leads back and forth
  /// between the same records would otherwise multiply them with each level.
  private static var nestedCountMax: Int { 250_000 }

  /// Returns records with those of relations, each of which is one more pass over all of them.
  ///
  /// - Throws: `CommandFailure` if a relation leads to too many records over another one; `StoreError.corrupt`, `.io`.
  func including(
    _ relations: [IncludedRelation], _ records: [DynamicRecord], stringsAsBlobs: Bool,
    isNested: Bool = false
  ) throws -> [ShownRecord] {
    var shown = records.map { ShownRecord(record: $0) }
    for relation in relations {
      let lists = try related(to: records, relation.name, stringsAsBlobs: stringsAsBlobs)
      let count = lists.reduce(0) { $0 + $1.count }
      guard !isNested || count <= Self.nestedCountMax else {
        throw CommandFailure(
          .refused,
          "--including would show \(count) records of \(relation.name.inOneLine) at once, more than"
            + " \(Self.nestedCountMax). Query the related records by themselves, or use --limit.")
      }
      var rest = try including(
        relation.nested, lists.flatMap { $0 }, stringsAsBlobs: stringsAsBlobs, isNested: true)[...]
      for (index, list) in lists.enumerated() {
        shown[index].related.append((relation, Array(rest.prefix(list.count))))
        rest = rest.dropFirst(list.count)
      }
    }
    return shown
  }
}

// MARK: - Written

extension ShownRecord {
  /// Writes the record as an object. A relation takes the place of the field of its name, or comes after all fields.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io` if a blob cannot be read.
  func writeJSON(_ columns: [FieldShape]) throws {
    var separator = "{"
    func begin(_ name: String) {
      StandardOutput.write("\(separator)\(JSONValue.string(name)):")
      separator = ","
    }
    let names = Set(columns.map(\.name))
    for column in columns {
      begin(column.name)
      if let (relation, records) = related.first(where: { $0.relation.name == column.name }) {
        try Self.writeJSON(records, of: relation)
      } else {
        try record[column.name].writeJSON(of: column, to: StandardOutput.write)
      }
    }
    for (relation, records) in related where !names.contains(relation.name) {
      begin(relation.name)
      try Self.writeJSON(records, of: relation)
    }
    StandardOutput.write(separator == "{" ? "{}" : "}")
  }

  private static func writeJSON(_ records: [ShownRecord], of relation: IncludedRelation) throws {
    if relation.isOne, records.isEmpty { return StandardOutput.write("null") }
    if !relation.isOne { StandardOutput.write("[") }
    for (index, record) in records.enumerated() {
      if index > 0 { StandardOutput.write(",") }
      try record.writeJSON(relation.shape.columns)
    }
    if !relation.isOne { StandardOutput.write("]") }
  }

  /// The records of its relations, a line for each, with theirs below them.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io` where a blob cannot be read.
  func relatedLines(indentedBy width: Int = 4) throws -> [String] {
    let space = String(repeating: " ", count: width)
    return try related.flatMap { relation, records in
      let name = space + relation.name.inOneLine + ": "
      if records.isEmpty { return [name + FieldValue.null.cell] }
      return try records.flatMap { record in
        let cells = try relation.shape.columns.map { column in
          "\(column.name.inOneLine) \(try record.record[column.name].cell(of: column))"
        }
        return [name + cells.joined(separator: ", ")]
          + (try record.relatedLines(indentedBy: width + 4))
      }
    }
  }
}
