extension SchemaLock: CustomStringConvertible {
  /// The text of the lock's file: the same for the same versions, whatever the order of declaration.
  public var description: String {
    ([Self.preamble, "schema-lock \(Self.format)"] + versions.map { "\n" + $0.text })
      .joined(separator: "\n") + "\n"
  }

  static let format = 1

  private static let preamble = """
    # The versions of the model that were released. Commit this file. A version in it never changes:
    # what is new is described as a new version, and SchemaLock.write adds that here.
    """
}

extension LockedVersion {
  fileprivate var text: String {
    (["version \(number)" + (label.map { " " + $0.quoted } ?? ""), "fingerprint \(fingerprint)"]
      + stepLines + records.map { "\n" + $0.text }).joined(separator: "\n")
  }

  /// A line for each step; `steps none` if there is none, and no line if that is not known.
  private var stepLines: [String] {
    guard let steps else { return [] }
    return steps.isEmpty ? ["steps none"] : steps.map(\.lockText)
  }
}

extension StatedStep {
  fileprivate var lockText: String {
    "step from \(from.lowerBound)" + (isSquashed ? "...\(from.upperBound)" : "")
      + (label.map { " label " + $0.quoted } ?? "") + (revision == 0 ? "" : " revision \(revision)")
  }
}

extension LockedRecord {
  fileprivate var text: String {
    (["record \(name.lockName)"] + lines.map { "  " + $0 }).joined(separator: "\n")
  }

  /// Its statements, a line for each.
  private var lines: [String] {
    var lines = ["fingerprint \(fingerprint)"]
    if let renamingID { lines.append("renamed \(renamingID.lockName)") }
    if let modifier = schema.modifier { lines.append("modifier \(modifier.quoted)") }
    if schema.isAbstract { lines.append("abstract") }
    lines += schema.userInfo.lockTexts
    lines += schema.fields.map { line(of: $0) }
    lines.append("key " + schema.lockText(of: schema.primaryKey))
    lines += schema.indexes.map { schema.line(of: $0) }
    lines += schema.inverses.map { line(of: $0) }
    if let expiry = schema.expiryLockText { lines.append(expiry) }
    lines += validations.map { "validation " + $0.quoted }
    return lines
  }

  private func line(of field: FieldSchema) -> String {
    var line = "field \(field.name.lockName) \(field.type.lockText)"
    if let reference = field.reference { line += " to " + reference.lockText }
    if let kind = schema.kind(field.number) {
      line += kind.isAbstract ? " kind abstract" : " kind"
    } else if field.isOptional {
      line += " optional"
    }
    if let derivation = field.derivation { line += " derived " + derivation.lockText }
    if let modifier = field.modifier { line += " modifier " + modifier.quoted }
    for text in field.userInfo.lockTexts { line += " " + text }
    if let value = field.defaultValue { line += " default " + value.literal.quoted }
    guard let locked = fields[field.name] else { return line }
    if let value = locked.migrationDefault { line += " migrated " + value.quoted }
    if let choice = locked.choice { line += " choosing " + choice.lockText }
    if let old = locked.renamingID { line += " renamed " + old.lockName }
    return line
  }
}

extension LockedRecord {
  private func line(of inverse: InverseSchema) -> String {
    "inverse \(inverse.name.lockName) of \(inverse.lockText)"
      + (fields[inverse.name]?.renamingID.map { " renamed " + $0.lockName } ?? "")
  }
}

extension [String: String] {
  /// Annotations, each as a line of a record or a part of a field's.
  fileprivate var lockTexts: [String] {
    inOrder.map { "info \($0.key.lockName) \($0.value.quoted)" }
  }

  /// All annotations as a text; nil if there are none.
  var lockText: String? { isEmpty ? nil : lockTexts.joined(separator: ", ") }
}

extension ReferenceSchema {
  fileprivate var lockText: String {
    destinationText.lockName + deleteRule.lockText + (isChecked ? "" : " unchecked")
      + (bounds.map { " count \($0)" } ?? "")
  }
}

extension DerivationSchema {
  fileprivate var lockText: String {
    if let sequence { return "\(sequence)" }
    let over = related.map { " over " + "\($0).\(reference ?? "")".lockName }
    if let expression { return "\(kind)" + (over ?? "") + " as " + "\(expression)".quoted }
    let of = over == nil ? source ?? reference : source
    return "\(kind)" + (over ?? "") + (of.map { " of " + $0.lockName } ?? "")
  }
}

extension InverseSchema {
  /// The reference, the rule and the bounds.
  var lockText: String {
    "\(related).\(reference)".lockName + deleteRule.lockText
      + (bounds.map { " count \($0)" } ?? "")
  }
}

extension ElementChoice {
  fileprivate var lockText: String {
    switch self {
    case .first: "first"
    case .last: "last"
    case .only: "only"
    case .least(let field): "least by " + field.lockName
    case .greatest(let field): "greatest by " + field.lockName
    case .all(let list): "all in " + list.lockName
    }
  }
}

extension DeleteRule {
  fileprivate var lockText: String {
    switch self {
    case .nullify: ""
    case .cascade: " cascade"
    case .deny: " deny"
    case .noAction: " unchecked"
    }
  }
}

extension RecordSchema {
  func line(of index: IndexSchema) -> String {
    (index.isUnique ? "unique " : "index ") + lockText(of: index.parts)
      + (index.name == indexName(of: index.parts) ? "" : " named " + index.name.quoted)
      + (index.condition.map { " where " + "\($0.canonical)".quoted } ?? "")
  }

  /// Returns the name of an index that was given none.
  func indexName(of parts: [KeyPart]) -> String { keyFields(parts).text }

  fileprivate func lockText(of parts: [KeyPart]) -> String {
    keyFields(parts).map { part in
      part.name.lockName + (part.expansion == .none ? "" : " \(part.expansion)")
        + (part.isCaseInsensitive ? " caseless" : "")
        + (part.collation.map { " by \($0.name.lockName) \($0.version.lockName)" } ?? "")
        + (part.isDescending ? " descending" : "")
    }.joined(separator: ", ")
  }
}

extension ColumnType {
  fileprivate var lockText: String {
    switch self {
    case .array(let element): "array of \(element)"
    case .transformable(let codec): "transformable " + codec.quoted
    case .external(let type, let options): "\(type) external \(options.lockText)"
    default: "\(self)"
    }
  }
}

extension BlobOptions {
  var lockText: String {
    let compression =
      switch self.compression {
      case .none: "none"
      case .zstd(let level): "zstd \(level)"
      }
    return "\(threshold) \(compression)" + (deduplicated ? " deduplicated" : "")
  }
}

extension String {
  /// A name as it is, or between quotes where it could be taken for something else.
  var lockName: String {
    !isEmpty && unicodeScalars.allSatisfy(\.isOfLockWord) ? self : quoted
  }
}

extension Unicode.Scalar {
  /// True if it can stand in a lock without quotes.
  var isOfLockWord: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-": true
    default: false
    }
  }
}
