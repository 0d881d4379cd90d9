#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The value of an external field in its column of a row: the value, as it is or compressed, or a reference to it.
///
///     ┌───┬──────────┐   ┌───┬──────────┬────────┬──────────┐   ┌───┬────────┬──────────┬────────┐
///     │ 0 │ value    │   │ 1 │ identity │ length │ checksum │   │ 2 │ length │ checksum │ frame  │
///     └───┴──────────┘   └───┴──────────┴────────┴──────────┘   └───┴────────┴──────────┴────────┘
enum ExternalValue: Equatable {
  case inline(Data)
  case packed(PackedValue)
  case reference(BlobReference)
  /// Only while a row is put together: the number of a value that is still to be stored, among those beside the
  /// row. No store has it.
  case waiting(Int)

  private enum Tag {
    static let inline: UInt8 = 0
    static let reference: UInt8 = 1
    static let packed: UInt8 = 2
    /// Of a later format: a frame that needs a dictionary.
    static let packedByDictionary: UInt8 = 3
    static let waiting: UInt8 = 255
  }

  /// Values in memory up to this size are in the row until it is known whether they stay. Longer ones wait beside it, as
  /// many of them would make it too long. They are not compressed either.
  static var shortMax: Int { 4 << 10 }

  /// - Returns: nil if the bytes are none of these.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return nil }
    let rest = bytes.part(1, bytes.byteCount - 1)
    switch bytes.load(0, as: UInt8.self) {
    case Tag.inline: self = .inline(Data(copying: rest))
    case Tag.reference:
      guard let reference = BlobReference(decoding: rest) else { return nil }
      self = .reference(reference)
    case Tag.packed:
      guard let value = PackedValue(decoding: rest) else { return nil }
      self = .packed(value)
    case Tag.waiting:
      guard rest.byteCount == 4 else { return nil }
      self = .waiting(Int(rest.load(0, as: UInt32.self)))
    default: return nil
    }
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .inline(let data):
      bytes.reserveCapacity(data.count + 1)
      bytes.append(Tag.inline)
      bytes.append(contentsOf: data)
    case .packed(let value):
      bytes.append(Tag.packed)
      value.encode(to: &bytes)
    case .reference(let reference):
      bytes.append(Tag.reference)
      reference.encode(to: &bytes)
    case .waiting(let number):
      bytes.append(Tag.waiting)
      bytes.append(integer: UInt32(truncatingIfNeeded: number))
    }
    return bytes
  }

  /// True if the bytes are, or claim to be, the value itself and not a reference to it. Looks at one byte.
  static func isInRow(_ bytes: RawSpan) -> Bool {
    guard bytes.byteCount > 0 else { return false }
    let tag = bytes.load(0, as: UInt8.self)
    return tag == Tag.inline || tag == Tag.packed
  }

  /// True if only a newer format can have the bytes.
  static func isNewer(_ bytes: RawSpan) -> Bool {
    bytes.byteCount > 0 && bytes.load(0, as: UInt8.self) == Tag.packedByDictionary
  }
}

/// A blob as rows refer to it: wherever it lies, it is this one, and no other has its bytes.
struct BlobReference: Hashable, Sendable {
  /// The size of a reference in bytes.
  static let size = BlobIdentity.size + 12

  let identity: BlobIdentity
  /// The length of its content.
  let length: UInt64
  /// The checksum of its tail.
  let checksum: Checksum

  init(_ identity: BlobIdentity, _ place: BlobPlace) {
    self.identity = identity
    length = place.length
    checksum = place.checksum
  }

  /// - Returns: nil if there are more bytes or less.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount == Self.size else { return nil }
    identity = BlobIdentity(
      low: bytes.load(0, as: UInt64.self), high: bytes.load(8, as: UInt64.self))
    length = bytes.load(16, as: UInt64.self)
    checksum = Checksum(rawValue: bytes.load(24, as: UInt32.self))
  }

  func encode(to bytes: inout [UInt8]) {
    identity.encode(to: &bytes)
    bytes.append(integer: length)
    bytes.append(integer: checksum.rawValue)
  }

  /// Returns true if a blob of the same identity is the one that is meant.
  func isOf(_ place: BlobPlace) -> Bool { length == place.length && checksum == place.checksum }
}

extension RowLayout {
  /// Calls `body` with every reference in a row, column by column.
  ///
  /// - Throws: `.corrupt` where the row is damaged, and errors of `body`.
  // Dynamic, so that it is compiled once: the optimizer would make a copy for every closure that it is called with.
  dynamic func forEachReference(
    key: RawSpan, row: RawSpan, _ body: (BlobReference) throws(StoreError) -> Void
  ) throws(StoreError) {
    let layout = self
    let reader = try RowReader(key: key, row: row, layout: layout)
    for index in external {
      let place = columns[index].place
      if reader.isNull(place) || ExternalValue.isInRow(reader.bytes(place.index)) { continue }
      if case .reference(let reference) = try reader.external(place.index) { try body(reference) }
    }
  }
}

/// A type of properties that external fields can have.
protocol ExternalContent: Sendable {
  /// The blob that is stored of it.
  var blob: Blob { get }
  /// - Returns: nil if the content is no such value.
  /// - Throws: `.corrupt`, `.io` where it has to be read.
  static func content(of blob: Blob) throws(StoreError) -> Self?
}

extension Blob: ExternalContent {
  var blob: Blob { self }
  static func content(of blob: Blob) -> Blob? { blob }
}

extension Data: ExternalContent {
  var blob: Blob { Blob(self) }
  static func content(of blob: Blob) throws(StoreError) -> Data? { try blob.data() }
}

extension String: ExternalContent {
  var blob: Blob { Blob(Data(utf8)) }
  static func content(of blob: Blob) throws(StoreError) -> String? {
    String(validating: try blob.data(), as: UTF8.self)
  }
}

/// Properties of external fields: a `Blob` is what finds its content, `Data` and `String` are read with the record.
struct ExternalConversion<Value: ExternalContent>: ValueConversion {
  let place: FieldPlace

  func stored(_ value: Value) -> ExternalBlob { ExternalBlob(blob: value.blob) }

  func value(_ stored: ExternalBlob) throws(StoreError) -> Value {
    guard let value = try Value.content(of: stored.blob) else {
      throw place.invalid("its content is not UTF-8")
    }
    return value
  }
}

/// The value of an external column.
struct ExternalBlob: ColumnValue {
  let blob: Blob

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(blob, to: column)
  }

  static func get(
    from row: borrowing RowReader, at column: Int
  ) throws(StoreError) -> ExternalBlob {
    let value = try row.external(column)
    return ExternalBlob(blob: try row.blob(value))
  }
}

extension RowReader {
  /// Returns the content of an external value, to be read.
  ///
  /// - Throws: `.corrupt` where nothing is there that it refers to.
  func blob(_ value: ExternalValue) throws(StoreError) -> Blob {
    switch value {
    case .inline(let data): return Blob(data)
    case .packed(let value):
      let place = StoreError.CorruptPlace.entry(tree: layout.record.name, key: key.array())
      return Blob(PackedBlob(value, at: place, blobs?.crew))
    case .reference(let reference):
      guard let blobs else {
        throw fault(.rowExternal, "it refers to a blob, and the store says nothing of its blobs")
      }
      return try blobs.blob(reference)
    case .waiting(let number):
      guard let blobs, blobs.waiting.indices.contains(number) else {
        throw fault(.rowExternal, "an external value waits to be stored")
      }
      return blobs.waiting[number]
    }
  }

  /// The content of an external string.
  func string(of blob: Blob) throws(StoreError) -> String {
    guard let text = try String.content(of: blob) else {
      throw fault(.rowValues, "a string is not UTF-8")
    }
    return text
  }
}
