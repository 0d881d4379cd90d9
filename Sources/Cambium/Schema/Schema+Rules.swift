/// A fault of a schema: its record, its field, and the reason.
struct SchemaFault: Error, Hashable {
  var record: String
  var field: String?
  var reason: String
}

// The rules of every schema, whether it was made of descriptions or read from a store.

extension Schema {
  /// Throws the first fault found.
  ///
  /// - Complexity: O(fields).
  func validate() throws(SchemaFault) {
    guard storedVersion >= 1, storedVersion <= Self.versionMax else {
      throw SchemaFault(
        record: "Schema", reason: "its version is \(storedVersion), not 1 to \(Self.versionMax)")
    }
    guard nextNumber <= Self.numberMax else {
      throw SchemaFault(
        record: "Schema",
        reason: "its next number is \(nextNumber), more than the \(Self.numberMax) allowed")
    }
    var names: Set<String> = []
    var numbers: Set<UInt32> = []
    for record in records {
      try record.validate()
      guard names.insert(record.name).inserted else {
        throw record.fault("another record is stored as \(record.name) too")
      }
      for number in [record.number] + record.indexes.map(\.number) {
        guard number > 0, number < nextNumber, numbers.insert(number).inserted else {
          throw record.fault("the number \(number) is not its own")
        }
      }
    }
    guard zip(records, records.dropFirst()).allSatisfy({ $0.number < $1.number }) else {
      throw SchemaFault(record: records[0].name, reason: "the records are out of order")
    }
    try validateRelations()
    try validateDerivations()
    for record in records { try record.validateExpiry() }
  }
}

extension Schema {
  /// The highest version. The descriptions of all versions are asked for at every open.
  static let versionMax = 65_535
  /// The bound of the numbers of records and indexes, and of the fields of a record. It is low enough that no sum overflows
  /// when a program adds to the numbers of a store.
  static let numberMax: UInt32 = 1 << 30
}

extension RecordSchema {
  func fault(_ reason: String, field: String? = nil) -> SchemaFault {
    SchemaFault(record: name, field: field, reason: reason)
  }

  fileprivate func validate() throws(SchemaFault) {
    if let reason = name.faultAsName { throw fault("its name \(reason)") }
    if let reason = userInfo.faultAsUserInfo { throw fault(reason) }
    guard nextField <= Schema.numberMax else {
      throw fault("its next field is \(nextField), more than the \(Schema.numberMax) allowed")
    }
    guard zip(fields, fields.dropFirst()).allSatisfy({ $0.number < $1.number }),
      fields.first.map({ $0.number > 0 }) ?? true,
      fields.last.map({ $0.number < nextField }) ?? true,
      zip(inverses, inverses.dropFirst()).allSatisfy({ $0.number < $1.number }),
      inverses.allSatisfy({ $0.number > 0 && $0.number < nextField && field($0.number) == nil })
    else { throw fault("the numbers of its fields are out of order") }
    var names: Set<String> = []
    for field in fields {
      try validate(field)
      guard names.insert(field.name).inserted else {
        throw fault("another field has that name too", field: field.name)
      }
    }
    for inverse in inverses {
      if let reason = inverse.name.faultAsName {
        throw fault("its name \(reason)", field: inverse.name)
      }
      guard names.insert(inverse.name).inserted else {
        throw fault("a field or another inverse has that name too", field: inverse.name)
      }
    }
    let composites = Set(fields.compactMap(\.composite))
    for field in fields where field.type == .composite && !composites.contains(field.number) {
      throw fault("a composite has at least one part", field: field.name)
    }
    try validateKinds()
    try validatePrimaryKey()
    var indexNames: Set<String> = []
    let fieldsByName = Dictionary(
      fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for index in indexes {
      try validate(index, fieldsByName)
      guard indexNames.insert(index.name).inserted else {
        throw fault("there are two indexes \(index.name); name one of them otherwise")
      }
    }
  }

  private func validate(_ field: FieldSchema) throws(SchemaFault) {
    let own = try ownName(of: field)
    if let reason = own.faultAsName { throw fault("its name \(reason)", field: field.name) }
    if let reason = field.userInfo.faultAsUserInfo { throw fault(reason, field: field.name) }
    guard field.name.utf8.count <= StoreError.Limit.nameLength.bound else {
      throw fault("its name with those of its composites is too long", field: field.name)
    }
    switch field.type {
    case .transformable(let codec):
      guard !codec.isEmpty, codec.utf8.count <= StoreError.Limit.nameLength.bound else {
        throw fault("its codec's identifier is empty or too long", field: field.name)
      }
    case .external(let type, let options):
      guard type == .binaryData || type == .string else {
        throw fault("only binary data and strings are stored externally", field: field.name)
      }
      if let reason = options.fault { throw fault(reason, field: field.name) }
    default: break
    }
    guard let value = field.defaultValue else { return }
    guard field.derivation == nil else {
      throw fault("the store computes it, so it has no default", field: field.name)
    }
    guard value.isDefault(of: field.type) else {
      throw fault("its default is not a value of \(field.type)", field: field.name)
    }
  }

  /// The field's name without that of its composite.
  private func ownName(of field: FieldSchema) throws(SchemaFault) -> String {
    guard let number = field.composite else { return field.name }
    guard let composite = self.field(number), composite.type == .composite,
      field.name.utf8.starts(with: (composite.name + ".").utf8)
    else { throw fault("it is a part of a field that is no composite", field: field.name) }
    return String(
      decoding: field.name.utf8.dropFirst(composite.name.utf8.count + 1), as: UTF8.self)
  }

  private func validatePrimaryKey() throws(SchemaFault) {
    guard !primaryKey.isEmpty else { throw fault("it has no primary key") }
    for part in try fields(of: primaryKey, "the primary key") {
      guard part.composite == nil else {
        throw fault("a part of a composite is in no primary key", field: part.name)
      }
      guard !part.isOptional else {
        throw fault("a field of a primary key is not optional", field: part.name)
      }
    }
    guard !primaryKey.contains(where: \.isCaseInsensitive) else {
      throw fault("a primary key regards case")
    }
    guard primaryKey.allSatisfy({ $0.collation == nil }) else {
      throw fault("a primary key has no collation")
    }
    guard primaryKey.allSatisfy({ $0.expansion == .none }) else {
      throw fault("a primary key has no elements or words")
    }
    guard !primaryKey.contains(where: \.flipsNullByte) else {
      throw fault("no part of a primary key was ever optional")
    }
  }

  private func validate(
    _ index: IndexSchema, _ fieldsByName: [String: FieldSchema]
  ) throws(SchemaFault) {
    guard !index.name.isEmpty, index.name.utf8.count <= StoreError.Limit.nameLength.bound else {
      throw fault("the name of an index is empty or too long; name it otherwise")
    }
    guard !index.parts.isEmpty else { throw fault("the index \(index.name) has no fields") }
    _ = try fields(of: index.parts, "the index \(index.name)")
    let expanded = index.parts.filter { $0.expansion != .none }
    guard expanded.count < 2 else {
      throw fault("the index \(index.name) has two parts of elements or words; make two indexes")
    }
    guard !index.isUnique || expanded.first?.expansion != .words else {
      throw fault("the words of \(index.name) cannot be unique")
    }
    for part in index.parts where part.flipsNullByte {
      guard let field = field(part.field), canBeNull(field), part.expansion == .none else {
        continue
      }
      guard index.condition == .comparison(field: field.name, .notEqual, .null) else {
        throw fault(
          "the index \(index.name) has null values of \(field.name), and no byte for them")
      }
    }
    guard let condition = index.condition else { return }
    guard !condition.isDeeper(than: FieldCondition.depthMax) else {
      throw fault(
        "the condition of the index \(index.name) is nested over \(FieldCondition.depthMax) deep")
    }
    _ = try condition.mapTerms { term throws(SchemaFault) in
      guard case .comparison(let name, let comparison, let value) = term else {
        throw fault("the condition of the index \(index.name) is more than comparisons")
      }
      if let reason = Self.reason(fieldsByName[name], name, comparison, value) {
        throw fault("the condition of the index \(index.name) \(reason)")
      }
      return term
    }
  }

  /// The fields of a key's parts, each of which can be in it.
  private func fields(of parts: [KeyPart], _ key: String) throws(SchemaFault) -> [FieldSchema] {
    var found: [FieldSchema] = []
    var numbers: Set<UInt32> = []
    for part in parts {
      guard let field = self.field(part.field) else {
        throw fault("\(key) is of a field that is not there")
      }
      guard field.type.keyType(part.expansion) != nil else {
        throw fault(Self.reason(for: field.type, part.expansion), field: field.name)
      }
      guard numbers.insert(field.number).inserted else {
        throw fault("it is in \(key) twice", field: field.name)
      }
      guard !part.isCaseInsensitive || field.type == .string else {
        throw fault("only strings are compared without regard to case", field: field.name)
      }
      guard part.expansion == .none || !part.isDescending && !part.isCaseInsensitive else {
        throw fault(
          "elements and words in an index are ascending, and regard case", field: field.name)
      }
      if let reason = part.faultOfCollation(of: field) { throw fault(reason, field: field.name) }
      found.append(field)
    }
    return found
  }

  /// Why a field of a type cannot be in a key so.
  private static func reason(for type: ColumnType, _ expansion: KeyPart.Expansion) -> String {
    switch expansion {
    case .none: "\(type) has no order, so it is in no key or index"
    case .elements: "only an array has elements, and it is \(type)"
    case .words: "only a string that is not external has words, and it is \(type)"
    }
  }

  /// Why a comparison cannot be.
  private static func reason(
    _ field: FieldSchema?, _ name: String, _ comparison: FieldComparison,
    _ value: FieldValue
  ) -> String? {
    guard let field else { return "is of a field \(name) that is not there" }
    if field.type.isExternal || field.type == .composite, value == .null, comparison.isOfEquality {
      return nil
    }
    guard field.type.canBeKey else { return "compares \(name), which has no order" }
    if value == .null {
      return comparison.isOfEquality ? nil : "asks for an order of \(name) and null"
    }
    if value.isNaN { return "compares \(name) with NaN" }
    guard value.isStored(as: field.type) else {
      return "compares \(name), \(field.type), with a value of another type"
    }
    return nil
  }
}

extension KeyPart {
  /// Why it cannot have its collation; nil if it can, or has none.
  fileprivate func faultOfCollation(of field: FieldSchema) -> String? {
    guard let collation else { return nil }
    let bound = StoreError.Limit.nameLength.bound
    guard (1...bound).contains(collation.name.utf8.count), collation.version.utf8.count <= bound
    else { return "its collation's name is empty or too long, or its version is" }
    guard field.type == .string, expansion == .none else {
      return "only whole strings are sorted by a collation"
    }
    return isCaseInsensitive ? "its collation says what case means" : nil
  }
}

extension FieldComparison {
  var isOfEquality: Bool { self == .equal || self == .notEqual }
}

extension FieldValue {
  /// Returns true if a field of a type can have it as its default, without conversion.
  func isDefault(of type: ColumnType) -> Bool {
    switch (self, type) {
    case (.data, .transformable), (.data, .external(of: .binaryData, _)),
      (.string, .external(of: .string, _)):
      true
    case (.array(let values), .array(let element)):
      values.allSatisfy { $0.isDefault(of: .scalar(element)) }
    default: !isNaN && isStored(as: type)
    }
  }

  /// Returns true if it is a value of a column that can be in keys, without conversion.
  func isStored(as type: ColumnType) -> Bool {
    switch (self, type.scalar) {
    case (.boolean, .boolean), (.string, .string), (.date, .date), (.data, .binaryData),
      (.uuid, .uuid), (.float, .float), (.double, .double), (.decimal, .decimal), (.url, .url):
      true
    case (.integer, .int8), (.integer, .int16), (.integer, .int32), (.integer, .int64),
      (.unsigned, .uint8), (.unsigned, .uint16), (.unsigned, .uint32), (.unsigned, .uint64):
      converted(to: type) != nil
    default: false
    }
  }
}

extension [String: String] {
  /// Why they cannot be annotations; nil if they can.
  fileprivate var faultAsUserInfo: String? {
    let bound = StoreError.Limit.nameLength.bound
    return keys.allSatisfy { (1...bound).contains($0.utf8.count) }
      ? nil : "the name of an annotation is empty or over \(bound) bytes long"
  }
}

extension String {
  /// Why it cannot name a record or field; nil if it can.
  var faultAsName: String? {
    if isEmpty { return "is empty" }
    if utf8.contains(UInt8(ascii: ".")) { return "has a dot, which is for parts of composites" }
    let bound = StoreError.Limit.nameLength.bound
    return utf8.count > bound ? "is over \(bound) bytes long" : nil
  }
}
