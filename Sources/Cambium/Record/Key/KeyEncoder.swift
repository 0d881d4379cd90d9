internal import FoundationEssentials

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
      appendExactly(Lowercase.bytes(of: bytes).rawSpan, form)
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

  /// Stores `bytes` with FF behind each 00, and 00 00 behind all.
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
      reason: "what is not a number has no place in an order, so it cannot be in a key")
  }

  /// Names the part that takes most of it, and what the key begins with.
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
