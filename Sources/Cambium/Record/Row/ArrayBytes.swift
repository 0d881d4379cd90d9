#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The elements of an array column, read one by one.
///
/// Elements of fixed width are packed. Others stand after a byte that says how wide the numbers are, 0, 1
/// or 2 for 1, 2 or 4 bytes; their count; and where each ends, counted from the first one's beginning.
/// No element is no byte.
struct ArrayReader: ~Escapable {
  let count: Int
  private let bytes: RawSpan
  private let fixedWidth: Int?
  private let widthCode: Int

  /// - Returns: nil if the bytes are no array of the type's. The elements are checked where they are
  ///   read.
  @_lifetime(copy bytes)
  init?(_ bytes: RawSpan, of type: ScalarType) {
    self.bytes = bytes
    fixedWidth = type.fixedWidth
    if let width = type.fixedWidth {
      guard bytes.byteCount % width == 0 else { return nil }
      count = bytes.byteCount / width
      widthCode = 0
      return
    }
    guard bytes.byteCount > 0 else {
      count = 0
      widthCode = 0
      return
    }
    widthCode = Int(bytes.load(0, as: UInt8.self))
    guard widthCode <= 2, bytes.byteCount > 1 << widthCode else { return nil }
    count = Self.number(bytes, at: 1, widthCode)
    guard count > 0, count < bytes.byteCount >> widthCode else { return nil }
    let start = 1 + (count + 1) << widthCode
    guard start <= bytes.byteCount else { return nil }
    var last = 0
    for index in 0..<count {
      let end = Self.number(bytes, at: 1 + (index + 1) << widthCode, widthCode)
      guard end >= last else { return nil }
      last = end
    }
    guard start + last == bytes.byteCount else { return nil }
  }

  /// The bytes of one element, as a row has them.
  @_lifetime(copy self)
  func element(_ index: Int) -> RawSpan {
    precondition(index >= 0 && index < count, "there is no such element")
    if let fixedWidth { return bytes.part(index * fixedWidth, fixedWidth) }
    let start = index == 0 ? 0 : end(of: index - 1)
    return bytes.part(1 + (count + 1) << widthCode + start, end(of: index) - start)
  }

  /// The bits of an element of a fixed width, which is that of the word.
  @inline(__always)
  func word<Word: FixedWidthInteger & BitwiseCopyable>(_ index: Int, as _: Word.Type) -> Word {
    bytes.load(index * MemoryLayout<Word>.size, as: Word.self)
  }

  /// Returns true if one of the elements has these bytes.
  func contains(_ element: RawSpan) -> Bool {
    if let fixedWidth, fixedWidth != element.byteCount { return false }
    switch fixedWidth {
    case 1: return containsWord(element.load(0, as: UInt8.self))
    case 2: return containsWord(element.load(0, as: UInt16.self))
    case 4: return containsWord(element.load(0, as: UInt32.self))
    case 8: return containsWord(element.load(0, as: UInt64.self))
    default:
      for index in 0..<count where self.element(index).equals(element) { return true }
      return false
    }
  }

  @inline(__always)
  private func containsWord<Word: FixedWidthInteger & BitwiseCopyable>(_ wanted: Word) -> Bool {
    for index in 0..<count where word(index, as: Word.self) == wanted { return true }
    return false
  }

  /// The places of the elements in which two arrays of one type differ: those before them are the same in both, and so are those
  /// after them.
  ///
  /// - Complexity: O(bytes).
  func difference(from old: ArrayReader) -> (old: Range<Int>, new: Range<Int>) {
    let shorter = min(count, old.count)
    var start = 0
    if let fixedWidth {
      start = bytes.commonPrefix(with: old.bytes, atMost: shorter * fixedWidth) / fixedWidth
    } else {
      while start < shorter, element(start).equals(old.element(start)) { start += 1 }
    }
    var (oldEnd, newEnd) = (old.count, count)
    while oldEnd > start, newEnd > start, element(newEnd - 1).equals(old.element(oldEnd - 1)) {
      oldEnd -= 1
      newEnd -= 1
    }
    return (start..<oldEnd, start..<newEnd)
  }

  /// The bytes of the array without the elements that are among others, in one pass.
  ///
  /// - Parameter others: Elements as a row has them.
  func bytes(without others: Set<[UInt8]>, of type: ScalarType) -> [UInt8] {
    let sole = others.count == 1 ? others.first : nil
    func isLeftOut(_ element: RawSpan) -> Bool {
      if let sole { return element.equals(sole.rawSpan) }
      return others.contains(element.array())
    }
    var kept: [UInt8] = []
    if fixedWidth != nil {
      kept.reserveCapacity(bytes.byteCount)
      for index in 0..<count where !isLeftOut(element(index)) { kept.append(element(index)) }
      return kept
    }
    var writer = ArrayWriter(of: type)
    for index in 0..<count where !isLeftOut(element(index)) { writer.append(element(index)) }
    return writer.finish()
  }

  private func end(of index: Int) -> Int {
    Self.number(bytes, at: 1 + (index + 1) << widthCode, widthCode)
  }

  private static func number(_ bytes: borrowing RawSpan, at offset: Int, _ widthCode: Int) -> Int {
    switch widthCode {
    case 0: Int(bytes.load(offset, as: UInt8.self))
    case 1: Int(bytes.load(offset, as: UInt16.self))
    default: Int(bytes.load(offset, as: UInt32.self))
    }
  }
}

/// Puts the bytes of an array column together, element by element; `ArrayReader` says what they are.
struct ArrayWriter {
  private let type: ScalarType
  private var elements: [UInt8] = []
  private var ends: [Int] = []

  init(of type: ScalarType) {
    self.type = type
  }

  /// Appends an element of a fixed width, which is the type's.
  mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
    precondition(type.fixedWidth == MemoryLayout<Value>.size, "elements are of another width")
    elements.append(integer: value)
  }

  /// Appends the bytes of an element whose width varies.
  mutating func append(_ bytes: RawSpan) {
    precondition(type.fixedWidth == nil, "elements are of one width")
    elements.append(bytes)
    ends.append(elements.count)
  }

  /// The array; the next begins.
  mutating func finish() -> [UInt8] {
    defer {
      elements = []
      ends = []
    }
    guard !ends.isEmpty else { return elements }
    let highest = max(ends.count, elements.count)
    var bytes: [UInt8] = [highest <= 0xff ? 0 : highest <= 0xffff ? 1 : 2]
    for number in [ends.count] + ends {
      switch bytes[0] {
      case 0: bytes.append(UInt8(number))
      case 1: bytes.append(integer: UInt16(number))
      // An array longer than 4 GiB is refused when it is put into a row.
      default: bytes.append(integer: UInt32(truncatingIfNeeded: number))
      }
    }
    bytes.append(contentsOf: elements)
    return bytes
  }
}
