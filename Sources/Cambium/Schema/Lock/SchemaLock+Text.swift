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
      + records.map { "\n" + $0.text }).joined(separator: "\n")
  }
}

extension LockedRecord {
  fileprivate var text: String {
    (["record \(name.lockName)"] + lines.map { "  " + $0 }).joined(separator: "\n")
  }

  /// Its statements, a line for each.
  var lines: [String] {
    var lines = ["fingerprint \(fingerprint)"]
    if let renamingID { lines.append("renamed \(renamingID.lockName)") }
    if let modifier { lines.append("modifier \(modifier.quoted)") }
    lines += fields.map(\.line)
    lines.append("key " + key.lockText)
    lines += indexes.map(\.line)
    lines += validations.map { "validation " + $0.quoted }
    return lines
  }
}

extension LockedField {
  var line: String {
    var line = "field \(name.lockName) \(type.name)"
    if let element = type.element { line += " of \(element)" }
    if let codec = type.codec { line += " " + codec.quoted }
    if let options = type.options { line += " external " + options.lockText }
    if isOptional { line += " optional" }
    if let modifier { line += " modifier " + modifier.quoted }
    if let defaultValue { line += " default " + defaultValue.quoted }
    if let migrationDefault { line += " migrated " + migrationDefault.quoted }
    if let renamingID { line += " renamed " + renamingID.lockName }
    return line
  }
}

extension LockedIndex {
  var line: String {
    (isUnique ? "unique " : "index ") + parts.lockText
      + (name.map { " named " + $0.quoted } ?? "")
      + (condition.map { " where " + $0.quoted } ?? "")
  }
}

extension BlobOptions {
  fileprivate var lockText: String {
    let compression =
      switch self.compression {
      case .none: "none"
      case .zstd(let level): "zstd \(level)"
      }
    return "\(threshold) \(compression)" + (deduplicated ? " deduplicated" : "")
  }
}

extension [LockedPart] {
  var lockText: String {
    map { part in
      part.field.lockName + (part.isCaseInsensitive ? " caseless" : "")
        + (part.isDescending ? " descending" : "")
    }.joined(separator: ", ")
  }
}

extension String {
  /// A name as it is, or between quotes where it could be taken for something else.
  fileprivate var lockName: String {
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
