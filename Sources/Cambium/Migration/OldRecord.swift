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
