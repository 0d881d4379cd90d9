/// Makes what a column holds of values of a type that no column holds, and back.
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
    guard let stored = Stored(exactly: value.intRawValue) else {
      throw place.invalid("\(value) is \(value.intRawValue), which does not fit into the field")
    }
    return stored
  }

  func value(_ stored: Stored) throws(StoreError) -> Value {
    guard let value = Int(exactly: stored).flatMap({ Value(intRawValue: $0) }) else {
      throw place.invalid("\(stored) is no case of \(Value.self)")
    }
    return value
  }
}

struct StringEnumConversion<Value: RecordStringEnum>: ValueConversion {
  let place: FieldPlace

  func stored(_ value: Value) throws(StoreError) -> String { value.stringRawValue }

  func value(_ stored: String) throws(StoreError) -> Value {
    guard let value = Value(stringRawValue: stored) else {
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

struct ArrayConversion<Element: StoredScalar>: ValueConversion {
  func stored(_ value: [Element]) throws(StoreError) -> ArrayValue<Element> {
    ArrayValue(elements: value)
  }

  func value(_ stored: ArrayValue<Element>) throws(StoreError) -> [Element] { stored.elements }
}

/// The value of an array column.
struct ArrayValue<Element: StoredScalar>: ColumnValue {
  let elements: [Element]

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    var writer = ArrayWriter(of: Element.scalarType)
    for element in elements { element.append(to: &writer) }
    try row.append(writer.finish().rawSpan, to: column)
  }

  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> ArrayValue {
    guard let array = ArrayReader(row.bytes(column), of: Element.scalarType) else {
      throw row.fault(.rowValues, "an array is none of \(Element.self)")
    }
    var elements: [Element] = []
    elements.reserveCapacity(array.count)
    for index in 0..<array.count {
      guard let element = Element(rowBytes: array.element(index)) else {
        throw row.fault(.rowValues, "an element of an array is no \(Element.self)")
      }
      elements.append(element)
    }
    return ArrayValue(elements: elements)
  }
}
