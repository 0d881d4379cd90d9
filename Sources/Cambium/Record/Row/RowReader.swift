internal import FoundationEssentials

/// A record as it is stored: its key and its row, whose frame was checked.
///
/// Columns are then read one by one, each without the others; what a column holds is checked where it is
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

  /// - Parameter blobs: What finds values that lie outside the row, of the state that the row is of.
  /// - Throws: `.corrupt` where the row breaks R1, R2 or R3; `.newerFormat` where it begins with what
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

  /// The bytes of a variable column; none where it is null.
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
    guard let value = ExternalValue(decoding: bytes(column)) else {
      throw fault(.rowExternal, "an external value is neither bytes nor a reference")
    }
    return value
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
