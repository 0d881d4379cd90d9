/// Parts of the format that a store uses, as bits; each says which accesses a program that does not know it is allowed.
struct Features: Equatable, Sendable {
  /// An unknown bit changes nothing: the store may be read and written.
  var compatible: UInt64 = 0
  /// With an unknown bit the store may be read, not written.
  var readCompatible: UInt64 = 0
  /// With an unknown bit the store may not be opened.
  var incompatible: UInt64 = 0

  /// The bytes of the three masks in a file.
  static let size = 24

  /// The bits this version knows.
  static let known = Features()

  /// The accesses that are allowed to a store that uses `self`.
  var access: Access {
    if incompatible & ~Features.known.incompatible != 0 { return .refused }
    if readCompatible & ~Features.known.readCompatible != 0 { return .reading }
    return .writing
  }

  /// Throws if a file with these features may not be read.
  ///
  /// - Parameters:
  ///   - path: The store's.
  ///   - subject: What uses them, as the beginning of a sentence: "it", or "its log".
  /// - Throws: `.newerFormat`.
  func checkReadable(path: String, subject: String) throws(StoreError) {
    if access != .refused { return }
    throw .newerFormat(
      path: path, reason: "\(subject) uses features \(String(incompatible, radix: 2))")
  }

  enum Access: Equatable, Sendable {
    case refused
    case reading
    case writing
  }
}

extension Features {
  init(decoding bytes: RawSpan, at offset: Int) {
    compatible = bytes.load(offset, as: UInt64.self)
    readCompatible = bytes.load(offset + 8, as: UInt64.self)
    incompatible = bytes.load(offset + 16, as: UInt64.self)
  }

  init(reading reader: inout ByteReader) throws(StoreError) {
    self.init(decoding: try reader.run(Self.size), at: 0)
  }

  func encode(to bytes: inout MutableRawSpan, at offset: Int) {
    bytes.store(compatible, at: offset)
    bytes.store(readCompatible, at: offset + 8)
    bytes.store(incompatible, at: offset + 16)
  }
}
