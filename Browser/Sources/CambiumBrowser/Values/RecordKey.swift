import Cambium

/// The type and the primary key of a record, as the addresses of its pages have them.
struct RecordKey: Hashable, Sendable {
  /// The stored name of the type.
  let type: String
  /// The values of the key's fields, in their order.
  let parts: [FieldValue]

  init(type: String, parts: [FieldValue]) {
    self.type = type
    self.parts = parts
  }

  init(of record: DynamicRecord, _ schema: RecordSchema) {
    self.init(type: schema.name, parts: schema.keyNames.map { record[$0] })
  }

  /// Reads the key from an address.
  ///
  /// - Throws: `PageFault` if there is no such type, or if the parts are not the values of its key.
  init(_ request: BrowserRequest, in schema: Schema) throws {
    let record = try schema.type(of: request)
    let texts = request.values("key")
    guard texts.count == record.keyNames.count else {
      throw PageFault(
        400,
        "The key of \(record.name) has \(Figures.count(record.keyNames.count, "part")): "
          + record.keyNames.joined(separator: ", ") + ".")
    }
    self.init(type: record.name, parts: try texts.map { try Self.part($0) })
  }

  private static func part(_ text: String) throws(PageFault) -> FieldValue {
    do {
      return try FieldValue(parsing: text)
    } catch {
      throw PageFault(400, "The key, \(error)")
    }
  }

  /// Returns the address of a page about the record.
  func address(_ page: Route = .record) -> Address {
    parts.reduce(Address(page, ["type": type])) { $0.with("key", $1.literal) }
  }

  /// Returns the condition that holds of the record alone.
  func condition(_ schema: RecordSchema) -> FieldCondition {
    .and(zip(schema.keyNames, parts).map { .comparison(field: $0, .equal, $1) })
  }

  /// The parts for people.
  var text: String { parts.map(\.plainText).joined(separator: ", ") }

  /// Returns the record in a state, with long strings as blobs.
  ///
  /// - Throws: `PageFault` if it does not exist; `StoreError.corrupt`, `.io`, `.closed`.
  func record(in state: StoreSnapshot, _ schema: RecordSchema) throws -> DynamicRecord {
    var found: DynamicRecord?
    try state.forEach(record: type, where: condition(schema), limit: 1, stringsAsBlobs: true) {
      found = $0
    }
    guard let found else { throw PageFault(404, "There is no \(type) with the key \(text).") }
    return found
  }
}

extension RecordSchema {
  /// The fields that are not parts of composites: those of the key, then the others.
  var columns: [FieldSchema] {
    let key = keyNames
    let outer = fields.filter { !$0.name.utf8.contains(UInt8(ascii: ".")) }
    return key.compactMap { field(named: $0) } + outer.filter { !key.contains($0.name) }
  }

  /// The field by which people know a record: the first string beside the key that is called a name or a title, or else the
  /// first string. Nil if there is none.
  var labelName: String? {
    let key = keyNames
    let names = columns.filter { field in
      field.type.isString && !key.contains(field.name) && field.reference == nil
    }.map(\.name)
    let label = names.first { name in
      ["name", "title"].contains { name.lowercased().hasSuffix($0) }
    }
    return label ?? names.first
  }
}

extension ColumnType {
  /// True if its values are strings, in the row or outside of it.
  var isString: Bool {
    switch self {
    case .scalar(let type): type == .string
    case .external(let type, _): type == .string
    default: false
    }
  }
}

extension Schema {
  /// Returns the type that an address names.
  ///
  /// - Throws: `PageFault` if there is none.
  func type(of request: BrowserRequest) throws(PageFault) -> RecordSchema {
    let name = request.value("type") ?? ""
    guard let record = record(named: name) else {
      throw PageFault(404, "Version \(version) has no type called “\(name)”.")
    }
    return record
  }
}
