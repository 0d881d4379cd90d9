#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The treatment of a value that does not convert to the new type of its field.
public enum ConversionPolicy: Hashable, Sendable {
  /// The migration fails, and names the record.
  case refuse
  /// The record gets this value instead, of the field's type.
  case replace(FieldValue)
  /// The record gets the field's default, or no value, and the old value is kept beside the records: see
  /// `PersistentStore.valuesSetAside()`.
  case setAside
}

/// The source of a field's value in a step, if it does not follow from the two descriptions.
///
/// Indirect, as its largest case holds schemas: every type that has one would copy these member by member.
indirect enum FieldSource: Sendable {
  /// Its own old value, through a function.
  case value(@Sendable (FieldValue) throws -> FieldValue)
  /// The whole old record.
  case record(@Sendable (OldRecord) throws -> FieldValue)
  /// The whole old record, and the version that it is of.
  case version(@Sendable (OldRecord, OldVersion) throws -> FieldValue)
  /// Another field of the old record, by its full name.
  case field(String)
  /// A field of a record that the old one leads to.
  case related(RelatedPath)
  /// Its own old value, in another type.
  case conversion(ConversionPolicy)
  /// The same for every record.
  case constant(FieldValue)
  /// One element of its old value, a list; null of an empty one.
  case element(ElementSource)
  /// Its own old value, a list, in which each record is once from now on. It is inferred, never stated.
  case distinctElements
}

extension FieldSource {
  /// True if a function of the program makes the value.
  var isClosure: Bool {
    switch self {
    case .value, .record, .version: true
    case .field, .related, .conversion, .constant, .element, .distinctElements: false
    }
  }

  /// True if it makes the whole of a composite, whose parts then have no sources of their own.
  var makesWhole: Bool { if case .constant = self { true } else { isClosure } }

  /// True if the value is not known from the record alone.
  var readsVersion: Bool {
    switch self {
    case .version, .related: true
    case .element(let source): source.readsVersion
    default: false
    }
  }

  var readsRecord: Bool {
    switch self {
    case .record, .version: true
    default: false
    }
  }

  var setsAside: Bool { if case .conversion(.setAside) = self { true } else { false } }
}

/// The statements of a step; everything else is inferred.
struct GivenChanges: Sendable {
  /// By the names that records and fields have afterwards.
  var fields: [String: [String: FieldSource]] = [:]
  /// The old names of the records that `TransformRecords` takes, one by one.
  var transformed: Set<String> = []

  static var none: GivenChanges { GivenChanges() }
}

extension FieldSource {
  /// The value of a field in the new version, as its column holds it; null where it has none.
  ///
  /// - Parameters:
  ///   - value: What the field was, null where it was not.
  ///   - record: The whole old record, where the source is a function of it.
  ///   - version: The version that it is of, if the source reads that.
  /// - Throws: `.stepFailed` where a closure throws; `.invalidValue` where its value is of another type, or
  ///   one does not convert and is not to be replaced; `.corrupt`, `.io` where a blob is to be read: one that cannot
  ///   be is none that does not convert.
  func made(
    of value: FieldValue, _ record: OldRecord?, _ version: OldVersion?, for target: Column,
    in layout: RowLayout
  ) throws(StoreError) -> FieldValue {
    let made = try unchecked(value, record, version, for: target, in: layout)
    guard target.field.reference?.isChecked ?? false, let double = made.firstDouble else {
      return made
    }
    throw layout.refusal(
      target,
      "it leads to \(double) twice; say in a step which elements stay, as UpdateField(\"\(target.field.name)\", by: { old in … })"
    )
  }

  private func unchecked(
    _ value: FieldValue, _ record: OldRecord?, _ version: OldVersion?, for target: Column,
    in layout: RowLayout
  ) throws(StoreError) -> FieldValue {
    switch self {
    case .distinctElements, .related: return try value.widened(to: target.field.type)
    case .element(let source):
      guard case .array(let elements) = value else { return .null }
      return try source.element(of: elements, for: target, in: layout)?
        .widened(to: target.field.type) ?? .null
    case .field: return try value.widened(to: target.field.type)
    case .conversion(let policy):
      if value == .null { return .null }
      let value = try value.read(for: target.field.type)
      if let converted = value.converting(to: target.field.type) { return converted }
      switch policy {
      case .refuse:
        throw layout.refusal(target, "\(value) does not convert to \(target.field.type)")
      case .replace(let value): return try fitted(value, for: target, in: layout)
      case .setAside: return .null
      }
    case .constant(let value): return try fitted(value, for: target, in: layout)
    case .value(let body):
      return try fitted(
        try call(target, layout) { try body(value) }, for: target, in: layout)
    case .record(let body):
      guard let record else { return .null }
      return try fitted(try call(target, layout) { try body(record) }, for: target, in: layout)
    case .version(let body):
      guard let record, let version else { return .null }
      return try fitted(
        try call(target, layout) { try body(record, version) }, for: target, in: layout)
    }
  }

  /// Returns true if a value that was there has no counterpart in the new type, and is to be kept aside.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func setsAside(_ value: FieldValue, _ type: ColumnType) throws(StoreError) -> Bool {
    guard case .conversion(.setAside) = self, value != .null else { return false }
    return try value.read(for: type).converting(to: type) == nil
  }

  private func fitted(
    _ value: FieldValue, for target: Column, in layout: RowLayout
  ) throws(StoreError) -> FieldValue {
    switch target.field.type {
    case _ where value == .null: return .null
    case .composite, .transformable: return value
    default:
      let value = try value.read(for: target.field.type)
      guard let converted = value.converted(to: target.field.type) else {
        throw layout.refusal(target, value)
      }
      return converted
    }
  }

  private func call(
    _ target: Column, _ layout: RowLayout, _ body: () throws -> FieldValue
  ) throws(StoreError) -> FieldValue {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch {
      throw .stepFailed(
        version: Int(layout.version), source: "\(layout.record.name).\(target.field.name)",
        reason: "\(error)")
    }
  }
}

extension FieldValue {
  /// The value in a type that its own widens to, or in its own.
  ///
  /// - Throws: `.corrupt`, `.io` where a blob is to be read.
  func widened(to type: ColumnType) throws(StoreError) -> FieldValue {
    switch (self, type) {
    case (.float(let value), .double): return .double(Double(value))
    case (.blob, .binaryData): return try read(for: type)
    case (.array(let values), .array(of: let element)):
      return .array(
        try values.map { value throws(StoreError) in try value.widened(to: .scalar(element)) })
    case (.null, _): return self
    case (_, .array(of: let element)): return .array([try widened(to: .scalar(element))])
    // What widens converts, always, but for what is no number, and that is the same in all types.
    default: return converted(to: type) ?? self
    }
  }

  /// The value as a step that changes the field's type to another leaves it: of a list, a list or one element; null if there
  /// is none. A list of several of which nothing is chosen stays one, which no single field takes.
  func carried(
    to type: ColumnType, choosing choice: ElementChoice?
  ) throws(StoreError) -> FieldValue {
    guard case .array(let elements) = self, type.scalar != nil,
      elements.count < 2 || choice == .first || choice == .last
    else { return try widened(to: type) }
    return try (choice == .last ? elements.last : elements.first)?.widened(to: type) ?? .null
  }

  /// The first element of a list that is in it twice; nil if there is none.
  fileprivate var firstDouble: FieldValue? {
    guard case .array(let elements) = self else { return nil }
    // Strings that Swift takes for equal may be different keys.
    var known: [FieldValue: [FieldValue]] = [:]
    for element in elements {
      if known[element, default: []].contains(where: element.isSame) { return element }
      known[element, default: []].append(element)
    }
    return nil
  }

  /// The value as a column in the row takes it: the content of a blob.
  ///
  /// - Throws: `.corrupt`, `.io`.
  fileprivate func read(for type: ColumnType) throws(StoreError) -> FieldValue {
    guard case .blob(let blob) = self, !type.isExternal else { return self }
    return .data(try blob.data())
  }
}

// Conversions that have to be asked for, since not every value has a counterpart.

extension FieldValue {
  /// The value in another type of column; nil if it has none there.
  ///
  /// Beside what converts exactly: numbers, booleans, dates, UUIDs, URLs and UTF-8 bytes to strings and back,
  /// booleans to 0 and 1 and back, decimals and floating-point numbers to integers where they are whole.
  ///
  /// - Parameter source: The type of the column that the value is from.
  package func converting(to type: ColumnType) -> FieldValue? {
    if let exact = converted(to: type) { return exact }
    if case .external(of: let inner, _) = type {
      return converting(to: .scalar(inner))?.converted(to: type)
    }
    switch type.scalar {
    case .string: return text.map { .string($0) }
    case .boolean: return boolean.map { .boolean($0) }
    case .binaryData:
      if case .string(let text) = self { return .data(Data(text.utf8)) }
      return nil
    case .date:
      if case .string(let text) = self { return Date(iso: text).map { .date($0) } }
      return nil
    case .decimal:
      if case .string(let text) = self { return Decimal(numberText: text).map { .decimal($0) } }
      return number?.converted(to: type)
    case .url, .uuid, nil: return nil
    default: return number?.converted(to: type)
    }
  }

  private var text: String? {
    switch self {
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): value.isoText
    case .uuid(let value): value.uuidString
    case .url(let value): value.absoluteString
    case .data(let value): String(validating: value, as: UTF8.self)
    default: nil
    }
  }

  private var boolean: Bool? {
    switch self {
    case .integer(0), .unsigned(0), .string("false"), .string("0"): false
    case .integer(1), .unsigned(1), .string("true"), .string("1"): true
    default: nil
    }
  }

  /// A number that says exactly the same.
  private var number: FieldValue? {
    switch self {
    case .boolean(let value): .integer(value ? 1 : 0)
    case .string(let text): Self.number(text)
    case .float(let value): Int64(exactly: value).map { .integer($0) }
    case .double(let value):
      Int64(exactly: value).map { .integer($0) } ?? UInt64(exactly: value).map { .unsigned($0) }
    case .decimal(let value):
      Self.number("\(value)").flatMap { $0.converted(to: .decimal) == self ? $0 : nil }
    default: nil
    }
  }

  private static func number(_ text: String) -> FieldValue? {
    if let value = Int64(text) { return .integer(value) }
    if let value = UInt64(text) { return .unsigned(value) }
    return Double(numberText: text).flatMap { $0.isNaN ? nil : .double($0) }
  }
}

/// A record of the old version, as the closures of a step read it.
///
/// Reading a field throws if the old version has no field of that name, or if its value is of another type. A field
/// that may be null is read as an optional:
///
/// ```swift
/// UpdateField("total", from: { old in
///   try old["price", as: Double.self] * Double(old["count", as: Int?.self] ?? 1)
/// })
/// ```
///
/// A part of a composite is named with the composite's name and a dot before it, and is null if the composite is.
public struct OldRecord: Sendable {
  /// The whole record, to be changed and emitted.
  public let record: DynamicRecord
  private let layout: RowLayout

  /// - Throws: `.corrupt` if it breaks a rule of keys or rows.
  init(_ reader: RowReader) throws(StoreError) {
    record = try DynamicRecord(reader)
    layout = reader.layout
  }

  /// The stored name of its type.
  public var name: String { record.name }

  /// The value of a field, which may be null.
  ///
  /// - Throws: `FieldMismatch` if the old version has no such field.
  public subscript(field: String) -> FieldValue {
    get throws(FieldMismatch) {
      if let value = record.fields[field] { return value }
      guard layout.column(named: field) != nil else {
        throw .noField(field, of: name, but: layout.columns.map(\.field.name))
      }
      return record.value(at: field) ?? .null
    }
  }

  /// The value of a field as a Swift value.
  ///
  /// - Throws: `FieldMismatch` if the old version has no such field, or if its value is null or of another type.
  public subscript<Value: FieldValueConvertible>(field: String, as type: Value.Type) -> Value {
    get throws(FieldMismatch) { try self[field].read(type, field, of: name) }
  }

  /// The value of a field as a Swift value; nil if it is null.
  ///
  /// - Throws: `FieldMismatch` if the old version has no such field, or if its value is of another type.
  public subscript<Value: FieldValueConvertible>(field: String, as type: Value?.Type) -> Value? {
    get throws(FieldMismatch) { try self[field].readIfPresent(Value.self, field, of: name) }
  }
}
