/// The exact size of a node of certain entries.
///
/// Every entry costs its head and what the header says of widths; which widths are fixed, and how
/// long the common prefix is, depends on all of them. The prefix is that of the first and the last
/// key, because keys ascend.
struct NodeMeasure {
  private let isBranch: Bool
  /// The entries, without a branch's first.
  private var keys: Range<Int>
  let prefixLength: Int
  private var keyLengthMin = Int.max
  private var keyLengthMax = 0
  private var tailBytes = 0
  private var valueLengthMin = Int.max
  private var valueLengthMax = 0
  private var valueBytes = 0
  private(set) var hasExternals = false

  /// Measures `entries[range]`. A branch's first separator belongs to its parent and is left out.
  init(_ entries: borrowing OpenEntries, _ range: Range<Int>) {
    isBranch = entries.isBranch
    keys = range.dropFirst(isBranch ? 1 : 0)
    prefixLength = Self.prefixLength(of: entries, keys)
    add(keys, of: entries)
  }

  /// Measures the same entries and those behind them up to `end`.
  func extended(to end: Int, of entries: borrowing OpenEntries) -> NodeMeasure {
    let all = keys.lowerBound - (isBranch ? 1 : 0)..<end
    guard !keys.isEmpty,
      Self.prefixLength(of: entries, keys.lowerBound..<end) == prefixLength
    else { return NodeMeasure(entries, all) }
    var measure = self
    measure.add(keys.upperBound..<end, of: entries)
    measure.keys = keys.lowerBound..<end
    return measure
  }

  private static func prefixLength(of entries: borrowing OpenEntries, _ keys: Range<Int>) -> Int {
    guard let first = keys.first, let last = keys.last else { return 0 }
    let key = entries.key(first)
    return key.commonPrefix(with: entries.key(last), atMost: key.byteCount)
  }

  private mutating func add(_ added: Range<Int>, of entries: borrowing OpenEntries) {
    for index in added {
      let keyLength = entries.keyLength(index)
      keyLengthMin = min(keyLengthMin, keyLength)
      keyLengthMax = max(keyLengthMax, keyLength)
      tailBytes &+= tailLength(keyLength)
      if isBranch { continue }
      let valueLength = entries.valueLength(index)
      valueLengthMin = min(valueLengthMin, valueLength)
      valueLengthMax = max(valueLengthMax, valueLength)
      valueBytes &+= valueLength
      hasExternals = hasExternals || entries.isExternal(index)
    }
  }

  /// The number of keys.
  var count: Int { keys.count }

  private func tailLength(_ keyLength: Int) -> Int { max(0, keyLength - prefixLength - 8) }

  /// The tail's length if all keys have the same, else nil.
  var tailWidth: Int? {
    if count == 0 { return 0 }
    let width = tailLength(keyLengthMin)
    return width == tailLength(keyLengthMax) ? width : nil
  }

  /// The value's length if all entries have the same, else nil.
  var valueWidth: Int? {
    if isBranch || count == 0 { return 0 }
    // A width equal to the mark for "varies" cannot be: a node is smaller than that.
    return valueLengthMin == valueLengthMax ? valueLengthMin : nil
  }

  /// How many bytes of the head are the key's if that is the same for all, else nil.
  var headLength: Int? {
    if count == 0 { return 0 }
    let length = min(8, keyLengthMin - prefixLength)
    return length == min(8, keyLengthMax - prefixLength) ? length : nil
  }

  var headsOffset: Int { Node.headerSize + (prefixLength + 7) & ~7 }

  /// Where the cells begin.
  var cellsOffset: Int {
    var offset = headsOffset + 8 * count
    if isBranch { offset += PageReference.size * (count + 1) }
    if tailWidth == nil || valueWidth == nil { offset += 2 * count }
    if tailWidth == nil && valueWidth == nil { offset += 2 * count }
    if headLength == nil { offset += count }
    if hasExternals { offset += (count + 7) / 8 }
    return offset
  }

  /// The node's size in bytes.
  var size: Int { cellsOffset + tailBytes + valueBytes }
}
