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
  /// The record's description in Swift, without its rules.
  fileprivate func statements(by indentation: String) -> String {
    var lines: [String] = [
      "RecordName(\(name.quoted)\(argument("renamingID", renamingID?.quoted)))"
    ]
    lines += statements(of: nil)
    lines.append("PrimaryKey(\(swift(schema.primaryKey)))")
    for index in schema.indexes {
      let condition = index.condition.map { "/* \($0) */" }
      lines.append(
        (index.isUnique ? "Unique(" : "Index(") + swift(index.parts)
          + argument("where", condition) + ")")
    }
    if let modifier = schema.modifier { lines.append("RecordModifier(\(modifier.quoted))") }
    return lines.map { indentation + $0 + "\n" }.joined()
  }

  private func statements(of composite: UInt32?) -> [String] {
    schema.fields.filter { $0.composite == composite }.flatMap { field in
      let name = field.lastName.quoted
      return field.type == .composite
        ? ["Field(name: \(name), type: .composite {"]
          + statements(of: field.number).map { "  " + $0 } + ["}\(arguments(of: field)))"]
        : ["Field(name: \(name), type: \(field.type.swift)\(arguments(of: field)))"]
    }
  }

  private func arguments(of field: FieldSchema) -> String {
    let stated = fields[field.name]
    var storage: String?
    if case .external(_, let options) = field.type { storage = options.swift }
    return argument("storage", storage) + (field.isOptional ? ", optional: true" : "")
      + argument("default", stated?.defaultValue) + argument("modifier", field.modifier?.quoted)
      + argument("migrationInfo", stated?.migrationInfo)
  }

  private func swift(_ parts: [KeyPart]) -> String {
    schema.keyFields(parts).map { part in
      let name = part.name.quoted
      if part.isCaseInsensitive {
        return ".caseInsensitive(\(name)\(part.isDescending ? ", descending: true" : ""))"
      }
      return part.isDescending ? ".descending(\(name))" : name
    }.joined(separator: ", ")
  }
}

extension LockedField {
  fileprivate var migrationInfo: String? {
    switch (migrationDefault, renamingID) {
    case (nil, nil): nil
    case (nil, let old?): ".init(renamingID: \(old.quoted))"
    case (let value?, let old): ".init(default: \(value)\(argument("renamingID", old?.quoted)))"
    }
  }
}

extension FieldSchema {
  /// The name without that of the composite.
  var lastName: String {
    name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(name[name.index(after: $0)...]) }
      ?? name
  }
}

extension ColumnType {
  fileprivate var swift: String {
    switch self {
    case .array(let element): ".array(of: .\(element))"
    case .transformable("json"): ".transformable"
    case .transformable(let codec): ".transformable(using: /* \(codec) */)"
    case .external(let type, _): ".\(type)"
    default: ".\(self)"
    }
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

/// An argument after others; nothing where it has no value.
private func argument(_ label: String, _ value: String?) -> String {
  value.map { ", \(label): \($0)" } ?? ""
}
