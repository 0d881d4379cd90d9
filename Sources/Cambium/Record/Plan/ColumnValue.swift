internal import FoundationEssentials

/// A type whose values rows hold as they are.
///
/// `column` is the index of a `ColumnPlace`: the offset of a fixed column, the number of a variable one.
protocol ColumnValue {
  /// - Throws: `.limitExceeded` where the row gets too long.
  func put(in row: RowWriter, at column: Int) throws(StoreError)
  /// - Throws: `.corrupt` where the bytes are no such value.
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Self
  /// - Throws: `.invalidValue` for what is not a number.
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError)
  /// - Throws: `.corrupt` where the bytes are no such value.
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Self
}

extension ColumnValue where Self: FixedWidthInteger & BitwiseCopyable, Magnitude: BitwiseCopyable {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) { row.store(self, at: column) }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Self {
    row.load(column, as: Self.self)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  @inline(__always)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Self {
    try key.integer(Self.self, form)
  }
}

extension Int: ColumnValue {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ColumnValue {}
extension UInt: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt64: ColumnValue {}

extension Bool: ColumnValue {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) { row.store(self, at: column) }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Bool {
    try row.boolean(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Bool {
    try key.boolean(form)
  }
}

extension Float: ColumnValue {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) { row.store(self, at: column) }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Float {
    row.float(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { try key.append(self, column, of: layout) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Float {
    try key.float(form)
  }
}

extension Double: ColumnValue {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) { row.store(self, at: column) }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Double {
    row.double(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { try key.append(self, column, of: layout) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Double {
    try key.double(form)
  }
}

extension Date: ColumnValue {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) { row.store(self, at: column) }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Date {
    row.date(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { try key.append(self, column, of: layout) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Date {
    try key.date(form)
  }
}

extension UUID: ColumnValue {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) { row.store(self, at: column) }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> UUID {
    row.uuid(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  @inline(__always)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> UUID {
    try key.uuid(form)
  }
}

extension String: ColumnValue {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(self, to: column)
  }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> String {
    try row.string(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> String {
    try key.string(form)
  }
}

extension Decimal: ColumnValue {
  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(self, to: column)
  }

  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Decimal {
    try row.decimal(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { try key.append(self, column, of: layout) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Decimal {
    try key.decimal(form)
  }
}

extension URL: ColumnValue {
  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(self, to: column)
  }

  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> URL {
    try row.url(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> URL {
    try key.url(form)
  }
}

extension Data: ColumnValue {
  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(self, to: column)
  }

  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Data {
    row.data(column)
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(self, column.form) }

  @inline(never)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Data {
    Data(try key.run(form))
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

  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { throw layout.noKey(column) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> CodedBytes {
    throw key.fault("bytes of a codec cannot be in a key")
  }
}

extension RowWriter {
  /// Makes a column null that can be.
  @inline(__always)
  func setNull(at place: ColumnPlace) {
    if let bit = place.nullBit { setNull(bit: bit) }
  }
}

extension RowLayout {
  /// Returns the error for a column whose values have no order; layouts have no such keys.
  func noKey(_ column: KeyColumn) -> StoreError {
    .invalidValue(
      record: record.name, field: columns[Int(column.column)].field.name,
      reason: "such values cannot be in a key")
  }
}
