/// Most of what a conversion does, as copies of bytes: fixed columns that lie side by side in both layouts at once,
/// and so variable ones.
///
///     old   flags nulls │ a │ b │ c │      ends │ d │ e │
///                       └─┬─┘     │        ┌────┴───┘
///     new   flags nulls │ a │ b │ n │ c │  ends │ d │ e │ m │        n, m: the same in every row
///
/// What is the same in every row, it takes from a row that the conversion made of one without any values, and what fixed
/// columns get in place of null from rows in which they are. What it cannot do it leaves to the conversion: of a row with a
/// composite that is null and has parts now which it had not, and of long rows.
///
/// It is made for what is read row by row: nothing in it is counted or allocated on the way of a row.
final class RowCopy: Sendable {
  fileprivate struct Block: Sendable, BitwiseCopyable {
    var source: Int
    var target: Int
    var count: Int
  }

  /// Variable columns, by their places among those.
  fileprivate struct Run: Sendable, BitwiseCopyable {
    /// -1 for one that is the same in every row.
    let source: Int
    let target: Int
    var count: Int
    /// Of what is the same in every row: where it is, and its bytes.
    let constant: Int
    let constantCount: Int
  }

  fileprivate struct NullMove: Sendable, BitwiseCopyable {
    let source: Int
    let target: Int
  }

  /// A fixed column that has a value where it was null.
  fileprivate struct Fill: Sendable, BitwiseCopyable {
    let bit: Int
    let target: Int
    /// Where the value is among what is the same in every row.
    let constant: Int
    let count: Int
  }

  private let nullByteCount: Int
  private let unusedNulls: UInt8
  /// The offset of the old row's ends.
  private let oldEndsStart: Int
  private let oldVariableCount: Int
  /// The offset of the new row's ends.
  private let endsStart: Int
  private let variableCount: Int
  /// Flags, nulls and fixed columns of a row without values, then values of variable columns and those of nulls.
  private let constants: [UInt8]
  private let blocks: [Block]
  private let widenings: [Widening]
  private let runs: [Run]
  private let nullMoves: [NullMove]
  private let fills: [Fill]
  /// True if the variable columns are the same in both layouts, so that they are copied at once, with their ends.
  private let keepsVariable: Bool
  /// True if bits of the old row depend on one another: then a row with nulls is left to the conversion.
  private let hasImpliedNulls: Bool
  /// Bits of the old row with which it is left to the conversion.
  private let leftBits: [Int]

  /// Fails if there is too much that is not copied.
  ///
  /// - Parameters:
  ///   - required: The numbers of fields that had to have a value in between, or have to now: where they are null, they
  ///     are filled, or a row is left to the conversion.
  ///   - convert: Puts a new row together from an old one, by its key.
  init?(
    from old: RowLayout, to new: RowLayout, required: Set<UInt32>,
    _ convert: (RawSpan, RawSpan, RowWriter) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (empty, made) = (RowWriter(), RowWriter())
    empty.begin(old)
    empty.finish()
    let key: [UInt8] = []
    try convert(key.rawSpan, empty.row, made)
    let constants = try RowReader(key: key.rawSpan, row: made.row, layout: new)
    var making = RowCopyBuilder(
      old: old, new: new, constants: made.row.part(0, new.fixedEnd).array())
    for column in new.columns {
      guard making.add(column, constants) else { return nil }
    }
    for column in old.columns where required.contains(column.field.number) {
      let isFilled = try making.fill(column) { writer throws(StoreError) in
        empty.begin(old)
        empty.setNull(column)
        empty.finish()
        try convert(key.rawSpan, empty.row, writer)
      }
      if !isFilled { making.leave(rowsWithNull: column) }
    }
    nullByteCount = old.nullByteCount
    unusedNulls = old.unusedNulls
    hasImpliedNulls = !old.impliedNulls.isEmpty
    oldEndsStart = old.fixedEnd
    oldVariableCount = old.variableCount
    endsStart = new.fixedEnd
    variableCount = new.variableCount
    self.constants = making.constants
    blocks = making.blocks
    widenings = making.widenings
    runs = making.runs
    nullMoves = making.nullMoves
    fills = making.fills
    leftBits = making.leftBits
    keepsVariable =
      old.variableCount == new.variableCount
      && runs.allSatisfy { $0.source == 0 && $0.target == 0 && $0.count == new.variableCount }
  }
}

// MARK: Putting it together

private struct RowCopyBuilder {
  let old: RowLayout
  let new: RowLayout
  private(set) var constants: [UInt8]
  private(set) var blocks: [RowCopy.Block] = []
  private(set) var widenings: [Widening] = []
  private(set) var runs: [RowCopy.Run] = []
  private(set) var nullMoves: [RowCopy.NullMove] = []
  private(set) var fills: [RowCopy.Fill] = []
  private(set) var leftBits: [Int] = []

  init(old: RowLayout, new: RowLayout, constants: [UInt8]) {
    self.old = old
    self.new = new
    self.constants = constants
  }

  /// False where it cannot be copied.
  mutating func add(_ column: Column, _ empty: borrowing RowReader) -> Bool {
    guard let index = old.index(number: column.field.number) else {
      return addNew(column, empty)
    }
    let source = old.columns[index]
    guard source.field.composite == column.field.composite, source.place.kind == column.place.kind
    else { return false }
    if column.place.kind == .key { return source.field.type == column.field.type }
    if column.field.isOptional, let from = source.place.nullBit, let to = column.place.nullBit {
      nullMoves.append(RowCopy.NullMove(source: from, target: to))
    }
    if source.field.type.stored != column.field.type.stored {
      guard let widening = Widening(source, column) else { return false }
      widenings.append(widening)
    } else if column.place.kind == .fixed {
      addBlock(source.place.index, column.place.index, column.field.type.fixedWidth ?? 0)
    } else if column.place.kind == .variable {
      addRun(source.place.index, column.place.index)
    }
    return true
  }

  private mutating func addNew(_ column: Column, _ empty: borrowing RowReader) -> Bool {
    if column.place.kind == .key { return false }
    var outer = column.field.composite
    while let number = outer {
      if let index = old.index(number: number) {
        if let bit = old.columns[index].place.nullBit { leftBits.append(bit) }
        break
      }
      outer = new.index(number: number).flatMap { new.columns[$0].field.composite }
    }
    if column.place.kind == .variable {
      let place = column.place.index
      let bytes = empty.bytes(place)
      runs.append(
        RowCopy.Run(
          source: -1, target: place, count: 1, constant: constants.count,
          constantCount: bytes.byteCount))
      constants.append(bytes)
    }
    return true
  }

  /// Finds the value that a fixed column in no composite gets where it is null.
  ///
  /// - Parameter convert: Puts the new row together of an old one in which the column is null.
  /// - Returns: False if that is left to the conversion, which may refuse it.
  mutating func fill(
    _ column: Column, _ convert: (RowWriter) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard let bit = column.place.nullBit, column.field.composite == nil,
      let index = new.index(number: column.field.number)
    else { return false }
    let target = new.columns[index]
    guard target.place.kind == .fixed, let width = target.field.type.fixedWidth else {
      return false
    }
    let made = RowWriter()
    // What the conversion refuses, it refuses again by the name of the record.
    guard (try? convert(made)) != nil else { return false }
    if let newBit = target.place.nullBit {
      if made.row.isNull(bit: newBit) { return false }
      nullMoves.removeAll { $0.target == newBit }
    }
    fills.append(
      RowCopy.Fill(
        bit: bit, target: target.place.index, constant: constants.count, count: width))
    constants.append(made.row.part(target.place.index, width))
    return true
  }

  mutating func leave(rowsWithNull column: Column) {
    if let bit = column.place.nullBit { leftBits.append(bit) }
  }

  private mutating func addBlock(_ source: Int, _ target: Int, _ count: Int) {
    if let last = blocks.indices.last, blocks[last].source + blocks[last].count == source,
      blocks[last].target + blocks[last].count == target
    {
      blocks[last].count += count
    } else {
      blocks.append(RowCopy.Block(source: source, target: target, count: count))
    }
  }

  private mutating func addRun(_ source: Int, _ target: Int) {
    if let last = runs.indices.last, runs[last].source >= 0,
      runs[last].source + runs[last].count == source
    {
      runs[last].count += 1
    } else {
      runs.append(
        RowCopy.Run(source: source, target: target, count: 1, constant: 0, constantCount: 0))
    }
  }
}

// MARK: Running

extension RowCopy {
  /// Puts the new row together. False where that is left to the conversion, which says what is wrong with a row
  /// that is none.
  func run(row: RawSpan, to target: UpgradedRow) -> Bool {
    guard let ends = RowEnds(row, at: oldEndsStart, count: oldVariableCount),
      row.load(nullByteCount, as: UInt8.self) & unusedNulls == 0
    else { return false }
    let hasNulls = hasNulls(row)
    if hasNulls, hasImpliedNulls || isLeft(row) { return false }
    if keepsVariable {
      let rest = row.byteCount &- oldEndsStart
      var bytes = unsafe target.begin(endsStart &+ rest)
      copyFixed(row, hasNulls: hasNulls, &bytes)
      bytes.copy(row.part(oldEndsStart, rest), to: endsStart)
      bytes.store(row.load(0, as: UInt8.self), at: 0)
      return true
    }
    let length = length(ends)
    if length > 0xffff { return false }
    let widthCode = length > 0xff ? 1 : 0
    let variableStart = endsStart &+ variableCount &<< widthCode
    var bytes = unsafe target.begin(variableStart &+ length)
    copyFixed(row, hasNulls: hasNulls, &bytes)
    bytes.store(UInt8(truncatingIfNeeded: widthCode), at: 0)
    copyRuns(row, ends, widthCode, variableStart, &bytes)
    return true
  }

  /// Copies what comes before the ends, but for the flags.
  @inline(__always)
  private func copyFixed(_ row: RawSpan, hasNulls: Bool, _ bytes: inout MutableRawSpan) {
    constants.copy(0, endsStart, to: &bytes, at: 0)
    for index in 0..<blocks.count {
      let block = blocks[index]
      bytes.copy(row.part(block.source, block.count), to: block.target)
    }
    for index in 0..<widenings.count { widenings[index].run(row, &bytes) }
    if hasNulls {
      moveNulls(row, &bytes)
      fillNulls(row, &bytes)
    }
  }

  @inline(__always)
  private func hasNulls(_ row: RawSpan) -> Bool {
    var bits: UInt8 = 0
    for byte in 0..<nullByteCount {
      bits |= row.load(RowLayout.nullsOffset &+ byte, as: UInt8.self)
    }
    return bits != 0
  }

  private func isLeft(_ row: RawSpan) -> Bool {
    for index in 0..<leftBits.count where isNull(leftBits[index], row) { return true }
    return false
  }

  @inline(__always)
  private func isNull(_ bit: Int, _ row: RawSpan) -> Bool {
    row.load(RowLayout.nullsOffset &+ bit &>> 3, as: UInt8.self)
      & 1 &<< UInt8(truncatingIfNeeded: bit & 7) != 0
  }

  @inline(__always)
  private func length(_ ends: RowEnds) -> Int {
    var length = 0
    for index in 0..<runs.count {
      let run = runs[index]
      length &+=
        run.source < 0
        ? run.constantCount : ends.start(of: run.source &+ run.count) &- ends.start(of: run.source)
    }
    return length
  }

  private func moveNulls(_ row: RawSpan, _ bytes: inout MutableRawSpan) {
    for index in 0..<nullMoves.count {
      let move = nullMoves[index]
      guard isNull(move.source, row) else { continue }
      let offset = RowLayout.nullsOffset &+ move.target &>> 3
      let bits = bytes.bytes.load(offset, as: UInt8.self)
      bytes.store(bits | 1 &<< UInt8(truncatingIfNeeded: move.target & 7), at: offset)
    }
  }

  private func fillNulls(_ row: RawSpan, _ bytes: inout MutableRawSpan) {
    for index in 0..<fills.count where isNull(fills[index].bit, row) {
      constants.copy(fills[index].constant, fills[index].count, to: &bytes, at: fills[index].target)
    }
  }

  @inline(__always)
  private func copyRuns(
    _ row: RawSpan, _ ends: RowEnds, _ widthCode: Int, _ variableStart: Int,
    _ bytes: inout MutableRawSpan
  ) {
    var end = 0
    for index in 0..<runs.count {
      let run = runs[index]
      if run.source < 0 {
        constants.copy(run.constant, run.constantCount, to: &bytes, at: variableStart &+ end)
        end &+= run.constantCount
        store(end, of: run.target, widthCode, &bytes)
        continue
      }
      let first = ends.start(of: run.source)
      let last = ends.start(of: run.source &+ run.count)
      bytes.copy(row.part(ends.variableStart &+ first, last &- first), to: variableStart &+ end)
      for column in 0..<run.count {
        let next = ends.start(of: run.source &+ column &+ 1)
        store(end &+ next &- first, of: run.target &+ column, widthCode, &bytes)
      }
      end &+= last &- first
    }
  }

  @inline(__always)
  private func store(
    _ end: Int, of column: Int, _ widthCode: Int, _ bytes: inout MutableRawSpan
  ) {
    if widthCode == 0 {
      bytes.store(UInt8(truncatingIfNeeded: end), at: endsStart &+ column)
    } else {
      bytes.store(UInt16(truncatingIfNeeded: end), at: endsStart &+ column &* 2)
    }
  }
}

extension [UInt8] {
  @inline(__always)
  fileprivate func copy(
    _ start: Int, _ count: Int, to bytes: inout MutableRawSpan, at offset: Int
  ) {
    bytes.copy(rawSpan.part(start, count), to: offset)
  }
}

/// The ends of a row's variable columns, which are checked.
private struct RowEnds: ~Escapable {
  private let row: RawSpan
  private let endsStart: Int
  private let isNarrow: Bool
  let variableStart: Int

  /// Fails if they do not ascend to the end of the row, and for long rows.
  @inline(__always)
  @_lifetime(copy row)
  init?(_ row: RawSpan, at endsStart: Int, count: Int) {
    guard row.byteCount >= endsStart &+ count else { return nil }
    let flags = row.load(0, as: UInt8.self)
    self.row = row
    self.endsStart = endsStart
    isNarrow = flags == 0
    variableStart = endsStart &+ count &<< Int(flags & 1)
    guard flags <= 1, row.byteCount >= variableStart else { return nil }
    var last = 0
    for column in 0..<count {
      let end = start(of: column &+ 1)
      if end < last { return nil }
      last = end
    }
    guard last == row.byteCount &- variableStart else { return nil }
  }

  /// Returns the beginning of a column, which is the end of the one before.
  @inline(__always)
  func start(of column: Int) -> Int {
    if column == 0 { return 0 }
    if isNarrow { return Int(row.load(endsStart &+ column &- 1, as: UInt8.self)) }
    return Int(row.load(endsStart &+ (column &- 1) &* 2, as: UInt16.self))
  }
}
