#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Operations on properties whose types the plan does not know. The pointers are to the property, of
// exactly the type that the access was made for; only `PropertyMatcher` makes accesses.

/// Reads and fills properties of one type by way of the type that a column holds instead.
protocol PropertyAccess: Sendable {
  /// Puts the property into its column; the row says null where it is nil.
  func write(
    _ property: UnsafeRawPointer, to row: RowWriter, at place: ColumnPlace
  ) throws(StoreError)

  /// Appends the property to a key.
  func write(
    _ property: UnsafeRawPointer, to key: KeyEncoder, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError)

  /// Fills the property, which has no value yet. It has none either if this throws.
  func read(
    _ property: UnsafeMutableRawPointer, from row: borrowing RowReader, at place: ColumnPlace
  ) throws(StoreError)

  /// Fills the property from the next part of a key.
  func read(
    _ property: UnsafeMutableRawPointer, from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError)

  /// Ends the life of the property's value.
  func destroy(_ property: UnsafeMutableRawPointer)
}

struct ConvertedAccess<Conversion: ValueConversion>: PropertyAccess {
  let conversion: Conversion
  let isOptional: Bool

  /// The property's value; nil if it is an optional without one.
  private func value(_ property: UnsafeRawPointer) -> Conversion.Value? {
    isOptional
      ? unsafe property.assumingMemoryBound(to: Conversion.Value?.self).pointee
      : unsafe property.assumingMemoryBound(to: Conversion.Value.self).pointee
  }

  private func fill(_ property: UnsafeMutableRawPointer, with value: consuming Conversion.Value) {
    if isOptional {
      unsafe property.initializeMemory(as: Conversion.Value?.self, to: value)
    } else {
      unsafe property.initializeMemory(as: Conversion.Value.self, to: value)
    }
  }

  func write(
    _ property: UnsafeRawPointer, to row: RowWriter, at place: ColumnPlace
  ) throws(StoreError) {
    guard let value = unsafe value(property) else { return row.setNull(at: place) }
    try conversion.stored(value).put(in: row, at: place.index)
  }

  func write(
    _ property: UnsafeRawPointer, to key: KeyEncoder, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) {
    guard let value = unsafe value(property) else { throw layout.noKey(column) }
    try conversion.stored(value).append(to: key, as: column, of: layout)
  }

  func read(
    _ property: UnsafeMutableRawPointer, from row: borrowing RowReader, at place: ColumnPlace
  ) throws(StoreError) {
    if isOptional, row.isNull(place) {
      unsafe property.initializeMemory(as: Conversion.Value?.self, to: nil)
    } else {
      let stored = try Conversion.Stored.get(from: row, at: place.index)
      unsafe fill(property, with: try conversion.value(stored))
    }
  }

  func read(
    _ property: UnsafeMutableRawPointer, from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError) {
    let stored = try Conversion.Stored.take(from: &key, as: form)
    unsafe fill(property, with: try conversion.value(stored))
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    if isOptional {
      unsafe property.assumingMemoryBound(to: Conversion.Value?.self).deinitialize(count: 1)
    } else {
      unsafe property.assumingMemoryBound(to: Conversion.Value.self).deinitialize(count: 1)
    }
  }
}

/// Reads and fills arrays of values that are stored as they are.
///
/// The type of the elements makes the array: compiled for any type, that would look types up for each record.
struct ArrayAccess<Element: StoredScalar>: PropertyAccess {
  let isOptional: Bool

  /// The property's elements; nil if it is an optional without an array.
  private func elements(_ property: UnsafeRawPointer) -> [Element]? {
    isOptional
      ? unsafe property.assumingMemoryBound(to: [Element]?.self).pointee
      : unsafe property.assumingMemoryBound(to: [Element].self).pointee
  }

  func write(
    _ property: UnsafeRawPointer, to row: RowWriter, at place: ColumnPlace
  ) throws(StoreError) {
    guard let elements = unsafe elements(property) else { return row.setNull(at: place) }
    var writer = ArrayWriter(of: Element.scalarType)
    for element in elements {
      guard element.isStorable else {
        throw row.refusal(ofColumn: place.index, "\(element) is no absolute URL")
      }
      element.append(to: &writer)
    }
    try row.append(writer.finish().rawSpan, to: place.index)
  }

  func write(
    _ property: UnsafeRawPointer, to key: KeyEncoder, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { throw layout.noKey(column) }

  func read(
    _ property: UnsafeMutableRawPointer, from row: borrowing RowReader, at place: ColumnPlace
  ) throws(StoreError) {
    if isOptional, row.isNull(place) {
      unsafe property.initializeMemory(as: [Element]?.self, to: nil)
      return
    }
    guard let array = ArrayReader(row.bytes(place.index), of: Element.scalarType) else {
      throw row.fault(.rowValues, "an array is none of \(Element.self)")
    }
    guard unsafe Element.fill(property, isOptional: isOptional, from: array) else {
      throw row.fault(.rowValues, "an element of an array is no \(Element.self)")
    }
  }

  func read(
    _ property: UnsafeMutableRawPointer, from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError) { throw key.fault("a value without an order cannot be in a key") }

  func destroy(_ property: UnsafeMutableRawPointer) {
    if isOptional {
      unsafe property.assumingMemoryBound(to: [Element]?.self).deinitialize(count: 1)
    } else {
      unsafe property.assumingMemoryBound(to: [Element].self).deinitialize(count: 1)
    }
  }
}

/// Fills properties that are not stored.
protocol PropertyFiller: Sendable {
  func fill(_ property: UnsafeMutableRawPointer)
  func destroy(_ property: UnsafeMutableRawPointer)
}

struct TransientFiller<Value>: PropertyFiller {
  /// Comes from a description, where it had to be sendable.
  nonisolated(unsafe) let value: Value

  func fill(_ property: UnsafeMutableRawPointer) {
    unsafe property.initializeMemory(as: Value.self, to: value)
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    unsafe property.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }
}

/// Tells and says of properties that are optional composites whether they are there.
///
/// The wrapped value is at the address of the optional, so the parts of the composite are read and filled
/// like all others.
protocol CompositeAccess: Sendable {
  func isNil(_ property: UnsafeRawPointer) -> Bool
  /// Fills the property with nil.
  func fillWithNil(_ property: UnsafeMutableRawPointer)
  /// Makes the composite, whose parts were filled, an optional.
  func wrap(_ property: UnsafeMutableRawPointer)
  func destroy(_ property: UnsafeMutableRawPointer)
}

struct OptionalComposite<Wrapped>: CompositeAccess {
  func isNil(_ property: UnsafeRawPointer) -> Bool {
    if case .none = unsafe property.assumingMemoryBound(to: Wrapped?.self).pointee { return true }
    return false
  }

  func fillWithNil(_ property: UnsafeMutableRawPointer) {
    unsafe property.initializeMemory(as: Wrapped?.self, to: nil)
  }

  func wrap(_ property: UnsafeMutableRawPointer) {
    let composite = unsafe property.assumingMemoryBound(to: Wrapped.self).move()
    unsafe property.initializeMemory(as: Wrapped?.self, to: composite)
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    unsafe property.assumingMemoryBound(to: Wrapped?.self).deinitialize(count: 1)
  }
}

/// Makes accesses to properties of types that are known only now.
struct Accesses {
  private let field: DescribedField
  private let place: FieldPlace

  init(of field: DescribedField, in record: String) {
    self.field = field
    place = FieldPlace(record: record, field: field.name)
  }

  /// The access to properties of `type`, without their optional, where the field's column does not hold such
  /// values as they are; nil if they do not fit.
  func access(of type: any Any.Type) -> (any PropertyAccess)? {
    switch field.type {
    case .scalar(.string): stringEnum(type)
    case .scalar(let scalar): scalar.integer.flatMap { integer(type, in: $0) }
    case .transformable: field.codec.flatMap { coded(type, $0) }
    case .array(let element): array(type, of: element)
    case .external(let stored, _): external(type, stored)
    case .composite: nil
    }
  }

  private func access<Conversion: ValueConversion>(_ conversion: Conversion) -> any PropertyAccess {
    ConvertedAccess(conversion: conversion, isOptional: field.isOptional)
  }
}

// MARK: Kinds of fields

extension Accesses {
  private func stringEnum(_ type: any Any.Type) -> (any PropertyAccess)? {
    func make<Value: RecordStringEnum>(_: Value.Type) -> any PropertyAccess {
      access(StringEnumConversion<Value>(place: place))
    }
    return (type as? any RecordStringEnum.Type).map { make($0) }
  }

  private func integer<Stored: StoredInteger>(_ type: any Any.Type, in column: Stored.Type)
    -> (any PropertyAccess)?
  {
    func make<Value: RecordIntegerEnum>(_: Value.Type) -> any PropertyAccess {
      access(IntegerEnumConversion<Value, Stored>(place: place))
    }
    func widened<Value: StoredInteger>(_: Value.Type) -> (any PropertyAccess)? {
      guard Stored(exactly: Value.min) != nil, Stored(exactly: Value.max) != nil else { return nil }
      return access(IntegerConversion<Value, Stored>(place: place))
    }
    if let type = type as? any RecordIntegerEnum.Type { return make(type) }
    return (type as? any StoredInteger.Type).flatMap { widened($0) }
  }

  private func coded(_ type: any Any.Type, _ codec: any FieldCodec) -> (any PropertyAccess)? {
    func make<Value: Codable>(_: Value.Type) -> any PropertyAccess {
      access(CodecConversion<Value>(codec: codec, place: place))
    }
    return (type as? any Codable.Type).map { make($0) }
  }

  private func external(_ type: any Any.Type, _ stored: ScalarType) -> (any PropertyAccess)? {
    switch stored {
    case .binaryData where type == Blob.self: access(ExternalConversion<Blob>(place: place))
    case .binaryData where type == Data.self: access(ExternalConversion<Data>(place: place))
    case .string where type == String.self: access(ExternalConversion<String>(place: place))
    default: nil
    }
  }

  private func array(_ type: any Any.Type, of scalar: ScalarType) -> (any PropertyAccess)? {
    func make<Element: StoredScalar>(_: Element.Type) -> any PropertyAccess {
      ArrayAccess<Element>(isOptional: field.isOptional)
    }
    func make<List: FieldList>(of _: List.Type) -> any PropertyAccess {
      access(ListConversion<List>(element: scalar, place: place))
    }
    // An array of references is the very bytes of an array of their keys.
    let arrayed = Reflection.element(type).map { ScalarType.swiftType(References.key(of: $0)) }
    if let arrayed = arrayed ?? nil {
      return arrayed.scalarType == scalar ? make(arrayed) : nil
    }
    guard let list = type as? any FieldList.Type else { return nil }
    let element = References.key(of: list.element)
    let fits: Bool =
      switch scalar {
      case .string where element is any RecordStringEnum.Type: true
      case _ where scalar.isInteger && element is any RecordIntegerEnum.Type: true
      default: ScalarType.swiftType(element)?.scalarType == scalar
      }
    return fits ? make(of: list) : nil
  }
}

// MARK: Values without a column of their own

extension Accesses {
  /// Returns a filler of properties of `type` with `value`; nil if it is of another type.
  static func filler(of type: any Any.Type, with value: any Sendable) -> (any PropertyFiller)? {
    func make<Value>(_: Value.Type) -> (any PropertyFiller)? {
      (value as? Value).map { TransientFiller(value: $0) }
    }
    return make(type)
  }

  /// Returns the access by which an optional composite is found to be nil or not.
  static func composite(of type: any Any.Type) -> any CompositeAccess {
    func make<Wrapped>(_: Wrapped.Type) -> any CompositeAccess { OptionalComposite<Wrapped>() }
    return make(type)
  }
}

/// Converts values of a type that no column holds to one that a column holds, and back.
protocol ValueConversion<Value>: Sendable {
  associatedtype Value
  associatedtype Stored: ColumnValue

  /// - Throws: `.invalidValue` where the column has no place for the value.
  func stored(_ value: Value) throws(StoreError) -> Stored
  /// - Throws: `.invalidValue` where the type has no such value.
  func value(_ stored: Stored) throws(StoreError) -> Value
}

/// The place of a field, for errors.
struct FieldPlace: Sendable {
  let record: String
  let field: String

  func invalid(_ reason: String) -> StoreError {
    .invalidValue(record: record, field: field, reason: reason)
  }
}

/// Integers of one width in a column of another, which has room for all of them.
struct IntegerConversion<Value: StoredInteger, Stored: StoredInteger>: ValueConversion {
  let place: FieldPlace

  func stored(_ value: Value) throws(StoreError) -> Stored {
    guard let stored = Stored(exactly: value) else { throw place.invalid("\(value) does not fit") }
    return stored
  }

  func value(_ stored: Stored) throws(StoreError) -> Value {
    guard let value = Value(exactly: stored) else {
      throw place.invalid("\(stored) does not fit into a property of type \(Value.self)")
    }
    return value
  }
}

struct IntegerEnumConversion<Value: RecordIntegerEnum, Stored: StoredInteger>: ValueConversion {
  let place: FieldPlace

  func stored(_ value: Value) throws(StoreError) -> Stored {
    guard let stored = Stored(exactly: value.rawValue) else {
      throw place.invalid("\(value) is \(value.rawValue), which does not fit into the field")
    }
    return stored
  }

  func value(_ stored: Stored) throws(StoreError) -> Value {
    guard let value = Int(exactly: stored).flatMap({ Value(rawValue: $0) }) else {
      throw place.invalid("\(stored) is no case of \(Value.self)")
    }
    return value
  }
}

struct StringEnumConversion<Value: RecordStringEnum>: ValueConversion {
  let place: FieldPlace

  func stored(_ value: Value) throws(StoreError) -> String { value.rawValue }

  func value(_ stored: String) throws(StoreError) -> Value {
    guard let value = Value(rawValue: stored) else {
      throw place.invalid("“\(stored)” is no case of \(Value.self)")
    }
    return value
  }
}

/// Any value, as the bytes a codec makes of it.
struct CodecConversion<Value: Codable>: ValueConversion {
  let codec: any FieldCodec
  let place: FieldPlace

  func stored(_ value: Value) throws(StoreError) -> CodedBytes {
    do {
      return CodedBytes(bytes: try codec.encode(value))
    } catch {
      throw place.invalid("the codec \(codec.identifier) cannot encode it: \(error)")
    }
  }

  func value(_ stored: CodedBytes) throws(StoreError) -> Value {
    do {
      return try codec.decode(Value.self, from: stored.bytes)
    } catch {
      throw place.invalid("the codec \(codec.identifier) cannot decode it: \(error)")
    }
  }
}

/// The bytes that a codec has made of a value.
struct CodedBytes: ColumnValue {
  let bytes: [UInt8]

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(bytes.rawSpan, to: column)
  }

  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> CodedBytes {
    CodedBytes(bytes: row.bytes(column).array())
  }
}

/// A set, or an array of enums, by way of the values of its elements.
struct ListConversion<List: FieldList>: ValueConversion {
  let element: ScalarType
  let place: FieldPlace

  func stored(_ value: List) throws(StoreError) -> CodedBytes {
    guard let bytes = value.fieldValue.rowBytes(of: .array(of: element)) else {
      throw place.invalid("an element of it is out of range")
    }
    return CodedBytes(bytes: bytes)
  }

  func value(_ stored: CodedBytes) throws(StoreError) -> List {
    let bytes = stored.bytes
    var values: [FieldValue] = []
    if let array = ArrayReader(bytes.rawSpan, of: element) {
      for index in 0..<array.count {
        values.append(element.swiftType.fieldValue(ofRow: array.element(index)) ?? .null)
      }
    } else {
      values = [.null]
    }
    guard let list = List(fieldValue: .array(values)) else {
      throw place.invalid("an element of it is no value of \(List.element)")
    }
    return list
  }
}
