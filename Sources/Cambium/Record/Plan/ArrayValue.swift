internal import FoundationEssentials

/// A type whose values the elements of an array column can be.
protocol ElementValue: ColumnValue {
  func append(to array: inout ArrayWriter)
  /// Fails if the bytes are no such value.
  init?(element: RawSpan)
}

/// The value of an array column.
struct ArrayValue<Element: ElementValue>: ColumnValue {
  let elements: [Element]

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(bytes.rawSpan, to: column)
  }

  private var bytes: [UInt8] {
    guard let scalar = ScalarType(valuesOf: Element.self) else {
      preconditionFailure("\(Element.self) is no type of elements")
    }
    var writer = ArrayWriter(of: scalar)
    for element in elements { element.append(to: &writer) }
    return writer.finish()
  }

  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> ArrayValue {
    guard let scalar = ScalarType(valuesOf: Element.self),
      let array = ArrayReader(row.bytes(column), of: scalar)
    else { throw row.fault(.rowValues, "an array is none of \(Element.self)") }
    var elements: [Element] = []
    elements.reserveCapacity(array.count)
    for index in 0..<array.count {
      guard let element = Element(element: array.element(index)) else {
        throw row.fault(.rowValues, "an element of an array is no \(Element.self)")
      }
      elements.append(element)
    }
    return ArrayValue(elements: elements)
  }

  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { throw layout.noKey(column) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> ArrayValue {
    throw key.fault("an array cannot be in a key")
  }
}

struct ArrayConversion<Element: ElementValue>: ValueConversion {
  func stored(_ value: [Element]) throws(StoreError) -> ArrayValue<Element> {
    ArrayValue(elements: value)
  }

  func value(_ stored: ArrayValue<Element>) throws(StoreError) -> [Element] { stored.elements }
}

// MARK: Elements of fixed width

extension ElementValue where Self: FixedWidthInteger & BitwiseCopyable {
  func append(to array: inout ArrayWriter) { array.append(self) }

  init?(element: RawSpan) { self = element.load(0, as: Self.self) }
}

extension Int: ElementValue {}
extension Int8: ElementValue {}
extension Int16: ElementValue {}
extension Int32: ElementValue {}
extension Int64: ElementValue {}
extension UInt: ElementValue {}
extension UInt8: ElementValue {}
extension UInt16: ElementValue {}
extension UInt32: ElementValue {}
extension UInt64: ElementValue {}

extension Bool: ElementValue {
  func append(to array: inout ArrayWriter) { array.append(UInt8(self ? 1 : 0)) }

  init?(element: RawSpan) {
    let byte = element.load(0, as: UInt8.self)
    guard byte <= 1 else { return nil }
    self = byte == 1
  }
}

extension Float: ElementValue {
  func append(to array: inout ArrayWriter) { array.append(bitPattern) }

  init?(element: RawSpan) { self.init(bitPattern: element.load(0, as: UInt32.self)) }
}

extension Double: ElementValue {
  func append(to array: inout ArrayWriter) { array.append(bitPattern) }

  init?(element: RawSpan) { self.init(bitPattern: element.load(0, as: UInt64.self)) }
}

extension Date: ElementValue {
  func append(to array: inout ArrayWriter) {
    array.append(timeIntervalSinceReferenceDate.bitPattern)
  }

  init?(element: RawSpan) {
    self.init(
      timeIntervalSinceReferenceDate: Double(bitPattern: element.load(0, as: UInt64.self)))
  }
}

extension UUID: ElementValue {
  func append(to array: inout ArrayWriter) { array.append(UInt128(bytesOf: self)) }

  init?(element: RawSpan) { self.init(bytesOf: element.load(0, as: UInt128.self)) }
}

// MARK: Elements that vary in width

extension String: ElementValue {
  func append(to array: inout ArrayWriter) { unsafe array.append(utf8Span.span.bytes) }

  init?(element: RawSpan) { self.init(utf8: element) }
}

extension URL: ElementValue {
  func append(to array: inout ArrayWriter) { absoluteString.append(to: &array) }

  init?(element: RawSpan) {
    guard let string = String(utf8: element) else { return nil }
    self.init(stored: string)
  }
}

extension Data: ElementValue {
  func append(to array: inout ArrayWriter) { array.append(bytes) }

  init?(element: RawSpan) { self.init(copying: element) }
}

extension Decimal: ElementValue {
  func append(to array: inout ArrayWriter) {
    var bytes: [UInt8] = []
    DecimalParts(self).encode(to: &bytes)
    array.append(bytes.rawSpan)
  }

  init?(element: RawSpan) {
    guard let parts = DecimalParts(decoding: element) else { return nil }
    self = parts.decimal
  }
}
