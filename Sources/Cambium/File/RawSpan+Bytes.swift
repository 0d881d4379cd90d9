internal import CCambium

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// Little-endian integers and byte runs in raw memory. Every access is bounds-checked; one outside
// ends the process, so positions that come from a file are checked before they get here.

extension RawSpan {
  /// The integer at `offset`, stored little-endian.
  @inline(__always)
  func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Value.Type)
    -> Value
  {
    unsafe Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  @inline(__always)
  @_lifetime(copy self)
  func part(_ offset: Int, _ count: Int) -> RawSpan {
    extracting(offset..<offset &+ count)
  }

  /// Compares the bytes of `self` with those of `other`: negative if they come before, 0 if equal, else positive.
  @inline(__always)
  func compare(_ other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    guard common >= 8, common <= 16 else { return compareAny(other) }
    // Keys of a usual length: their first eight bytes, then their last eight, which may overlap.
    let heads = (head(0), other.head(0))
    if heads.0 != heads.1 { return heads.0 < heads.1 ? -1 : 1 }
    let ends = (head(common - 8), other.head(common - 8))
    if ends.0 != ends.1 { return ends.0 < ends.1 ? -1 : 1 }
    return byteCount - other.byteCount
  }

  private func compareAny(_ other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    if common > 0 {
      let order = unsafe withUnsafeBytes { one in
        unsafe other.withUnsafeBytes { two in
          guard let one = one.baseAddress, let two = two.baseAddress else { return Int32(0) }
          return unsafe memcmp(one, two, common)
        }
      }
      if order != 0 { return Int(order) }
    }
    return byteCount - other.byteCount
  }

  /// True if the last bytes are those of `end`, which is no longer than `self`.
  @inline(__always)
  func ends(with end: RawSpan) -> Bool {
    part(byteCount &- end.byteCount, end.byteCount).hasSameBytes(as: end)
  }

  /// True if the first bytes are those of `start`, which is no longer than `self`.
  @inline(__always)
  func begins(with start: RawSpan) -> Bool {
    part(0, start.byteCount).hasSameBytes(as: start)
  }

  /// Compares spans of one length: short ones by two words that may overlap.
  @inline(__always)
  private func hasSameBytes(as other: RawSpan) -> Bool {
    let count = byteCount
    if count == 0 { return true }
    guard count >= 8, count <= 16 else { return compareAny(other) == 0 }
    let end = count &- 8
    return load(0, as: UInt64.self) == other.load(0, as: UInt64.self)
      && load(end, as: UInt64.self) == other.load(end, as: UInt64.self)
  }

  func equals(_ other: RawSpan) -> Bool {
    byteCount == other.byteCount && compare(other) == 0
  }

  /// How many bytes the two begin with in common, at most `limit`.
  func commonPrefix(with other: RawSpan, atMost limit: Int) -> Int {
    let end = min(limit, byteCount, other.byteCount)
    var index = 0
    while index &+ 8 <= end {
      let difference = load(index, as: UInt64.self) ^ other.load(index, as: UInt64.self)
      if difference != 0 { return index &+ difference.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
    while index < end, load(index, as: UInt8.self) == other.load(index, as: UInt8.self) {
      index += 1
    }
    return index
  }

  /// The eight bytes from `offset` on as a big-endian number, so that numbers sort as the bytes do.
  /// Bytes past the end count as zero.
  @inline(__always)
  func head(_ offset: Int) -> UInt64 {
    if offset + 8 <= byteCount {
      return unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    return shortHead(offset)
  }

  private func shortHead(_ offset: Int) -> UInt64 {
    var head: UInt64 = 0
    for index in offset..<offset + 8 {
      head <<= 8
      if index < byteCount { head |= UInt64(load(index, as: UInt8.self)) }
    }
    return head
  }
}

extension RawSpan {
  /// True if there is nothing but zeros.
  var isZero: Bool {
    let words = byteCount / 8
    return (0..<words).allSatisfy { load($0 * 8, as: UInt64.self) == 0 }
      && (words * 8..<byteCount).allSatisfy { load($0, as: UInt8.self) == 0 }
  }

  /// A copy of the bytes.
  func array() -> [UInt8] {
    unsafe withUnsafeBytes { unsafe [UInt8]($0) }
  }
}

extension RawSpan {
  /// Asks the processor for the cache lines of `count` bytes from `offset` on, without waiting.
  @inline(__always)
  func prefetch(_ offset: Int, _ count: Int) {
    unsafe part(offset, count).withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      // A loop over a stride is not inlined everywhere, and then takes longer than its work.
      var offset = 0
      while offset < bytes.count {
        unsafe cambium_prefetch(base + offset)
        offset &+= 64
      }
    }
  }
}

extension MutableRawSpan {
  @inline(__always)
  mutating func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  /// Copies all of `bytes` to `offset`.
  @inline(__always)
  mutating func copy(_ bytes: RawSpan, to offset: Int) {
    precondition(offset >= 0 && offset + bytes.byteCount <= byteCount, "outside the span")
    unsafe withUnsafeMutableBytes { target in
      unsafe bytes.withUnsafeBytes { source in
        guard let to = target.baseAddress, let from = source.baseAddress else { return }
        unsafe memcpy(to + offset, from, source.count)
      }
    }
  }

  /// Sets the bytes in `range` to zero.
  mutating func zero(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the span")
    unsafe withUnsafeMutableBytes { target in
      guard let base = target.baseAddress else { return }
      _ = unsafe memset(base + range.lowerBound, 0, range.count)
    }
  }
}

extension [UInt8] {
  /// The array's bytes, for as long as it is not changed.
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// Writes `one`, and `other` right after it, over the bytes at `offset`.
  mutating func replace(at offset: Int, with one: RawSpan, _ other: RawSpan) {
    unsafe withUnsafeMutableBytes { bytes in
      var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
      span.copy(one, to: offset)
      span.copy(other, to: offset + one.byteCount)
    }
  }

  /// Replaces the contents by a copy of `bytes`, keeping the memory.
  mutating func assign(_ bytes: RawSpan) {
    removeAll(keepingCapacity: true)
    append(bytes)
  }

  mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
