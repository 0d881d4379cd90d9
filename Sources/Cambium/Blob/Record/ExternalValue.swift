internal import FoundationEssentials

/// The value of an external field in its column of a row: the value if it is short, else a reference to it.
///
///     ┌───┬──────────┐   ┌───┬──────────┬────────┬──────────┐
///     │ 0 │ value    │   │ 1 │ identity │ length │ checksum │
///     └───┴──────────┘   └───┴──────────┴────────┴──────────┘
enum ExternalValue: Equatable {
  case inline(Data)
  case reference(BlobReference)
  /// Only while a row is put together: the number of a value that is still to be stored, among those beside the
  /// row. No store has it.
  case waiting(Int)

  private enum Tag {
    static let inline: UInt8 = 0
    static let reference: UInt8 = 1
    static let waiting: UInt8 = 2
  }

  /// Values in memory up to this size are in the row until it is known whether they stay.
  static var inlineMax: Int { 64 << 10 }

  /// - Returns: nil if the bytes are neither.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return nil }
    let rest = bytes.part(1, bytes.byteCount - 1)
    switch bytes.load(0, as: UInt8.self) {
    case Tag.inline: self = .inline(Data(copying: rest))
    case Tag.reference:
      guard let reference = BlobReference(decoding: rest) else { return nil }
      self = .reference(reference)
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
    case .reference(let reference):
      bytes.append(Tag.reference)
      reference.encode(to: &bytes)
    case .waiting(let number):
      bytes.append(Tag.waiting)
      bytes.append(integer: UInt32(truncatingIfNeeded: number))
    }
    return bytes
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
  /// - Throws: `.corrupt` where the row is damaged, and what `body` throws.
  func forEachReference(
    key: RawSpan, row: RawSpan, _ body: (BlobReference) throws(StoreError) -> Void
  ) throws(StoreError) {
    let layout = self
    let reader = try RowReader(key: key, row: row, layout: layout)
    for index in external {
      let place = columns[index].place
      if reader.isNull(place) { continue }
      if case .reference(let reference) = try reader.external(place.index) { try body(reference) }
    }
  }
}
