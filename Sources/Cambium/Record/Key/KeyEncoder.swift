#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Puts keys together, part by part, so that their bytes sort as the values do.
///
/// It has one owner, which uses it on one thread at a time. `FORMAT.md`, “Keys of records”, has the
/// encodings.
@usableFromInline
final class KeyEncoder {
  // One owner uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var memory = ScratchBytes(capacity: 128)
  @exclusivity(unchecked) private var count = 0

  init() {}

  /// Begins a key, without a part yet.
  @inline(__always)
  func begin() {
    unsafe count = 0
  }

  /// The key so far, until it changes.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let span = unsafe memory.bytes(count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Ends a primary key.
  ///
  /// - Throws: `.invalidValue` where it is longer than a key may be.
  @inline(__always)
  func finishPrimaryKey(of layout: RowLayout) throws(StoreError) {
    if unsafe count > StoreError.Limit.keyLength.bound { throw layout.keyTooLong(key) }
  }
}

// MARK: Parts of fixed length

extension KeyEncoder {
  /// Appends a part that is null.
  func appendNull(_ form: KeyForm) {
    precondition(form.contains(.isOptional), "the part cannot be null")
    append(UInt8(0), form.intersection(.isDescending))
  }

  /// Appends a number that sorts as the value does.
  @inline(__always)
  func append<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ word: Word, _ form: KeyForm
  ) {
    let mask: UInt8 = form.contains(.isDescending) ? 0xff : 0
    unsafe memory.reserve(count &+ MemoryLayout<Word>.size &+ 1, keeping: count)
    var target = unsafe room()
    if form.contains(.isOptional) {
      unsafe target.store(1 ^ mask, at: count)
      unsafe count &+= 1
    }
    unsafe target.store((mask == 0 ? word : ~word).byteSwapped, at: count)
    unsafe count &+= MemoryLayout<Word>.size
  }
}

extension Double {
  /// A number that sorts as the value does, which is not NaN; −0.0 is 0.0.
  var keyBits: UInt64 {
    let bits = self == 0 ? 0 : bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// - Returns: nil if no value has these bits.
  init?(keyBits: UInt64) {
    self.init(bitPattern: keyBits >> 63 == 1 ? keyBits & ~(1 << 63) : ~keyBits)
    guard !isNaN, self.keyBits == keyBits else { return nil }
  }
}

extension Float {
  /// The bits in a key, as of a double.
  var keyBits: UInt32 {
    let bits = self == 0 ? 0 : bitPattern
    return bits >> 31 == 1 ? ~bits : bits | 1 << 31
  }

  init?(keyBits: UInt32) {
    self.init(bitPattern: keyBits >> 31 == 1 ? keyBits & ~(1 << 31) : ~keyBits)
    guard !isNaN, self.keyBits == keyBits else { return nil }
  }
}

// MARK: Parts of any length

extension KeyEncoder {
  @inline(__always)
  func append(_ value: String, _ form: KeyForm) {
    unsafe append(value.utf8Span.span.bytes, form)
  }

  /// Appends the bytes of a string, a URL or data; of a string without case, they are UTF-8.
  func append(_ bytes: RawSpan, _ form: KeyForm) {
    if form.contains(.isCaseInsensitive) {
      appendExactly(CaseFolding.bytes(of: bytes).rawSpan, form)
    } else {
      appendExactly(bytes, form)
    }
  }

  func append(_ value: Decimal, _ column: KeyColumn, of layout: RowLayout) throws(StoreError) {
    let parts = DecimalParts(value)
    guard !parts.isNaN else { throw layout.notANumber(column) }
    let start = unsafe count
    if column.form.contains(.isOptional) { appendRaw([1]) }
    appendRaw(parts.keyBytes)
    if column.form.contains(.isDescending) { invert(from: start) }
  }

  /// Appends bytes as they are: those of whole keys that follow.
  func appendRaw(_ bytes: RawSpan) {
    unsafe memory.reserve(count + bytes.byteCount, keeping: count)
    var target = unsafe room()
    unsafe target.copy(bytes, to: count)
    unsafe count += bytes.byteCount
  }

  func appendRaw(_ hash: SipHash128) {
    var bytes: [UInt8] = []
    bytes.append(integer: hash.low)
    bytes.append(integer: hash.high)
    appendRaw(bytes)
  }

  private func appendRaw(_ bytes: [UInt8]) { appendRaw(bytes.rawSpan) }

  /// Keeps the first `count` bytes of the key.
  func truncate(to count: Int) {
    precondition(unsafe count <= self.count, "the key is not that long")
    unsafe self.count = count
  }

  private func appendExactly(_ bytes: RawSpan, _ form: KeyForm) {
    let start = unsafe count
    unsafe memory.reserve(start + 2 * bytes.byteCount + 3, keeping: start)
    var target = unsafe room()
    if form.contains(.isOptional) {
      target.store(UInt8(1), at: start)
      unsafe count += 1
    }
    if form.isRaw {
      unsafe target.copy(bytes, to: count)
      unsafe count += bytes.byteCount
      return
    }
    unsafe count += target.storeEscaped(bytes, at: count)
    if form.contains(.isDescending) { invert(from: start) }
  }

  /// The memory, to be written to; use it before anything else is done with it.
  @unsafe @_lifetime(borrow self)
  @inline(__always)
  private func room() -> MutableRawSpan {
    let span = unsafe memory.mutableBytes()
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  private func invert(from start: Int) {
    let end = unsafe count
    var target = unsafe room()
    target.invert(start..<end)
  }
}

extension MutableRawSpan {
  fileprivate mutating func invert(_ range: Range<Int>) {
    for offset in range {
      let byte = bytes.load(offset, as: UInt8.self)
      store(~byte, at: offset)
    }
  }

  /// Stores `bytes` with FF after each 00, and 00 00 after all.
  ///
  /// - Returns: how many bytes that took: up to twice as many and two.
  fileprivate mutating func storeEscaped(_ bytes: RawSpan, at start: Int) -> Int {
    var target = start
    for offset in 0..<bytes.byteCount {
      let byte = bytes.load(offset, as: UInt8.self)
      store(byte, at: target)
      target &+= 1
      if byte == 0 {
        store(UInt8(0xff), at: target)
        target &+= 1
      }
    }
    store(UInt16(0), at: target)
    return target &+ 2 &- start
  }
}

extension RowLayout {
  func notANumber(_ column: KeyColumn) -> StoreError {
    .invalidValue(
      record: record.name, field: columns[Int(column.column)].field.name,
      reason: "NaN has no place in an order, so it cannot be in a key")
  }

  /// Names the part that takes most of it, and the beginning of the key.
  fileprivate func keyTooLong(_ bytes: RawSpan) -> StoreError {
    var reader = KeyReader(bytes, layout: self)
    let lengths = key.columns.map { ((try? reader.value($0))?.description ?? "").utf8.count }
    let longest = lengths.indices.max { lengths[$0] < lengths[$1] }
    return .invalidValue(
      record: record.name,
      field: longest.map { columns[Int(key.columns[$0].column)].field.name },
      reason:
        "its primary key takes \(bytes.byteCount) bytes of at most \(StoreError.Limit.keyLength.bound): it is"
        + " \(text(ofKey: bytes).shortened). Use a shorter key, as a UUID, and keep the text in a field"
    )
  }
}

// Parts from stored records, and from callers without a Swift type for them.

extension KeyEncoder {
  /// Appends a part with the value that a stored record has there.
  ///
  /// - Throws: `.invalidValue` for NaN, `.corrupt` for a damaged record.
  func append(_ column: KeyColumn, from record: RowReader) throws(StoreError) {
    if record.isNull(column.place) {
      // Without a byte for null, such a record has no entry. Nothing sorts before all that have one.
      if column.form.contains(.isOptional) { appendNull(column.form) }
      return
    }
    let index = column.place.index
    if let collation = column.collation, column.place.kind == .variable {
      return try append(record.bytes(index), by: collation, column.form, of: record.layout)
    }
    switch column.place.kind {
    case .fixed: try appendFixed(column, from: record)
    case .variable where column.type == .decimal:
      try append(try record.decimal(index), column, of: record.layout)
    case .variable: append(record.bytes(index), column.form)
    case .key:
      let value = try record.keyValue(index)
      // A relative URL is refused where it is saved; an entry of one that was saved before must be found again.
      if case .url(let url) = value {
        append(url.rowBytes.rawSpan, column.form)
      } else {
        try append(value, column, of: record.layout)
      }
    case .composite: preconditionFailure("a composite is in no key")
    }
  }

  /// Appends a part with an element of an array, or another value of the part's type in the bytes that a row would have.
  ///
  /// - Throws: `.invalidValue` for NaN, `.corrupt` for bytes that are not a value of the type.
  func append(
    _ bytes: RawSpan, _ column: KeyColumn, of record: RowReader
  ) throws(StoreError) {
    switch column.type {
    case .string, .url, .binaryData: append(bytes, column.form)
    default:
      guard
        try column.type.swiftType.append(rowBytes: bytes, to: self, as: column, of: record.layout)
      else { throw record.fault(.rowValues, "the value is no \(column.type)") }
    }
  }

  /// Appends the sort key of a string.
  ///
  /// - Throws: `.missingCollation`.
  private func append(
    _ string: RawSpan, by collation: CollationReference, _ form: KeyForm, of layout: RowLayout
  ) throws(StoreError) {
    guard let sortKey = collation.sortKey(of: string) else {
      throw collation.missing(in: layout.record.name)
    }
    appendExactly(sortKey.rawSpan, form)
  }

  private func appendFixed(
    _ column: KeyColumn, from record: RowReader
  ) throws(StoreError) {
    switch column.type {
    case .boolean: try append(Bool.self, column, from: record)
    case .int8: try append(Int8.self, column, from: record)
    case .int16: try append(Int16.self, column, from: record)
    case .int32: try append(Int32.self, column, from: record)
    case .int64: try append(Int64.self, column, from: record)
    case .uint8: try append(UInt8.self, column, from: record)
    case .uint16: try append(UInt16.self, column, from: record)
    case .uint32: try append(UInt32.self, column, from: record)
    case .uint64: try append(UInt64.self, column, from: record)
    case .float: try append(Float.self, column, from: record)
    case .double, .date: try append(Double.self, column, from: record)
    case .uuid: try append(UUID.self, column, from: record)
    case .decimal, .string, .url, .binaryData: preconditionFailure("their width varies")
    }
  }

  @inline(__always)
  private func append<Scalar: FixedScalar>(
    _ type: Scalar.Type, _ column: KeyColumn, from record: RowReader
  ) throws(StoreError) {
    let value = try Scalar.get(from: record, at: column.place.index)
    try value.append(to: self, as: column, of: record.layout)
  }

  /// Appends a part with a value of the column's type.
  ///
  /// - Throws: `.invalidValue` for a value that is of another type, out of its range, null where that cannot be,
  ///   or not a number.
  func append(
    _ value: FieldValue, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) {
    if case .null = value, column.form.contains(.isOptional) { return appendNull(column.form) }
    if let collation = column.collation, case .string(var text) = value {
      let bytes = text.withUTF8 { unsafe Array($0) }
      return try append(bytes.rawSpan, by: collation, column.form, of: layout)
    }
    guard try column.type.swiftType.append(value, to: self, as: column, of: layout) else {
      throw layout.refusal(layout.columns[Int(column.column)], value)
    }
  }
}

/// A primary key of one part that always has the same width: put together without memory of its own.
///
/// Most records are fetched by such keys, and making an encoder costs a tenth of the fetch.
struct ShortKey {
  private let bytes: [16 of UInt8]
  private let count: Int

  /// - Returns: nil for any other key, and for a value that the key cannot have.
  @inline(__always)
  init?(_ parts: [any FieldValueConvertible], of layout: KeyLayout) {
    guard parts.count == 1, layout.columns.count == 1 else { return nil }
    let column = layout.columns[0]
    guard column.form.subtracting(.isLast).isEmpty, let width = column.type.fixedWidth,
      let word = parts[0].fieldValue.bits(of: column.type)
    else { return nil }
    var bits: UInt128
    switch column.type {
    case .boolean, .uint8, .uint16, .uint32, .uint64: bits = word
    case .int8, .int16, .int32, .int64: bits = word ^ 1 &<< UInt128(width &* 8 &- 1)
    case .uuid: bits = word.byteSwapped
    case .float, .double, .date, .decimal, .string, .url, .binaryData: return nil
    }
    bits = (bits &<< UInt128((16 &- width) &* 8)).byteSwapped
    var bytes: [16 of UInt8] = .init(repeating: 0)
    for index in 0..<16 {
      bytes[index] = UInt8(truncatingIfNeeded: bits &>> UInt128(8 &* index))
    }
    self.bytes = bytes
    count = width
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe bytes.span.bytes.part(0, count) }
  }
}

extension FieldValue {
  /// The bits that a row has of it, lowest first; nil if it is not of the type, which is none of those without such bits.
  fileprivate func bits(of type: ScalarType) -> UInt128? {
    switch (type, self) {
    case (.boolean, .boolean(let value)): value ? 1 : 0
    case (.uuid, .uuid(let value)): UInt128(bytesOf: value)
    case (.int64, .integer(let value)): UInt128(UInt64(bitPattern: value))
    case (.int8, _): Int8(fieldValue: self).map { UInt128(UInt8(bitPattern: $0)) }
    case (.int16, _): Int16(fieldValue: self).map { UInt128(UInt16(bitPattern: $0)) }
    case (.int32, _): Int32(fieldValue: self).map { UInt128(UInt32(bitPattern: $0)) }
    case (.int64, _): Int64(fieldValue: self).map { UInt128(UInt64(bitPattern: $0)) }
    case (.uint8, _): UInt8(fieldValue: self).map { UInt128($0) }
    case (.uint16, _): UInt16(fieldValue: self).map { UInt128($0) }
    case (.uint32, _): UInt32(fieldValue: self).map { UInt128($0) }
    case (.uint64, _): UInt64(fieldValue: self).map { UInt128($0) }
    default: nil
    }
  }
}
