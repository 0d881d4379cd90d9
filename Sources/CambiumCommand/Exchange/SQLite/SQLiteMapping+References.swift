import Cambium

extension SQLiteMapping {
  mutating func addReferences(to place: Int) throws {
    let table = records[place].table
    for key in table.foreignKeys {
      let text = "\(table.name).\(key.columns.joined(separator: ", "))"
      guard let target = places[key.table.sqlFolded] else {
        note(text, "it leads to \(key.table), which is no record; it is a plain field")
        continue
      }
      guard let destination = self.key(of: target, named: key) else {
        note(text, "it does not lead to a primary key of one field; it is no reference")
        continue
      }
      guard let field = records[place].fields.firstIndex(where: { $0.isOf(key.columns[0]) })
      else { continue }
      if let known = records[place].fields[field].destination {
        // Some state the same key twice.
        if known.record != records[target].name(of: key.kind) {
          note(text, "it leads to \(key.table), too; it is a reference to \(known.record) only")
        } else if let first = table.foreignKeys.first(where: {
          $0.columns.count == 1 && records[place].fields[field].isOf($0.columns[0])
            && $0.table.isName(key.table)
        }), first.deletion != key.deletion {
          note(
            text,
            "it is stated twice; ON DELETE \(first.deletion) holds, and ON DELETE \(key.deletion) is left out"
          )
        }
        continue
      }
      try addReference(key, field, of: place, to: target, destination, text)
    }
  }

  /// Returns the field that is the primary key of a record, if a foreign key leads to just that; nil otherwise.
  func key(of target: Int, named key: SQLiteTable.ForeignKey) -> Field? {
    let record = records[target]
    guard key.columns.count == 1, record.key.count == 1,
      let field = record.fields.first(where: { $0.name == record.key[0] }),
      let column = field.column,
      let wanted = key.destinations.first
        ?? record.table.primaryKey.first.map({ record.table.columns[$0].name }),
      wanted.isName(column)
    else { return nil }
    return field
  }

  private mutating func addReference(
    _ key: SQLiteTable.ForeignKey, _ place: Int, of record: Int, to target: Int,
    _ destination: Field, _ text: String
  ) throws {
    let field = records[record].fields[place]
    let table = records[record].table
    guard let column = field.column, let number = table.column(named: column) else { return }
    let values = records[record].profile.columns[number]
    if let fault = fault(ofReference: field, of: record, to: target) {
      return note(text, "\(fault); it is a plain field")
    }
    let missing: Int
    switch try match(values, field.type, column, of: table, target, destination) {
    case .fault(let fault): return note(text, "\(fault); it is a plain field")
    case .missing(let count): missing = count
    }
    if values.values == 0 { records[record].fields[place].type = destination.type }
    records[record].fields[place].destination = Destination(
      record: records[target].name(of: key.kind), isChecked: missing == 0)
    if missing > 0 {
      return note(
        text,
        "the destination of \(Figures.count(missing, "row")) does not exist; the reference is not checked"
      )
    }
    addInverse(
      of: record, (field.name, field.kind), to: target, key.kind,
      rule(key, isRequired: !field.isOptional, text))
  }

  /// How the values of a column fit the keys of a record.
  enum Match {
    /// Why they cannot lead to it, in words.
    case fault(String)
    /// They can, and lead to the rows that they lead to in the database, but for some that lead nowhere.
    case missing(Int)
  }

  /// Compares the values of a column with the keys that they lead to: both must have the type that references have, and
  /// find the same rows by its bytes as SQLite does by its own rules.
  func match(
    _ values: SQLiteProfile.Column, _ type: ScalarType, _ column: String, of table: SQLiteTable,
    _ target: Int, _ key: Field
  ) throws -> Match {
    if [.double, .float, .boolean].contains(key.type) {
      return .fault("it leads to a key that is \(key.type), which no reference can be")
    }
    guard values.values > 0 else { return .missing(0) }
    guard type == key.type else {
      return .fault("its values are \(type), the key that it leads to is \(key.type)")
    }
    let destination = records[target]
    guard let name = key.column, let place = destination.table.column(named: name) else {
      return .fault("it leads to no column")
    }
    guard !destination.table.hasForeignCollation else {
      return .fault("it leads to a key that the program compares by a collation of its own")
    }
    let keys = destination.profile.columns[place]
    guard let spelling = values.spelling(as: type),
      keys.values == 0 || keys.spelling(as: key.type) == spelling
    else {
      return .fault("its values are written otherwise than the keys that it leads to")
    }
    let condition = "b.\(name.sqlName) = a.\(column.sqlName)"
    let isSame =
      " AND \(condition) COLLATE BINARY"
      + " AND typeof(b.\(name.sqlName)) = typeof(a.\(column.sqlName))"
    func countMissing(_ condition: String) throws -> Int {
      try database.number(
        """
        SELECT count(*) FROM \(table.name.sqlName) AS a WHERE a.\(column.sqlName) IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM \(destination.table.name.sqlName) AS b WHERE \(condition))
        """)
    }
    let missing = try countMissing(condition + isSame)
    guard missing > 0 else { return .missing(0) }
    let different = try missing - countMissing(condition)
    guard different == 0 else {
      return .fault(
        "\(Figures.count(different, "row")) \(different == 1 ? "leads" : "lead") to keys that are spelled otherwise"
      )
    }
    return .missing(missing)
  }

  /// Returns why there is no such reference in Swift; nil if there can be.
  private func fault(ofReference field: Field, of record: Int, to target: Int) -> String? {
    guard records[record].key == [field.name] else { return nil }
    // The key of a record whose key is a reference is that of its destination, and that must end.
    var place = target
    while place != record {
      guard records[place].key.count == 1,
        let key = records[place].fields.first(where: { $0.name == records[place].key[0] }),
        let next = key.destination,
        let index = records.firstIndex(where: { $0.name == next.record })
      else { return nil }
      place = index
    }
    return "it is a key that leads to itself"
  }

  private mutating func rule(
    _ key: SQLiteTable.ForeignKey, isRequired: Bool, _ place: String
  ) -> DeleteRule {
    switch key.deletion {
    case "CASCADE": return .cascade
    case "SET NULL" where !isRequired: return .nullify
    case "SET NULL", "SET DEFAULT":
      note(place, "a deletion that would do \(key.deletion) is refused")
      return .deny
    default: return .deny
    }
  }

  mutating func addInverse(
    of place: Int, _ reference: (name: String, kind: Int?), to target: Int, _ kind: Int?,
    _ rule: DeleteRule
  ) {
    let record = records[place]
    let taken = records[target].names
    let related = record.name(of: reference.kind)
    let name = taken.contains(related) ? "\(related)_\(reference.name)" : related
    records[target].inverses.append(
      Inverse(
        name: name.asFieldName(besides: taken), kind: kind, related: record.name,
        reference: record.prefix(of: reference.kind) + reference.name, deleteRule: rule))
  }
}

extension SQLiteMapping.Record {
  /// The names of everything in it that has one.
  var names: [String] {
    fields.map(\.name) + lists.map(\.name) + inverses.map(\.name) + kinds.map(\.name)
  }

  /// The name of a kind; the record's own for none.
  func name(of kind: Int?) -> String { kind.map { kinds[$0].name } ?? name }

  /// Returns the places of a kind and of those that it is in, the outermost last; none for no kind.
  func line(of kind: Int?) -> [Int] {
    kind.map { Array(sequence(first: $0) { kinds[$0].parent }) } ?? []
  }

  /// The names of a kind and of those that it is in, each with a dot: the prefix of the names of its fields.
  func prefix(of kind: Int?) -> String {
    line(of: kind).reversed().map { kinds[$0].name + "." }.joined()
  }
}

extension SQLiteMapping.Field {
  /// Returns true for the field of a column.
  func isOf(_ name: String) -> Bool { column?.isName(name) ?? false }
}
