#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Puts rows together, one after the other in the same memory.
///
/// After `begin`, fixed columns are stored in any order, variable ones appended in theirs; columns left
/// out are zero or empty. `finish` makes the row whole. It has one owner, which uses it on one thread at
/// a time.
@usableFromInline
final class RowWriter {
  // One owner uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var memory = ScratchBytes()
  /// After the bytes so far.
  @exclusivity(unchecked) private var end = 0
  /// The offset of the ends, after flags, nulls and fixed columns.
  @exclusivity(unchecked) private var endsStart = 0
  /// The offset of the variable columns' bytes.
  @exclusivity(unchecked) private var variableStart = 0
  @exclusivity(unchecked) private var variableCount = 0
  /// The variable column to come next.
  @exclusivity(unchecked) private var next = 0
  /// 0, 1 or 2: ends take 1, 2 or 4 bytes. Most rows are short, so ends begin narrow, and the bytes
  /// after them are moved when one does not fit.
  @exclusivity(unchecked) private var endWidthCode = 0

  /// The values of external columns that are still to be stored, which the row only numbers.
  var waiting: [Blob] { unsafe waitingBlobs }
  @exclusivity(unchecked) private var waitingBlobs: [Blob] = []
  /// The values of the record's tracked properties; nil if it has none.
  var tracked: UnstoredEntry? { unsafe trackedValues }
  @exclusivity(unchecked) private var trackedValues: UnstoredEntry?
  /// Of the row that got too long, the longest variable column so far, and its bytes.
  @exclusivity(unchecked) private(set) var longest: (column: Int, count: Int) = (0, 0)
  /// The variable column that did not take its value.
  @exclusivity(unchecked) private var refused = -1

  init() {}

  /// Begins a row: no column has a value yet, and none is null.
  func begin(_ layout: RowLayout) {
    unsafe endsStart = layout.fixedEnd
    unsafe variableCount = layout.variableCount
    unsafe variableStart = endsStart &+ variableCount
    unsafe end = variableStart
    unsafe next = 0
    unsafe endWidthCode = 0
    if unsafe !waitingBlobs.isEmpty { unsafe waitingBlobs = [] }
    if unsafe trackedValues != nil { unsafe trackedValues = nil }
    unsafe memory.reserve(variableStart, keeping: 0)
    unsafe memory.zero(variableStart)
  }

  /// Makes the row whole; it is `row` until the next begins.
  func finish() {
    unsafe endValues(before: variableCount)
    var target = unsafe room()
    unsafe target.store(UInt8(truncatingIfNeeded: endWidthCode), at: 0)
  }

  /// Gives memory back that an unusually long row has needed. There is no row then until the next begins.
  func trim() {
    unsafe end = 0
    unsafe waitingBlobs = []
    unsafe trackedValues = nil
    unsafe memory.trim()
  }

  /// The row that `finish` made whole.
  var row: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let span = unsafe memory.bytes(end)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}

// MARK: Tracked properties

extension RowWriter {
  /// Says that the record has tracked properties, whose values are the default unless `track` is called.
  func beginTracking() { unsafe trackedValues = UnstoredEntry() }

  func track(_ value: any UnstoredValue, as name: String) {
    unsafe trackedValues?[name] = value
  }
}

// MARK: Nulls and fixed columns

extension RowWriter {
  /// Makes a column null, and all that is in it if it is a composite.
  func setNull(_ column: Column) {
    for bit in column.nullBits { setNull(bit: bit) }
  }

  /// Makes a column null that can be.
  @inline(__always)
  func setNull(at place: ColumnPlace) {
    if let bit = place.nullBit { setNull(bit: bit) }
  }

  @inline(__always)
  func setNull(bit: Int) {
    let offset = RowLayout.nullsOffset &+ bit &>> 3
    precondition(unsafe bit >= 0 && offset < endsStart, "the row has no such bit")
    var target = unsafe room()
    let bits = target.bytes.load(offset, as: UInt8.self)
    target.store(bits | 1 &<< UInt8(truncatingIfNeeded: bit & 7), at: offset)
  }

  /// Stores the value of a fixed column, given by its offset.
  @inline(__always)
  func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    let end = offset &+ MemoryLayout<Value>.size
    precondition(unsafe offset > 0 && end <= endsStart, "the row has no such column")
    var target = unsafe room()
    target.store(value, at: offset)
  }
}

// MARK: Variable columns

extension RowWriter {
  /// Appends the value of a variable column; those before it that have none are empty.
  ///
  /// - Throws: `.limitExceeded` where the row gets too long.
  @inline(__always)
  func append(_ bytes: RawSpan, to column: Int) throws(StoreError) {
    precondition(unsafe column >= next && column < variableCount, "columns come in their order")
    endValues(before: column)
    let count = bytes.byteCount
    try makeRoom(for: count)
    var target = unsafe room()
    unsafe target.copy(bytes, to: end)
    unsafe end = end &+ count
    endValues(before: column &+ 1)
  }

  @inline(__always)
  func append(_ value: String, to column: Int) throws(StoreError) {
    try unsafe append(value.utf8Span.span.bytes, to: column)
  }

  /// Appends the value of an external column. Where it is long, or lies outside already, the row only numbers it.
  func append(_ blob: Blob, to column: Int) throws(StoreError) {
    let value: ExternalValue
    if blob.source == nil, blob.count <= ExternalValue.shortMax {
      value = .inline(try blob.data())
    } else {
      value = unsafe .waiting(waitingBlobs.count)
      unsafe waitingBlobs.append(blob)
    }
    try append(value.encoded.rawSpan, to: column)
  }

  /// Begins a row that has the nulls and the fixed columns of another of the same layout.
  func begin(_ layout: RowLayout, like row: RawSpan) {
    begin(layout)
    var target = unsafe room()
    let start = RowLayout.nullsOffset
    target.copy(row.part(start, layout.fixedEnd - start), to: start)
  }

  /// Makes `count` bytes fit after those so far.
  @inline(__always)
  private func makeRoom(for count: Int) throws(StoreError) {
    let length = unsafe end &+ count &- variableStart
    if unsafe length > Self.longest(endWidthCode) { try widenEnds(for: length) }
    unsafe memory.reserve(end &+ count, keeping: end)
  }

  /// The highest end that fits into 1 or 2 bytes, or into a row at all.
  @inline(__always)
  private static func longest(_ widthCode: Int) -> Int {
    widthCode == 0 ? 0xff : widthCode == 1 ? 0xffff : StoreError.Limit.valueLength.bound
  }

  @inline(never)
  private func widenEnds(for length: Int) throws(StoreError) {
    let size = unsafe endsStart + 4 * variableCount + length
    guard size <= StoreError.Limit.valueLength.bound else {
      noteLongest(next: length)
      throw .limitExceeded(.valueLength, found: size)
    }
    let widthCode = length > 0xffff ? 2 : 1
    let wideStart = unsafe endsStart + variableCount << widthCode
    let count = unsafe end - variableStart
    unsafe memory.reserve(wideStart + count, keeping: end)
    unsafe memory.move(count, from: variableStart, to: wideStart)
    // Back to front, since wide ends lie over the narrow ones after them.
    for column in unsafe (0..<next).reversed() {
      setEnd(end(of: column), of: column, widthCode)
    }
    unsafe endWidthCode = widthCode
    unsafe variableStart = wideStart
    unsafe end = wideStart + count
  }
}

extension RowWriter {
  /// Notes the longest column of a row that gets too long.
  ///
  /// - Parameter next: Where the values end with that of the next column.
  private func noteLongest(next length: Int) {
    var start = 0
    unsafe longest = (0, 0)
    for column in unsafe 0...next {
      let end = unsafe column == next ? length : end(of: column)
      if unsafe end - start > longest.count { unsafe longest = (column, end - start) }
      start = end
    }
  }

  /// The error of a value that a variable column does not take, for `naming`.
  func refusal(ofColumn column: Int, _ reason: String) -> StoreError {
    unsafe refused = column
    return .invalidValue(record: "", field: nil, reason: reason)
  }

  /// The error of a row that got too long, or of a value that a column does not take, with the record's key and the field to
  /// blame; any other as it is.
  @inline(never)
  func naming(_ error: StoreError, _ key: RawSpan, _ layout: RowLayout) -> StoreError {
    switch error {
    case .limitExceeded(.valueLength, let found):
      return unsafe layout.rowTooLong(found, longest, key: key)
    case .invalidValue("", nil, let reason):
      let refused = unsafe refused
      let column = layout.columns.first {
        $0.place.kind == .variable && $0.place.index == refused
      }
      return .invalidValue(
        record: layout.record.name, field: column?.field.name,
        reason: "\(reason). The record \(layout.text(ofKey: key)) was not saved")
    default: return error
    }
  }
}

extension RowLayout {
  /// - Parameter longest: A variable column, and its bytes.
  func rowTooLong(
    _ count: Int, _ longest: (column: Int, count: Int), key: RawSpan
  ) -> StoreError {
    let limit = StoreError.Limit.valueLength.bound
    let column = columns.first {
      $0.place.kind == .variable && $0.place.index == longest.column
    }
    let whose = "of the record \(text(ofKey: key).shortened)"
    // If the record were short enough without it.
    guard let column, count - longest.count <= limit / 2 else {
      return .invalidValue(
        record: record.name, field: nil,
        reason: "its fields take \(count) bytes \(whose), and \(limit) is the most that a record"
          + " takes. Store long fields with `storage: .external()`, or in records of their own")
    }
    let isExternal = [.string, .binaryData].contains(column.field.type)
    return .invalidValue(
      record: record.name, field: column.field.name,
      reason: "it takes \(longest.count) bytes \(whose), and \(limit) is the most that a record"
        + " takes. "
        + (isExternal
          ? "Store the field with `storage: .external()`, or less in it"
          : "Store less in it, or divide it into records of their own"))
  }

  /// The error of a row that is too long, though each of its columns could be stored.
  func rowTooLong(_ row: RawSpan, key: RawSpan) -> StoreError {
    var longest = (column: 0, count: 0)
    if let reader = try? RowReader(key: key, row: row, layout: self) {
      for column in 0..<variableCount where reader.bytes(column).byteCount > longest.count {
        longest = (column, reader.bytes(column).byteCount)
      }
    }
    return rowTooLong(row.byteCount, longest, key: key)
  }
}

extension String {
  /// At most its first forty characters.
  var shortened: String { count > 40 ? prefix(40) + "…" : self }
}

// MARK: Ends

extension RowWriter {
  /// The memory, to be written to; use it before anything else is done with it.
  @unsafe @_lifetime(borrow self)
  @inline(__always)
  private func room() -> MutableRawSpan {
    let span = unsafe memory.mutableBytes()
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Ends the values of the columns before `column` where the bytes so far do.
  @inline(__always)
  private func endValues(before column: Int) {
    while unsafe next < column {
      unsafe setEnd(end &- variableStart, of: next, endWidthCode)
      unsafe next &+= 1
    }
  }

  @inline(__always)
  private func setEnd(_ value: Int, of column: Int, _ widthCode: Int) {
    var target = unsafe room()
    let offset = unsafe endsStart &+ column &<< widthCode
    switch widthCode {
    case 0: target.store(UInt8(truncatingIfNeeded: value), at: offset)
    case 1: target.store(UInt16(truncatingIfNeeded: value), at: offset)
    default: target.store(UInt32(truncatingIfNeeded: value), at: offset)
    }
  }

  private func end(of column: Int) -> Int {
    let bytes = row
    let offset = unsafe endsStart + column << endWidthCode
    return switch unsafe endWidthCode {
    case 0: Int(bytes.load(offset, as: UInt8.self))
    case 1: Int(bytes.load(offset, as: UInt16.self))
    default: Int(bytes.load(offset, as: UInt32.self))
    }
  }
}

// Columns of any type, from callers without a Swift type for them.

extension RowWriter {
  /// Gives a column of the row its value; variable columns come in their order. Fields of the key and
  /// composites that are not null have no bytes of their own.
  ///
  /// - Throws: `.invalidValue` where the value is not one of the column's type; `.limitExceeded`.
  func set(_ value: FieldValue, of column: Column, in layout: RowLayout) throws(StoreError) {
    if case .null = value {
      guard column.field.isOptional else {
        throw layout.refusal(column, "it has no value, and is not optional")
      }
      return setNull(column)
    }
    switch column.place.kind {
    case .key: return
    case .composite:
      guard case .composite = value else { throw layout.refusal(column, value) }
    case .fixed, .variable:
      guard try put(value, column) else { throw layout.refusal(column, value) }
    }
  }

  private func put(_ value: FieldValue, _ column: Column) throws(StoreError) -> Bool {
    let index = column.place.index
    if let scalar = column.scalar { return try scalar.swiftType.put(value, in: self, at: index) }
    if column.field.type.isExternal {
      guard let blob = try value.external(as: column.field.type) else { return false }
      try append(blob, to: index)
    } else {
      guard let bytes = value.rowBytes(of: column.field.type) else { return false }
      try append(bytes.rawSpan, to: index)
    }
    return true
  }
}

extension FieldValue {
  /// Returns the value that an external column of the type stores for it; nil if it is of another type.
  ///
  /// - Throws: `.corrupt`, `.io` of a blob that is read to see whether it is UTF-8.
  fileprivate func external(as type: ColumnType) throws(StoreError) -> Blob? {
    switch (type, self) {
    case (.external(of: .binaryData, _), .blob(let value)): value
    case (.external(of: .binaryData, _), .data(let value)): Blob(value)
    case (.external(of: .string, _), .string(let value)): Blob(Data(value.utf8))
    case (.external(of: .string, _), .blob(let value)): try value.isUTF8 ? value : nil
    default: nil
    }
  }

  /// Returns the bytes that a row has of it in a column of the type; nil if it is of another type, or out of its range.
  func rowBytes(of type: ColumnType) -> [UInt8]? {
    switch (type, self) {
    case (.transformable, .data(let value)): return Array(value)
    case (.array(let element), .array(let values)):
      let type = element.swiftType
      var writer = ArrayWriter(of: element)
      for value in values {
        guard type.append(value, to: &writer) else { return nil }
      }
      return writer.finish()
    default: return type.scalar?.swiftType.rowBytes(of: self)
    }
  }
}

extension RowLayout {
  func refusal(_ column: Column, _ value: FieldValue) -> StoreError {
    refusal(column, "\(value) is not \(column.field.type), or out of its range")
  }

  func queryRefusal(_ column: Column, _ value: FieldValue) -> StoreError {
    queryRefusal(column, "\(value) is not \(column.field.type), or out of its range")
  }

  func queryRefusal(_ column: Column, _ reason: String) -> StoreError {
    .invalidQuery(record: record.name, field: column.field.name, reason: reason)
  }

  func refusal(_ column: Column, _ reason: String) -> StoreError {
    .invalidValue(record: record.name, field: column.field.name, reason: reason)
  }
}

/// The rules of a record's fields, tested on its row.
struct RowRules: Sendable {
  private let rules: [(column: Int, rule: CheckedRule)]

  var isEmpty: Bool { rules.isEmpty }

  /// - Parameter fields: Those of the layout's record, as described.
  init(_ fields: [DescribedField], _ layout: RowLayout) {
    rules = fields.flatMap { field in
      let column = layout.index(named: field.name) ?? 0
      return field.rules.map { (column, $0) }
    }
  }

  /// - Throws: `.invalidValue` for the first rule that is broken; `.corrupt`.
  func check(_ row: RowWriter, _ key: KeyEncoder, _ layout: RowLayout) throws(StoreError) {
    if rules.isEmpty { return }
    let reader = try RowReader(key: key.key, row: row.row, layout: layout)
    for (column, rule) in rules {
      let value = try reader.value(column)
      if !rule.holds(for: value) {
        throw .invalidValue(
          record: layout.record.name, field: layout.columns[column].field.name,
          reason: "\(value) is not valid: it \(rule.text)")
      }
    }
  }
}
