#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads a key part by part, whatever its bytes are.
///
/// A part that can be null is asked first whether it is; then it is read or skipped.
@safe struct KeyReader: ~Escapable {
  private let bytes: RawSpan
  private(set) var offset = 0
  /// Not counted, because all threads would count the same one; it outlives the reader, which depends on
  /// it.
  private unowned(unsafe) let uncountedLayout: RowLayout
  /// The place of the index whose entry the key is, in the record; nil for a record's own key.
  private let index: Int?

  @_lifetime(copy bytes, borrow layout)
  init(_ bytes: RawSpan, layout: borrowing RowLayout, index: Int? = nil) {
    self.bytes = bytes
    unsafe uncountedLayout = copy layout
    self.index = index
  }

  /// The rest of the key that was not read.
  var rest: RawSpan {
    @_lifetime(copy self)
    get { bytes.part(offset, bytes.byteCount - offset) }
  }

  /// - Throws: `.corrupt` (K1) unless the key ends here; so do all that read, where the bytes are none of
  ///   the type's.
  func finish() throws(StoreError) {
    guard offset == bytes.byteCount else {
      throw fault("\(bytes.byteCount - offset) bytes follow its last part")
    }
  }

  func fault(_ reason: String, _ invariant: Invariant = .keyParts) -> StoreError {
    let layout = unsafe uncountedLayout
    let tree = layout.record.name + (index.map { "." + layout.record.indexes[$0].name } ?? "")
    return .corrupt(.entry(tree: tree, key: bytes.array()), invariant: invariant, reason: reason)
  }
}

// MARK: Parts of fixed length

extension KeyReader {
  /// Returns true if the next part is null; then it is read.
  mutating func isNull(_ form: KeyForm) throws(StoreError) -> Bool {
    guard form.contains(.isOptional) else { return false }
    let marker = try word(UInt8.self, form)
    guard marker <= 1 else { throw fault("a byte that says whether there is a value is \(marker)") }
    return marker == 0
  }

  /// Reads a number that sorts as the value does.
  @inline(__always)
  mutating func word<Word: FixedWidthInteger & BitwiseCopyable>(
    _ type: Word.Type, _ form: KeyForm
  ) throws(StoreError) -> Word {
    let size = MemoryLayout<Word>.size
    try require(size)
    let word = bytes.load(offset, as: type).byteSwapped
    offset &+= size
    return form.contains(.isDescending) ? ~word : word
  }

  @inline(__always)
  private func require(_ count: Int) throws(StoreError) {
    guard count <= bytes.byteCount &- offset else { throw fault("it ends within a part") }
  }
}

// MARK: Parts of any length

extension KeyReader {
  /// The bytes of a string, a URL or data.
  mutating func run(_ form: KeyForm) throws(StoreError) -> [UInt8] {
    if form.isRaw {
      defer { offset = bytes.byteCount }
      return rest.array()
    }
    let mask: UInt8 = form.contains(.isDescending) ? 0xff : 0
    var run: [UInt8] = []
    while true {
      let byte = try byte(mask)
      if byte != 0 {
        run.append(byte)
        continue
      }
      switch try self.byte(mask) {
      case 0: return run
      case 0xff: run.append(0)
      case let other: throw fault("\(other) follows a zero")
      }
    }
  }

  mutating func string(_ form: KeyForm) throws(StoreError) -> String {
    if form.isRaw {
      defer { offset = bytes.byteCount }
      return try text(rest)
    }
    let run = try run(form)
    return try text(run.rawSpan)
  }

  mutating func url(_ form: KeyForm) throws(StoreError) -> URL {
    guard let url = URL(stored: try string(form)) else { throw fault("a URL is none") }
    return url
  }

  mutating func decimal(_ form: KeyForm) throws(StoreError) -> Decimal {
    let mask: UInt8 = form.contains(.isDescending) ? 0xff : 0
    guard let count = DecimalParts.keyLength(in: bytes, from: offset, mask: mask),
      let parts = DecimalParts(keyBytes: bytes.part(offset, count).array().map { $0 ^ mask })
    else { throw fault("a decimal is none, or not reduced") }
    offset += count
    return parts.decimal
  }

  private mutating func byte(_ mask: UInt8) throws(StoreError) -> UInt8 {
    try require(1)
    defer { offset += 1 }
    return bytes.load(offset, as: UInt8.self) ^ mask
  }

  private func text(_ bytes: RawSpan) throws(StoreError) -> String {
    guard let text = String(utf8: bytes) else { throw fault("a string is not UTF-8") }
    return text
  }
}

// MARK: Parts of any type

extension KeyReader {
  /// Reads past the next part.
  ///
  /// - Returns: True if it had a value.
  @discardableResult
  mutating func skip(_ column: KeyColumn) throws(StoreError) -> Bool {
    if try isNull(column.form) { return false }
    try skipValue(column)
    return true
  }

  /// Reads past the first `count` parts of a record's key.
  @inline(never)
  mutating func skip(_ count: Int) throws(StoreError) {
    for index in 0..<count { try skip(unsafe uncountedLayout.key.columns[index]) }
  }

  /// Reads past the next part, which is not null.
  mutating func skipValue(_ column: KeyColumn) throws(StoreError) {
    if let width = column.type.fixedWidth {
      try require(width)
      offset += width
    } else if column.type == .decimal {
      _ = try decimal(column.form)
    } else {
      try skipRun(column.form)
    }
  }

  private mutating func skipRun(_ form: KeyForm) throws(StoreError) {
    if form.isRaw {
      offset = bytes.byteCount
      return
    }
    let mask: UInt8 = form.contains(.isDescending) ? 0xff : 0
    while true {
      guard try byte(mask) == 0 else { continue }
      switch try byte(mask) {
      case 0: return
      case 0xff: continue
      case let other: throw fault("\(other) follows a zero")
      }
    }
  }

  mutating func value(_ column: KeyColumn) throws(StoreError) -> FieldValue {
    let form = column.form
    if try isNull(form) { return .null }
    return try column.type.swiftType.fieldValue(from: &self, as: form)
  }
}
