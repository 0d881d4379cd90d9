/// The names that the fields of a record and the types of its composites have in Swift: within a type, each another.
package struct SwiftNames {
  /// By the numbers of fields, without backticks.
  private var properties: [UInt32: String] = [:]
  private var types: [UInt32: String] = [:]

  package init(_ record: RecordSchema) {
    for (composite, fields) in Dictionary(grouping: record.fields, by: \.composite) {
      var taken: Set<String> = []
      if let composite, record.kind(composite) != nil {
        // The property that contains the struct of its parent.
        taken.insert(record.parentName(of: composite).asProperty.swiftIdentifier)
      }
      let names = fields.map(\.lastName).swiftIdentifiers(besides: taken, \.swiftIdentifier)
      for (field, name) in zip(fields, names) { properties[field.number] = name }
      let composites = fields.filter { $0.type == .composite }
      let typeNames = composites.map(\.lastName).swiftIdentifiers(
        besides: SwiftTypeNames.used, \.swiftTypeIdentifier)
      for (field, name) in zip(composites, typeNames) { types[field.number] = name }
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

  package init(_ version: Schema) {
    var known: Set<String> = []
    let all = version.records.flatMap { record in
      [record.name] + record.kinds.compactMap { record.field($0.composite)?.lastName }
    }.filter { known.insert($0).inserted }
    names = Dictionary(
      uniqueKeysWithValues: zip(
        all, all.swiftIdentifiers(besides: Self.used, \.swiftTypeIdentifier)))
  }

  /// Types that descriptions and their properties use, and words that no type may be called by: a record that is stored as
  /// `Data` is no data.
  fileprivate static let used: Set<String> = [
    "Abstract", "Any", "Array", "Blob", "Bool", "Codable", "Data", "Date", "Decimal", "Double",
    "Field", "Float", "Identifiable", "Index", "Int", "Int16", "Int32", "Int64", "Int8", "Inverse",
    "JSONDocument", "Never", "Optional", "Parent", "PrimaryKey", "Protocol", "Record",
    "RecordDescription", "RecordModifier", "RecordName", "Reference", "Self", "Sendable",
    "StoreModel", "String", "Type", "UInt16", "UInt32", "UInt64", "UInt8", "URL", "UUID", "Unique",
    "UserInfo",
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
  /// - Parameter taken: Identifiers that none of them may be.
  fileprivate func swiftIdentifiers(
    besides taken: Set<String> = [], _ identifier: (String) -> String
  ) -> [String] {
    var (taken, identifiers) = (taken, map(identifier))
    var numbers: [String: Int] = [:]
    let isKept = indices.map { identifiers[$0] == self[$0] }
    for index in indices.filter({ isKept[$0] }) + indices.filter({ !isKept[$0] }) {
      let base = identifiers[index]
      while !taken.insert(identifiers[index]).inserted {
        let number = numbers[base, default: 1] + 1
        numbers[base] = number
        identifiers[index] = "\(base)_\(number)"
      }
    }
    return identifiers
  }
}
