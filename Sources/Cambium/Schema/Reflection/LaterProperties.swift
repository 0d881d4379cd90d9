// A struct has the properties of its newest version, and describes older ones too. A field that has been renamed since then
// is stored of the property of its later name, so its property need not be stated.

extension CheckedRecord {
  /// Returns the record with the properties that fields have which the struct knows under a later name only.
  ///
  /// Only for a field without a property of its name, which would be refused, are later versions looked at.
  ///
  /// - Parameter version: The version of the record.
  func namedAsLater(than version: Int) -> CheckedRecord {
    guard case .plan = type.coding else { return self }
    let known = PropertyPaths.of(type)
    var named = self
    var paths: [String: String] = [:]
    // Composites have shorter names than their parts.
    let places = fields.indices.sortedRarely {
      fields[$0].name.utf8.count < fields[$1].name.utf8.count
    }
    for place in places where fields[place].role == .field {
      let field = fields[place]
      let outer =
        field.composite.flatMap { paths[$0] }.map { $0 + "." }
        ?? levels.path(to: field.generation, in: field.composite) ?? ""
      var property = field.property
      if !known.has(outer + property), property == field.lastName,
        let later = laterProperty(of: field, since: version, where: { known.has(outer + $0) })
      {
        property = later
        named.fields[place].property = later
      }
      paths[field.name] = outer + property
    }
    return named
  }

  /// The property of a field under a later name; nil if there is none.
  private func laterProperty(
    of field: DescribedField, since version: Int, where isProperty: (String) -> Bool
  ) -> String? {
    guard let level = levels.first(where: { $0.generation == field.generation }),
      let type = level.type
    else { return nil }
    // The composite of a kind is not in the description of its type.
    let own = field.name.dropFirst(level.composite.map { $0.count + 1 } ?? 0)
    return type.laterProperty(
      ofField: own.split(separator: ".").map { String($0) }, since: version, where: isProperty)
  }
}

extension Record {
  /// Follows the renamings of a field, and of the composites that it is in, until one leads to a property.
  ///
  /// - Parameters:
  ///   - path: The stored names of the composites that it is in, and its own.
  ///   - version: A version in which it has that name.
  ///   - isProperty: Returns true if its struct has a property of a name.
  /// - Returns: The name of the property; nil if no later name is that of one.
  /// - Complexity: The descriptions of 18 versions for each renaming.
  static func laterProperty(
    ofField path: [String], since version: Int, where isProperty: (String) -> Bool
  ) -> String? {
    var (path, version) = (path, max(version, 1))
    while let next = firstVersion(after: version, without: path) {
      let description = recordDescription(for: next)
      var renamed: Field?
      while renamed == nil {
        guard let later = description.renamed(path) else { return nil }
        path = later
        renamed = description.field(at: path)
      }
      if let property = renamed?.property, isProperty(property) { return property }
      version = next
    }
    return nil
  }
}

extension Record {
  /// Returns the first version after one with a field in which it is not there; nil if it is there to the end.
  private static func firstVersion(after version: Int, without path: [String]) -> Int? {
    var (last, next) = (version, Schema.versionMax)
    guard recordDescription(for: next).field(at: path) == nil, last < next else { return nil }
    while next - last > 1 {
      let middle = (last + next) / 2
      if recordDescription(for: middle).field(at: path) == nil {
        next = middle
      } else {
        last = middle
      }
    }
    return next
  }
}

extension RecordDescription {
  /// Returns the field at a path of names; nil if there is none.
  fileprivate func field(at path: [String]) -> Field? {
    var (field, fields): (Field?, [Field]) = (nil, ownFields)
    for name in path {
      field = fields.first { $0.name == name }
      fields = field?.parts ?? []
    }
    return field
  }

  /// Returns a path in which the first name that no field has is replaced by that of the field which was called so; nil if
  /// there is none.
  fileprivate func renamed(_ path: [String]) -> [String]? {
    var fields = ownFields
    for (depth, name) in path.enumerated() {
      if let field = fields.first(where: { $0.name == name }) {
        fields = field.parts
        continue
      }
      let later = fields.first { $0.migrationInfo?.renamingID == name }
      return later.map { later in
        var path = path
        path[depth] = later.name
        return path
      }
    }
    return nil
  }

  fileprivate var ownFields: [Field] {
    elements.compactMap { if case .field(let field) = $0.kind { field } else { nil } }
  }
}

extension Field {
  /// The fields of a composite.
  fileprivate var parts: [Field] {
    if case .composite(let description) = type.kind { description.ownFields } else { [] }
  }
}
