extension LockedVersion {
  /// Returns the advice for the change that `other` makes: to restore the description, and to make the change in a new
  /// version.
  func advice(_ other: LockedVersion, isNewest: Bool) -> String {
    let next = number + 1
    var text =
      isNewest
      ? "Describe version \(number) as it was, and what is new as version \(next):\n\n"
        + "  StoreModel(version: \(next), …)\n"
      : "Describe version \(number) as it was. What is new belongs into a version that is not released.\n"
    let names = Set(records.map(\.name)).union(other.records.map(\.name))
    for name in names.sortedRarely(by: { $0.precedes($1) }) {
      let (locked, now) = (self[name], other[name])
      if let locked, let now, locked.isDescribed(as: now) { continue }
      text += "\n  // \(name)\n"
      if let now, isNewest {
        text += "  if version <= \(number) {\n" + (locked?.statements(by: "    ") ?? "")
        text += "  } else {\n" + now.statements(by: "    ") + "  }\n"
      } else if isNewest {
        text += "  if version <= \(number) {\n" + (locked?.statements(by: "    ") ?? "") + "  }\n"
      } else {
        text += locked?.statements(by: "  ") ?? "  // not in version \(number)\n"
      }
    }
    return text
  }
}

extension LockedRecord {
  fileprivate func isDescribed(as other: LockedRecord) -> Bool {
    var (one, other) = (self, other)
    (one.validations, other.validations) = ([], [])
    one.fields = one.fields.map(\.stored)
    other.fields = other.fields.map(\.stored)
    return one == other
  }

  /// The record's description in Swift, without what is validated.
  fileprivate func statements(by indentation: String) -> String {
    var lines: [String] = [
      "RecordName(\(name.quoted)\(argument("renamingID", renamingID?.quoted)))"
    ]
    lines += statements(of: nil)
    if !key.isEmpty { lines.append("PrimaryKey(\(key.map(\.swift).joined(separator: ", ")))") }
    lines += indexes.map(\.swift)
    if let modifier { lines.append("RecordModifier(\(modifier.quoted))") }
    return lines.map { indentation + $0 + "\n" }.joined()
  }

  private func statements(of composite: String?) -> [String] {
    fields.filter { $0.composite == composite }.flatMap { field in
      field.type.name == "composite"
        ? ["Field(name: \(field.lastName.quoted), type: .composite {"]
          + statements(of: field.name).map { "  " + $0 } + ["}\(field.arguments))"]
        : ["Field(name: \(field.lastName.quoted), type: \(field.type.swift)\(field.arguments))"]
    }
  }
}

extension LockedField {
  /// The composite that it is a part of.
  var composite: String? {
    name.lastIndex(of: ".").map { String(name[..<$0]) }
  }

  var lastName: String {
    name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }

  fileprivate var arguments: String {
    argument("storage", type.options?.swift) + (isOptional ? ", optional: true" : "")
      + argument("default", defaultValue)
      + argument("modifier", modifier?.quoted) + argument("migrationInfo", migrationInfo)
  }

  private var migrationInfo: String? {
    switch (migrationDefault, renamingID) {
    case (nil, nil): nil
    case (nil, let old?): ".init(renamingID: \(old.quoted))"
    case (let value?, let old): ".init(default: \(value)\(argument("renamingID", old?.quoted)))"
    }
  }
}

extension LockedType {
  fileprivate var swift: String {
    if let element { return ".array(of: .\(element))" }
    guard let codec else { return ".\(name)" }
    return codec == "json" ? ".transformable" : ".transformable(using: /* \(codec) */)"
  }
}

extension BlobOptions {
  fileprivate var swift: String {
    let compression =
      switch self.compression {
      case .none: ".none"
      case .zstd(let level): ".zstd(level: \(level))"
      }
    return ".external(threshold: \(threshold), compression: \(compression)"
      + (deduplicated ? ", deduplicated: true)" : ")")
  }
}

extension LockedPart {
  fileprivate var swift: String {
    if isCaseInsensitive {
      return ".caseInsensitive(\(field.quoted)\(isDescending ? ", descending: true" : ""))"
    }
    return isDescending ? ".descending(\(field.quoted))" : field.quoted
  }
}

extension LockedIndex {
  fileprivate var swift: String {
    (isUnique ? "Unique(" : "Index(") + parts.map(\.swift).joined(separator: ", ")
      + argument("where", condition.map { "/* \($0) */" }) + ")"
  }
}

/// An argument after others; nothing where it has no value.
private func argument(_ label: String, _ value: String?) -> String {
  value.map { ", \(label): \($0)" } ?? ""
}
