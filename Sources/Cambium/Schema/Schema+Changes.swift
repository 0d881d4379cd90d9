extension StoreModel {
  /// Returns the changes from one version of the model to another, a sentence for each record, field, key and index.
  /// Renamings are recognized.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  public func changes(from older: Int, to newer: Int) throws(StoreError) -> [String] {
    let schemas = try schemas()
    for wanted in [older, newer] where wanted < 1 || wanted > schemas.count {
      throw .invalidDescription(
        record: "StoreModel", field: nil, version: wanted,
        reason: "the model has the versions 1 to \(version)")
    }
    return schemas[newer - 1].changes(since: schemas[older - 1])
  }
}

extension Schema {
  /// Returns the changes since another version of the same store or model, a sentence for each record, field, key and index.
  ///
  /// Records and fields are matched by number, whatever their names; `differences(to:)` matches by name, and is for schemas
  /// of different stores.
  public func changes(since older: Schema) -> [String] {
    var changes: [String] = []
    let numbers = Set(records.map(\.number))
    for old in older.records where !numbers.contains(old.number) {
      changes.append("\(old.name) is gone")
    }
    let oldRecords = Dictionary(
      older.records.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    for record in records {
      guard let old = oldRecords[record.number] else {
        changes.append("\(record.name) is new")
        continue
      }
      changes += record.changes(since: old)
    }
    return changes
  }
}

extension RecordSchema {
  fileprivate func changes(since older: RecordSchema) -> [String] {
    var changes: [String] = []
    if name != older.name { changes.append("\(older.name) is now \(name)") }
    for old in older.fields where field(old.number) == nil {
      changes.append("\(name).\(old.name) is gone")
    }
    for field in fields {
      guard let old = older.field(field.number) else {
        changes.append("\(name).\(field.name) is new: \(field.text)")
        continue
      }
      changes += field.changes(since: old).map { "\(name).\(field.name) \($0)" }
    }
    if primaryKey != older.primaryKey {
      changes.append(
        "the primary key of \(name) was \(older.text(of: older.primaryKey)), and is"
          + " \(text(of: primaryKey))")
    }
    let (numbers, oldNumbers) = (Set(indexes.map(\.number)), Set(older.indexes.map(\.number)))
    for old in older.indexes where !numbers.contains(old.number) {
      changes.append("\(name): the \(older.text(of: old)) is gone")
    }
    for index in indexes where !oldNumbers.contains(index.number) {
      changes.append("\(name): the \(text(of: index)) is new")
    }
    if modifier != older.modifier { changes.append("\(name) has another modifier") }
    return changes
  }
}

extension FieldSchema {
  /// Its type, and whether it is optional.
  fileprivate var text: String { "\(type)\(isOptional ? ", optional" : "")" }

  fileprivate func changes(since older: FieldSchema) -> [String] {
    var changes: [String] = []
    if name != older.name { changes.append("was called \(older.name)") }
    if type != older.type { changes.append("was \(older.type), and is \(type)") }
    if isOptional != older.isOptional {
      changes.append(isOptional ? "is now optional" : "is no longer optional")
    }
    if modifier != older.modifier { changes.append("has another modifier") }
    return changes
  }
}
