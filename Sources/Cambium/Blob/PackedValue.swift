#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value of an external field that lies in its row as one frame of zstd.
///
///     ┌───┬────────┬──────────┬────────┐
///     │ 2 │ length │ checksum │ frame  │
///     └───┴────────┴──────────┴────────┘
///
/// It is no blob: nothing refers to it, and a copy of the row has it.
struct PackedValue: Equatable, Sendable {
  /// The length of its content, at least 1.
  let length: Int
  /// The CRC-32C of the length and the frame.
  private let checksum: Checksum
  private let frame: Data

  /// The longest content.
  static var lengthMax: Int { BlobLayout.frameLength }
  /// The size of the bytes before the frame.
  private static let headerSize = 8

  init(_ frame: RawSpan, length: Int) {
    self.length = length
    self.frame = Data(copying: frame)
    checksum = Self.checksum(of: frame, length)
  }

  /// - Returns: nil if the bytes cannot be one.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount > Self.headerSize else { return nil }
    length = Int(bytes.load(0, as: UInt32.self))
    guard (1...Self.lengthMax).contains(length) else { return nil }
    checksum = Checksum(rawValue: bytes.load(4, as: UInt32.self))
    frame = Data(copying: bytes.part(Self.headerSize, bytes.byteCount - Self.headerSize))
  }

  func encode(to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + Self.headerSize + frame.count)
    bytes.append(integer: UInt32(length))
    bytes.append(integer: checksum.rawValue)
    bytes.append(contentsOf: frame)
  }

  /// Returns the content.
  ///
  /// - Throws: `.corrupt` (R5) at `place`; `.io` where there is no memory.
  func content(
    by contexts: ZstdContexts, at place: StoreError.CorruptPlace
  ) throws(StoreError) -> Data {
    guard Self.checksum(of: frame.bytes, length) == checksum else {
      throw .corrupt(
        place, invariant: .rowExternal, reason: "the checksum of a compressed value is wrong")
    }
    guard ZstdFrame.contentLength(of: frame.bytes) == UInt64(length) else {
      throw .corrupt(
        place, invariant: .rowExternal, reason: "a compressed value is not of \(length) bytes")
    }
    let memory = try BlobMemory(count: length)
    var content = memory.mutableBytes(0..<length)
    guard try contexts.decompress(frame.bytes, to: &content) else {
      throw .corrupt(
        place, invariant: .rowExternal, reason: "a compressed value cannot be decompressed")
    }
    return memory.data()
  }

  private static func checksum(of frame: RawSpan, _ length: Int) -> Checksum {
    var checksum = Checksum()
    checksum.update(UInt64(length))
    checksum.update(frame)
    return checksum
  }
}

/// The content of a packed value, which is decompressed when it is read.
final class PackedBlob: Sendable {
  let value: PackedValue
  private let place: StoreError.CorruptPlace
  /// Nil if the store says nothing of its blobs.
  private let crew: BlobCrew?

  /// - Parameter place: That of its row.
  init(_ value: PackedValue, at place: StoreError.CorruptPlace, _ crew: BlobCrew?) {
    self.value = value
    self.place = place
    self.crew = crew
  }

  /// - Throws: `.corrupt`, `.io`.
  func content() throws(StoreError) -> Data {
    // In a forked process the lock of the contexts may be held for ever.
    if let crew, !crew.isForked { return try value.content(by: crew.contexts, at: place) }
    return try value.content(by: ZstdContexts(capacity: 0), at: place)
  }
}
