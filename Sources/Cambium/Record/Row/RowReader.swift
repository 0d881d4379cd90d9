#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A record as it is stored: its key and its row, whose frame was checked.
///
/// Columns are then read one by one, each without the others; the bytes of a column are checked when it is
/// read. Nothing is counted or copied to make one.
@safe struct RowReader: ~Escapable {
  let key: RawSpan
  let row: RawSpan
  /// Not counted, because all threads would count the same one; it outlives the reader, which depends on
  /// it.
  private unowned(unsafe) let uncountedLayout: RowLayout
  /// A finder of values that lie outside the row; nil if none are read.
  let blobs: BlobFinder?
  private let endsStart: Int
  private let variableStart: Int
  private let endWidthCode: Int

  /// - Parameter blobs: Finds values that lie outside the row, of the state that the row is of.
  /// - Throws: `.corrupt` where the row breaks R1, R2 or R3; `.newerFormat` where it begins with bytes that
  ///   this version does not know.
  @inline(__always)
  @_lifetime(copy key, copy row, borrow layout)
  init(
    key: RawSpan, row: RawSpan, layout: borrowing RowLayout, blobs: BlobFinder? = nil
  ) throws(StoreError) {
    self.key = key
    self.row = row
    unsafe uncountedLayout = copy layout
    self.blobs = blobs
    let count = layout.variableCount
    endsStart = layout.fixedEnd
    let flags = row.byteCount > 0 ? row.load(0, as: UInt8.self) : UInt8.max
    endWidthCode = Int(flags)
    variableStart = endsStart &+ count &<< endWidthCode
    guard flags <= 2, row.byteCount >= variableStart,
      Self.followsNullRules(row, layout)
    else { throw Self.frameFault(key: key, row: row, layout) }
    let isFilled =
      switch endWidthCode {
      case 0: hasEnds(UInt8.self, count)
      case 1: hasEnds(UInt16.self, count)
      default: hasEnds(UInt32.self, count)
      }
    guard isFilled else {
      throw fault(.rowEnds, "the ends of variable columns do not ascend to the row's")
    }
  }

  /// Returns true if the ends ascend, and the last is the row's.
  @inline(__always)
  private func hasEnds<End: FixedWidthInteger & BitwiseCopyable>(
    _ type: End.Type, _ count: Int
  ) -> Bool {
    var last: End = 0
    var descends = false
    for column in 0..<count {
      let end = row.load(endsStart &+ column &* MemoryLayout<End>.size, as: type)
      descends = descends || end < last
      last = end
    }
    return !descends && Int(last) == row.byteCount &- variableStart
  }

  /// Creates a reader of bytes of which one was created before.
  @inline(__always)
  @_lifetime(copy key, copy row, borrow layout)
  init(
    key: RawSpan, checkedRow row: RawSpan, layout: borrowing RowLayout, blobs: BlobFinder? = nil
  ) {
    self.key = key
    self.row = row
    unsafe uncountedLayout = copy layout
    self.blobs = blobs
    endsStart = layout.fixedEnd
    endWidthCode = Int(row.load(0, as: UInt8.self))
    variableStart = endsStart &+ layout.variableCount &<< endWidthCode
  }

  var layout: RowLayout { unsafe uncountedLayout }
}

// MARK: Columns

extension RowReader {
  @inline(__always)
  func isNull(_ place: ColumnPlace) -> Bool {
    guard let bit = place.nullBit else { return false }
    return row.isNull(bit: bit)
  }

  /// The value of a fixed column, given by its offset; 0 where it is null.
  @inline(__always)
  func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Value.Type) -> Value
  {
    row.load(offset, as: type)
  }

  @inline(__always)
  func double(_ offset: Int) -> Double { Double(bitPattern: load(offset, as: UInt64.self)) }

  @inline(__always)
  func float(_ offset: Int) -> Float { Float(bitPattern: load(offset, as: UInt32.self)) }

  @inline(__always)
  func boolean(_ offset: Int) throws(StoreError) -> Bool {
    let byte = load(offset, as: UInt8.self)
    guard byte <= 1 else { throw fault(.rowValues, "a boolean is \(byte)") }
    return byte == 1
  }

  /// The bytes of a variable column; none if it is null.
  @inline(__always)
  @_lifetime(copy self)
  func bytes(_ column: Int) -> RawSpan {
    let start = column == 0 ? 0 : end(of: column &- 1)
    return row.part(variableStart &+ start, end(of: column) &- start)
  }

  func string(_ column: Int) throws(StoreError) -> String {
    guard let string = String(utf8: bytes(column)) else {
      throw fault(.rowValues, "a string is not UTF-8")
    }
    return string
  }

  /// The value of an external column, which is not null.
  func external(_ column: Int) throws(StoreError) -> ExternalValue {
    try external(bytes(column))
  }

  private func external(_ bytes: RawSpan) throws(StoreError) -> ExternalValue {
    if let value = ExternalValue(decoding: bytes) { return value }
    if ExternalValue.isNewer(bytes) {
      throw .newerFormat(
        path: "A row of \(layout.record.name)", reason: "a value is compressed by a dictionary")
    }
    throw fault(.rowExternal, "an external value is neither bytes, a frame nor a reference")
  }

  func decimal(_ column: Int) throws(StoreError) -> Decimal {
    guard let parts = DecimalParts(decoding: bytes(column)) else {
      throw fault(.rowValues, "a decimal is none, or not reduced")
    }
    return parts.decimal
  }

  @inline(__always)
  private func end(of column: Int) -> Int {
    switch endWidthCode {
    case 0: Int(row.load(endsStart &+ column, as: UInt8.self))
    case 1: Int(row.load(endsStart &+ column &* 2, as: UInt16.self))
    default: Int(row.load(endsStart &+ column &* 4, as: UInt32.self))
    }
  }
}

extension RawSpan {
  /// True if a bit is set of those that a row has for its null columns.
  @inline(__always)
  func isNull(bit: Int) -> Bool {
    let bits = load(RowLayout.nullsOffset &+ bit &>> 3, as: UInt8.self)
    return bits & 1 &<< UInt8(truncatingIfNeeded: bit & 7) != 0
  }
}

// MARK: Faults

extension RowReader {
  /// Returns the error for a record whose bytes break a rule.
  func fault(_ invariant: Invariant, _ reason: String) -> StoreError {
    layout.fault(key: key, invariant, reason)
  }

  @inline(__always)
  private static func followsNullRules(_ row: RawSpan, _ layout: borrowing RowLayout) -> Bool {
    // Without nulls this looks at the flags, of which no bit is unused.
    let last = row.load(layout.nullByteCount, as: UInt8.self)
    return last & layout.unusedNulls == 0
      && (layout.impliedNulls.isEmpty || followsImpliedNulls(row, layout))
  }

  @inline(never)
  private static func followsImpliedNulls(_ row: RawSpan, _ layout: borrowing RowLayout) -> Bool {
    func isSet(_ bit: Int) -> Bool {
      row.load(RowLayout.nullsOffset + bit / 8, as: UInt8.self) >> UInt8(bit % 8) & 1 == 1
    }
    for implied in layout.impliedNulls where isSet(implied.composite) && !isSet(implied.part) {
      return false
    }
    return true
  }

  @inline(never)
  private static func frameFault(key: RawSpan, row: RawSpan, _ layout: RowLayout) -> StoreError {
    guard row.byteCount > 0 else {
      return layout.fault(key: key, .rowLayout, "the row has no byte")
    }
    let flags = row.load(0, as: UInt8.self)
    if flags & RowFlags.recordNumber != 0, flags < 8 {
      return .newerFormat(
        path: "A row of \(layout.record.name)", reason: "it says of which record it is")
    }
    guard flags <= 2 else { return layout.fault(key: key, .rowLayout, "its flags are \(flags)") }
    guard row.byteCount >= layout.fixedEnd + layout.variableCount << Int(flags) else {
      return layout.fault(key: key, .rowLayout, "\(row.byteCount) bytes are no whole row")
    }
    return layout.fault(
      key: key, .rowNulls, "a bit of no column is set, or a part of null is not null")
  }
}

extension RowLayout {
  func fault(key: RawSpan, _ invariant: Invariant, _ reason: String) -> StoreError {
    .corrupt(.entry(tree: record.name, key: key.array()), invariant: invariant, reason: reason)
  }
}

// Columns of any type, for callers without a Swift type for them.

extension RowReader {
  /// The value of a field, wherever the record has it.
  ///
  /// - Parameter stringsAsBlobs: True if strings that lie outside the row are not read but for whether they are UTF-8.
  /// - Throws: `.corrupt` where it is none of the type's (R4, K1).
  func value(_ index: Int, stringsAsBlobs: Bool = false) throws(StoreError) -> FieldValue {
    try value(of: layout.columns[index], stringsAsBlobs: stringsAsBlobs)
  }

  /// The same, of a column of the layout, which is not counted again.
  func value(of column: Column, stringsAsBlobs: Bool) throws(StoreError) -> FieldValue {
    if isNull(column.place) { return .null }
    switch column.place.kind {
    case .key: return try keyValue(column.place.index)
    case .fixed:
      guard let type = column.scalar, let width = type.fixedWidth else { return .null }
      return try scalar(type, row.part(column.place.index, width))
    case .variable:
      return try variable(column.field.type, bytes(column.place.index), stringsAsBlobs)
    case .composite: return try composite(column, stringsAsBlobs)
    }
  }

  /// The value of a part of the primary key.
  func keyValue(_ part: Int) throws(StoreError) -> FieldValue {
    let layout = layout
    var reader = KeyReader(key, layout: layout)
    for column in layout.key.columns.prefix(part) { try reader.skip(column) }
    let value = try reader.value(layout.key.columns[part])
    if part == layout.key.columns.count - 1 { try reader.finish() }
    return value
  }

  private func composite(
    _ column: Column, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> FieldValue {
    var parts: [String: FieldValue] = [:]
    for part in column.parts {
      let name = layout.columns[part].shortName(in: column)
      parts[name] = try value(part, stringsAsBlobs: stringsAsBlobs)
    }
    return .composite(parts)
  }

  private func variable(
    _ type: ColumnType, _ bytes: RawSpan, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> FieldValue {
    switch type {
    case .transformable: return .data(Data(copying: bytes))
    case .external(let type, _): return try external(type, bytes, stringsAsBlobs)
    case .array(let element):
      guard let array = ArrayReader(bytes, of: element) else {
        throw fault(.rowValues, "an array is not whole elements")
      }
      var values: [FieldValue] = []
      for index in 0..<array.count { values.append(try scalar(element, array.element(index))) }
      return .array(values)
    default:
      guard let type = type.scalar else { return .null }
      return try scalar(type, bytes)
    }
  }

  /// The value of an external column: a string as it is, bytes as a blob that reads them when they are asked for.
  private func external(
    _ type: ScalarType, _ bytes: RawSpan, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> FieldValue {
    let value = try external(bytes)
    let blob = try blob(value)
    // Of a row that is no more, the place of its blob may be all that is left.
    guard type == .string, !(blob.source is DeletedBlob) else { return .blob(blob) }
    guard stringsAsBlobs, case .reference = value else { return .string(try string(of: blob)) }
    guard try blob.isUTF8 else { throw fault(.rowValues, "a string is not UTF-8") }
    return .blob(blob)
  }

  /// The value that bytes of a row are; where the type's width is fixed, they have it.
  private func scalar(_ type: ScalarType, _ bytes: RawSpan) throws(StoreError) -> FieldValue {
    guard let value = type.swiftType.fieldValue(ofRow: bytes) else {
      throw fault(.rowValues, "the value is no \(type)")
    }
    return value
  }
}

extension Column {
  /// Its name without that of the composite it is in.
  func shortName(in composite: Column) -> String {
    String(field.name.utf8.dropFirst(composite.field.name.utf8.count + 1)) ?? field.name
  }
}

extension RowReader {
  /// Checks all of a record: that every field has a value of its type, that a null column has no bytes but
  /// zeros, and that nothing follows the key.
  ///
  /// - Throws: `.corrupt` (K1, R3, R4, R5); `.missing`, `.io` of blobs.
  /// - Complexity: O(bytes); it takes several times as long as reading.
  func check() throws(StoreError) {
    for (index, column) in layout.columns.enumerated() {
      if isNull(column.place) {
        try checkNull(column)
      } else if case .external(let type, _) = column.field.type {
        try checkExternal(column.place.index, of: type)
      } else if column.place.kind != .composite {
        _ = try value(index)
      }
    }
  }

  /// Checks that an external column has a value or refers to one. The content is read if it is a string, and
  /// blobs can be found.
  private func checkExternal(_ column: Int, of type: ScalarType) throws(StoreError) {
    let value = try external(column)
    switch value {
    case .waiting: throw fault(.rowExternal, "an external value waits to be stored")
    case .inline, .packed:
      let content = try blob(value).data()
      if type == .string, String(validating: content, as: UTF8.self) == nil {
        throw fault(.rowValues, "a string is not UTF-8")
      }
    case .reference(let reference):
      guard type == .string, let blob = try blobs?.blob(reference) else { return }
      if try !blob.isUTF8 { throw fault(.rowValues, "a string in a blob is not UTF-8") }
    }
  }

  private func checkNull(_ column: Column) throws(StoreError) {
    let isEmpty =
      switch column.place.kind {
      case .fixed: row.part(column.place.index, column.field.type.fixedWidth ?? 0).isZero
      case .variable: bytes(column.place.index).byteCount == 0
      case .key, .composite: true
      }
    guard isEmpty else { throw fault(.rowNulls, "\(column.field.name) is null and has bytes") }
  }
}

extension Blob {
  /// True if the content is UTF-8. It is read in pieces.
  var isUTF8: Bool {
    get throws(StoreError) {
      let reader = try reader()
      var bytes: [UInt8] = []
      while let piece = try reader.read(upTo: BlobLayout.frameLength) {
        bytes += piece
        let end = bytes.count - bytes.brokenOffCount
        guard String(validating: bytes[..<end], as: UTF8.self) != nil else { return false }
        bytes.removeFirst(end)
      }
      return bytes.isEmpty
    }
  }
}

extension [UInt8] {
  /// The bytes at the end that are the beginning of a character.
  fileprivate var brokenOffCount: Int {
    for length in 1...3 where length <= count {
      let byte = self[count - length]
      if byte & 0b1100_0000 == 0b1000_0000 { continue }
      let needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
      return needed > length ? length : 0
    }
    return 0
  }
}
