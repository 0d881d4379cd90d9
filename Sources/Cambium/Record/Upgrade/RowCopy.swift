/// Most of what a conversion does, as copies of bytes: fixed columns that lie side by side in both layouts at once,
/// and so variable ones.
///
///     old   flags nulls │ a │ b │ c │      ends │ d │ e │
///                       └─┬─┘     │        ┌────┴───┘
///     new   flags nulls │ a │ b │ n │ c │  ends │ d │ e │ m │        n, m: the same in every row
///
/// What is the same in every row, it takes from a row that the conversion made of one without any values. What it
/// cannot do it leaves to the conversion: of a row with a composite that is null and has parts now which it had
/// not, and of long rows.
struct RowCopy: Sendable {
  private struct Block: Sendable {
    var source: Int
    var target: Int
    var count: Int
  }

  /// Variable columns, by their places among those.
  private struct Run: Sendable {
    /// -1 for one that is the same in every row.
    let source: Int
    let target: Int
    var count: Int
    /// What is the same in every row.
    let constant: [UInt8]
  }

  private struct NullMove: Sendable {
    let source: Int
    let target: Int
  }

  private let old: RowLayout
  private let new: RowLayout
  /// Flags, nulls and fixed columns of a row without values.
  private let start: [UInt8]
  private var blocks: [Block] = []
  private var widenings: [Widening] = []
  private var runs: [Run] = []
  private var nullMoves: [NullMove] = []
  /// Bits of the old row with which it is left to the conversion.
  private var leftBits: [Int] = []

  /// Nil where there is too much that is not copied.
  init?(
    _ conversion: any RowConverting, from old: RowLayout, to new: RowLayout
  ) throws(StoreError) {
    self.old = old
    self.new = new
    let (empty, made) = (RowWriter(), RowWriter())
    empty.begin(old)
    empty.finish()
    let key: [UInt8] = []
    try conversion.convert(key: key.rawSpan, row: empty.row, to: made)
    let constants = try RowReader(key: key.rawSpan, row: made.row, layout: new)
    start = made.row.part(0, new.fixedEnd).array()
    for column in new.columns {
      guard add(column, constants) else { return nil }
    }
  }
}

// MARK: Putting it together

extension RowCopy {
  /// False where it cannot be copied.
  private mutating func add(_ column: Column, _ constants: borrowing RowReader) -> Bool {
    guard let index = old.index(number: column.field.number) else {
      return addNew(column, constants)
    }
    let source = old.columns[index]
    guard source.field.composite == column.field.composite, source.place.kind == column.place.kind
    else { return false }
    if column.place.kind == .key { return source.field.type == column.field.type }
    if column.field.isOptional, let from = source.place.nullBit, let to = column.place.nullBit {
      nullMoves.append(NullMove(source: from, target: to))
    }
    if source.field.type != column.field.type {
      guard let widening = Widening(source, column) else { return false }
      widenings.append(widening)
    } else if column.place.kind == .fixed {
      addBlock(source.place.index, column.place.index, column.field.type.fixedWidth ?? 0)
    } else if column.place.kind == .variable {
      addRun(source.place.index, column.place.index)
    }
    return true
  }

  private mutating func addNew(_ column: Column, _ constants: borrowing RowReader) -> Bool {
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
      runs.append(
        Run(source: -1, target: place, count: 1, constant: constants.bytes(place).array()))
    }
    return true
  }

  private mutating func addBlock(_ source: Int, _ target: Int, _ count: Int) {
    if let last = blocks.indices.last, blocks[last].source + blocks[last].count == source,
      blocks[last].target + blocks[last].count == target
    {
      blocks[last].count += count
    } else {
      blocks.append(Block(source: source, target: target, count: count))
    }
  }

  private mutating func addRun(_ source: Int, _ target: Int) {
    if let last = runs.indices.last, runs[last].source >= 0,
      runs[last].source + runs[last].count == source
    {
      runs[last].count += 1
    } else {
      runs.append(Run(source: source, target: target, count: 1, constant: []))
    }
  }
}

// MARK: Running

extension RowCopy {
  /// Puts the new row together. False where that is left to the conversion.
  ///
  /// - Throws: `.corrupt` where the old row is none.
  @inline(__always)
  func run(key: RawSpan, row: RawSpan, to target: UpgradedRow) throws(StoreError) -> Bool {
    let (old, new) = (old, new)
    _ = try RowReader(key: key, row: row, layout: old)
    let hasNulls = hasNulls(row)
    if hasNulls, leftBits.contains(where: { isNull($0, row) }) { return false }
    let ends = RowEnds(row, old)
    var length = 0
    for run in runs {
      length &+=
        run.source < 0
        ? run.constant.count : ends.start(of: run.source &+ run.count) &- ends.start(of: run.source)
    }
    if length > 0xffff { return false }
    let widthCode = length > 0xff ? 1 : 0
    let variableStart = new.fixedEnd &+ new.variableCount &<< widthCode
    var bytes = unsafe target.begin(variableStart &+ length)
    bytes.copy(start.rawSpan, to: 0)
    bytes.store(UInt8(truncatingIfNeeded: widthCode), at: 0)
    for block in blocks { bytes.copy(row.part(block.source, block.count), to: block.target) }
    for widening in widenings { widening.run(row, &bytes) }
    if hasNulls { moveNulls(row, &bytes) }
    copyRuns(row, ends, widthCode, variableStart, &bytes)
    return true
  }

  @inline(__always)
  private func hasNulls(_ row: RawSpan) -> Bool {
    var bits: UInt8 = 0
    for byte in 0..<old.nullByteCount {
      bits |= row.load(RowLayout.nullsOffset &+ byte, as: UInt8.self)
    }
    return bits != 0
  }

  @inline(__always)
  private func isNull(_ bit: Int, _ row: RawSpan) -> Bool {
    row.load(RowLayout.nullsOffset &+ bit &>> 3, as: UInt8.self)
      & 1 &<< UInt8(truncatingIfNeeded: bit & 7) != 0
  }

  private func moveNulls(_ row: RawSpan, _ bytes: inout MutableRawSpan) {
    for move in nullMoves where isNull(move.source, row) {
      let offset = RowLayout.nullsOffset &+ move.target &>> 3
      let bits = bytes.bytes.load(offset, as: UInt8.self)
      bytes.store(bits | 1 &<< UInt8(truncatingIfNeeded: move.target & 7), at: offset)
    }
  }

  @inline(__always)
  private func copyRuns(
    _ row: RawSpan, _ ends: RowEnds, _ widthCode: Int, _ variableStart: Int,
    _ bytes: inout MutableRawSpan
  ) {
    let endsStart = new.fixedEnd
    var end = 0
    func store(_ end: Int, of column: Int, _ bytes: inout MutableRawSpan) {
      if widthCode == 0 {
        bytes.store(UInt8(truncatingIfNeeded: end), at: endsStart &+ column)
      } else {
        bytes.store(UInt16(truncatingIfNeeded: end), at: endsStart &+ column &* 2)
      }
    }
    for run in runs {
      if run.source < 0 {
        bytes.copy(run.constant.rawSpan, to: variableStart &+ end)
        end &+= run.constant.count
        store(end, of: run.target, &bytes)
        continue
      }
      let first = ends.start(of: run.source)
      let last = ends.start(of: run.source &+ run.count)
      bytes.copy(row.part(ends.variableStart &+ first, last &- first), to: variableStart &+ end)
      for column in 0..<run.count {
        store(
          end &+ ends.start(of: run.source &+ column &+ 1) &- first, of: run.target &+ column,
          &bytes)
      }
      end &+= last &- first
    }
  }
}

/// Where a row's variable columns end, which was checked.
private struct RowEnds: ~Escapable {
  private let row: RawSpan
  private let endsStart: Int
  private let widthCode: Int
  let variableStart: Int

  @inline(__always)
  @_lifetime(copy row)
  init(_ row: RawSpan, _ layout: borrowing RowLayout) {
    self.row = row
    endsStart = layout.fixedEnd
    widthCode = Int(row.load(0, as: UInt8.self))
    variableStart = endsStart &+ layout.variableCount &<< widthCode
  }

  /// Where a column begins, which is where the one before ends.
  @inline(__always)
  func start(of column: Int) -> Int {
    if column == 0 { return 0 }
    switch widthCode {
    case 0: return Int(row.load(endsStart &+ column &- 1, as: UInt8.self))
    case 1: return Int(row.load(endsStart &+ (column &- 1) &* 2, as: UInt16.self))
    default: return Int(row.load(endsStart &+ (column &- 1) &* 4, as: UInt32.self))
    }
  }
}
