/// The names that the fields of a record and the types of its composites have in Swift: within a type, each another, and
/// none that of a type that the code names there.
package struct SwiftNames {
  /// By the numbers of fields, without backticks.
  private var properties: [UInt32: String] = [:]
  private var types: [UInt32: String] = [:]

  /// - Parameter version: The names of the types of the version that the record is one of.
  package init(_ record: RecordSchema, types version: SwiftTypeNames) {
    for (composite, all) in Dictionary(grouping: record.fields, by: \.composite) {
      var taken: Set<String> = []
      var fields = all
      if let composite, record.kind(composite) != nil {
        // The property that contains the struct of its parent.
        taken.insert(record.parentName(of: composite).asProperty.swiftIdentifier)
      }
      if version.isDestination(record, kind: composite) {
        // `Identifiable` means the primary key by it.
        taken.insert("id")
        if composite == nil, let key = record.primaryKey.first?.field,
          let place = fields.firstIndex(where: { $0.number == key && $0.name == "id" })
        {
          properties[key] = "id"
          fields.remove(at: place)
        }
      }
      let names = fields.map(\.lastName).swiftIdentifiers(
        besides: taken, version.isTaken, \.swiftIdentifier)
      for (field, name) in zip(fields, names) { properties[field.number] = name }
      let composites = fields.filter { $0.type == .composite }
      taken.formUnion(names)
      taken.insert(SwiftTypeNames.identifierType)
      let structs = composites.map(\.lastName).swiftIdentifiers(
        besides: taken, version.isTaken, \.swiftTypeIdentifier)
      for (field, name) in zip(composites, structs) { types[field.number] = name }
    }
  }

  /// Returns the name of the property that has a field, as `Field(property:)` states it.
  package func identifier(of field: UInt32) -> String { properties[field] ?? "_" }

  /// Returns the name of the property, between backticks if it is no plain identifier.
  package func property(of field: UInt32) -> String { identifier(of: field).inBackticks }

  /// Returns the name of the type of a composite.
  package func type(of composite: UInt32) -> String { (types[composite] ?? "_").inBackticks }
}

/// The names of a version's types in Swift, each another.
package struct SwiftTypeNames {
  private let names: [String: String]
  /// The names of the types, without backticks.
  private let identifiers: Set<String>
  /// The destinations of references: a record's name, followed by the name of its kind if there is one.
  private let destinations: Set<[String]>

  package init(_ version: Schema) {
    var known: Set<String> = []
    let all = version.records.flatMap { record in
      [record.name] + record.kinds.compactMap { record.field($0.composite)?.lastName }
    }.filter { known.insert($0).inserted }
    let identifiers = all.swiftIdentifiers(
      besides: [Self.identifierType], Self.used.contains, \.swiftTypeIdentifier)
    names = Dictionary(uniqueKeysWithValues: zip(all, identifiers))
    self.identifiers = Set(identifiers)
    let references = version.records.flatMap { $0.fields.compactMap(\.reference) }
    destinations = Set(
      references.flatMap { reference in
        [[reference.destination], [reference.destination, reference.kind].compactMap(\.self)]
      })
  }

  /// Returns true if references lead to a record, or to those of a kind of it: its type is `Identifiable`.
  ///
  /// - Parameter composite: The composite of the kind; nil for the record.
  package func isDestination(_ record: RecordSchema, kind composite: UInt32? = nil) -> Bool {
    guard let composite else { return destinations.contains([record.name]) }
    guard record.kind(composite) != nil, let kind = record.field(composite) else { return false }
    return destinations.contains([record.name, kind.name])
  }

  /// Returns true if a type that the code names is called by an identifier.
  fileprivate func isTaken(_ identifier: String) -> Bool {
    Self.used.contains(identifier) || identifiers.contains(identifier)
  }

  /// `Identifiable` has an associated type of this name, the type of `id`. A property may have the name, a type may not.
  fileprivate static let identifierType = "ID"

  /// Types that descriptions and their properties use, others that each record has, and words that no type may be called
  /// by: a record that is stored as `Data` is no data.
  private static let used: Set<String> = [
    "Abstract", "Any", "Array", "Blob", "Bool", "Codable", "CodingKeys", "Computed", "Data", "Date",
    "Decimal", "Double", "Field", "Float", "Identifiable", "Index", "Int", "Int16", "Int32",
    "Int64", "Int8", "Inverse", "JSONDocument", "Never", "Optional", "Parent", "PrimaryKey",
    "Protocol", "Record", "RecordDescription", "RecordModifier", "RecordName", "Reference", "Self",
    "Sendable", "StoreModel", "String", "Transient", "Type", "UInt16", "UInt32", "UInt64", "UInt8",
    "URL", "UUID", "Unique", "UserInfo", "Validation",
  ]

  /// Returns the name of the type of a record or kind that is stored under a name, between backticks if it is no plain
  /// identifier.
  package func name(of type: String) -> String {
    (names[type] ?? type.swiftTypeIdentifier).inBackticks
  }
}

extension RecordSchema {
  /// Returns the stored name of the type that a kind's parent has.
  fileprivate func parentName(of kind: UInt32) -> String {
    field(kind)?.composite.flatMap { field($0)?.lastName } ?? name
  }
}

extension [String] {
  /// Returns an identifier for each name. Of those that would be the same, all but one get a number; a name that is an
  /// identifier by itself is the last to get one.
  ///
  /// - Parameters:
  ///   - taken: Identifiers that none of them may be.
  ///   - isTaken: Returns true for others that none of them may be.
  fileprivate func swiftIdentifiers(
    besides taken: Set<String>, _ isTaken: (String) -> Bool, _ identifier: (String) -> String
  ) -> [String] {
    var (taken, identifiers) = (taken, map(identifier))
    var numbers: [String: Int] = [:]
    let isKept = indices.map { identifiers[$0] == self[$0] }
    for index in indices.filter({ isKept[$0] }) + indices.filter({ !isKept[$0] }) {
      let base = identifiers[index]
      while isTaken(identifiers[index]) || !taken.insert(identifiers[index]).inserted {
        let number = numbers[base, default: 1] + 1
        numbers[base] = number
        identifiers[index] = "\(base)_\(number)"
      }
    }
    return identifiers
  }
}
