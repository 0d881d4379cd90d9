internal import FoundationEssentials

// What a plan counts without calling the closures of a step.

extension RecordChange {
  /// The numbers of the fields whose values only closures know: of this step, or of one before it.
  ///
  /// - Parameter before: The numbers of such fields of the old version.
  func computed(after before: Set<UInt32>) -> Set<UInt32> {
    func isMade(_ field: FieldSchema) -> Bool { sources[field.number]?.isClosure ?? false }
    return Set(
      fields.filter { field in
        isMade(field.new) || new.composites(around: field.new).contains(where: isMade)
          || field.old.map { before.contains($0.number) } ?? false
      }.map(\.new.number))
  }

  /// Returns the change with a value that is never refused in place of each closure.
  func standingIn(for computed: Set<UInt32>) -> RecordChange {
    var sources = sources
    for field in fields.map(\.new) where computed.contains(field.number) {
      let isComposite = field.type == .composite
      let isWithin = new.composites(around: field).contains { computed.contains($0.number) }
      // Records get composites as wholes, rows get their parts.
      if kind == .records ? isWithin : isComposite {
        sources[field.number] = nil
      } else {
        let value = new.standIn(for: field)
        sources[field.number] = .value { _ in value }
      }
    }
    return RecordChange(old: old, new: new, fields: fields, sources: sources, kind: kind)
  }
}

extension RecordSchema {
  /// A value that the field can have, whatever its rules.
  fileprivate func standIn(for field: FieldSchema) -> FieldValue {
    if field.type == .composite {
      var parts: [String: FieldValue] = [:]
      for part in fields where part.composite == field.number {
        parts[String(part.name.dropFirst(field.name.count + 1))] = standIn(for: part)
      }
      return .composite(parts)
    }
    return field.isOptional ? .null : field.type.standIn
  }
}

extension ColumnType {
  fileprivate var standIn: FieldValue {
    switch self {
    case .scalar(let type), .external(of: let type, _): type.standIn
    case .transformable: .data(Data())
    case .array: .array([])
    case .composite: .composite([:])
    }
  }
}

extension ScalarType {
  fileprivate var standIn: FieldValue {
    switch self {
    case .boolean: .boolean(false)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
    case .uuid: .string("00000000-0000-0000-0000-000000000000")
    case .string: .string("")
    case .url: .string("a:")
    case .binaryData: .data(Data())
    default: .integer(0)
    }
  }
}
