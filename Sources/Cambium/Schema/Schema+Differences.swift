extension Schema {
  /// Returns the differences between this schema and `other`, a sentence for each field, key and index. There are none
  /// exactly if the two have the same fingerprint.
  public func differences(to other: Schema) -> [String] {
    var differences: [String] = []
    for record in records {
      guard let counterpart = other.record(named: record.name) else {
        differences.append("\(record.name) is not described")
        continue
      }
      differences += record.differences(to: counterpart)
    }
    for record in other.records where self.record(named: record.name) == nil {
      differences.append("\(record.name) is new")
    }
    return differences
  }
}

extension RecordSchema {
  fileprivate func differences(to other: RecordSchema) -> [String] {
    var differences: [String] = []
    for field in fields {
      guard let counterpart = other.field(named: field.name) else {
        differences.append("\(name).\(field.name) is not described")
        continue
      }
      differences += field.differences(to: counterpart).map { "\(name).\(field.name) \($0)" }
    }
    for field in other.fields where self.field(named: field.name) == nil {
      differences.append("\(name).\(field.name) is new")
    }
    if text(of: primaryKey) != other.text(of: other.primaryKey) {
      differences.append(
        "the primary key of \(name) is \(text(of: primaryKey)), described as"
          + " \(other.text(of: other.primaryKey))")
    }
    let indexes = Set(indexes.map(text(of:)))
    let others = Set(other.indexes.map(other.text(of:)))
    for index in indexes.subtracting(others).sortedRarely() {
      differences.append("\(name): the \(index) is not described")
    }
    for index in others.subtracting(indexes).sortedRarely() {
      differences.append("\(name): the \(index) is new")
    }
    if !same(modifier, other.modifier) {
      differences.append(
        "the modifier of \(name) is \(quoted(modifier)), described as \(quoted(other.modifier))")
    }
    return differences
  }

  func text(of parts: [KeyPart]) -> String {
    "("
      + parts.map { part in
        (field(part.field)?.name ?? "")
          + (part.isCaseInsensitive ? " without case" : "")
          + (part.isDescending ? " descending" : "")
      }.joined(separator: ", ") + ")"
  }

  func text(of index: IndexSchema) -> String {
    (index.isUnique ? "unique index " : "index ") + text(of: index.parts)
      + (index.condition.map { " where \($0.canonical)" } ?? "")
  }
}

extension FieldSchema {
  fileprivate func differences(to other: FieldSchema) -> [String] {
    var differences: [String] = []
    if type.stored != other.type.stored {
      differences.append("is \(type), described as \(other.type)")
    }
    if isOptional != other.isOptional {
      differences.append(
        "is \(isOptional ? "" : "not ")optional, described as \(other.isOptional ? "" : "not ")optional"
      )
    }
    if !same(modifier, other.modifier) {
      differences.append(
        "has the modifier \(quoted(modifier)), described as \(quoted(other.modifier))")
    }
    return differences
  }
}

private func same(_ one: String?, _ other: String?) -> Bool {
  one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
}

private func quoted(_ text: String?) -> String {
  text.map { "“\($0)”" } ?? "none"
}
