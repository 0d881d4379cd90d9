import Cambium

/// What has become of one version in another of the same store: numbers say what was renamed.
struct SchemaDifference {
  private(set) var lines: [String] = []

  init(from old: Schema, to new: Schema) {
    let numbers = Set(new.records.map(\.number))
    for record in old.records where !numbers.contains(record.number) {
      lines.append("\(record.name) is gone")
    }
    for record in new.records {
      if let before = old.records.first(where: { $0.number == record.number }) {
        compare(before, record)
      } else {
        lines.append("\(record.name) is new")
      }
    }
  }

  private mutating func compare(_ old: RecordSchema, _ new: RecordSchema) {
    if old.name != new.name { lines.append("\(old.name) is called \(new.name)") }
    let numbers = Set(new.fields.map(\.number))
    for field in old.fields where !numbers.contains(field.number) {
      lines.append("\(new.name).\(field.name) is gone")
    }
    for field in new.fields {
      if let before = old.fields.first(where: { $0.number == field.number }) {
        lines += Self.changes(before, field).map { "\(new.name).\(field.name) \($0)" }
      } else {
        lines.append("\(new.name).\(field.name) is new: \(field.typeText)")
      }
    }
    compareKeys(old, new)
    if old.modifier != new.modifier { lines.append("\(new.name) has another modifier") }
  }

  private static func changes(_ old: FieldSchema, _ new: FieldSchema) -> [String] {
    var changes: [String] = []
    if old.name != new.name { changes.append("was called \(old.name)") }
    if old.type != new.type { changes.append("was \(old.type), and is \(new.type)") }
    if old.isOptional != new.isOptional {
      changes.append(new.isOptional ? "is optional now" : "is no longer optional")
    }
    if old.modifier != new.modifier { changes.append("has another modifier") }
    return changes
  }

  private mutating func compareKeys(_ old: RecordSchema, _ new: RecordSchema) {
    if old.primaryKey != new.primaryKey {
      lines.append(
        "the primary key of \(new.name) was \(old.text(of: old.primaryKey)), and is \(new.text(of: new.primaryKey))"
      )
    }
    let numbers = Set(new.indexes.map(\.number))
    for index in old.indexes where !numbers.contains(index.number) {
      lines.append("\(new.name): the index \(index.name) is gone")
    }
    let known = Set(old.indexes.map(\.number))
    for index in new.indexes where !known.contains(index.number) {
      lines.append("\(new.name): the index \(index.name) is new")
    }
  }
}

extension FieldSchema {
  fileprivate var typeText: String { "\(type)\(isOptional ? ", optional" : "")" }
}

extension RecordSchema {
  fileprivate func text(of parts: [KeyPart]) -> String {
    "("
      + parts.map { name(of: $0) + ($0.isDescending ? " descending" : "") }.joined(separator: ", ")
      + ")"
  }
}
