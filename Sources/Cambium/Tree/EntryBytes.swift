/// An entry that lies among others, at a multiple of eight bytes.
///
///     key length u16, tag u16, value length u32; key, value
enum EntryBytes {
  static let unit = 8
  private static let headerSize = 8

  /// What an entry takes, up to where the next may begin.
  @inline(__always)
  static func size(_ keyLength: Int, _ valueLength: Int) -> Int {
    (headerSize + keyLength + valueLength + unit - 1) / unit * unit
  }

  /// Writes an entry whose value comes in two parts.
  @inline(__always)
  static func write(
    _ key: RawSpan, _ start: RawSpan, _ value: RawSpan, tag: UInt16,
    to bytes: inout MutableRawSpan, at place: Int
  ) {
    bytes.store(UInt16(key.byteCount), at: place)
    bytes.store(tag, at: place + 2)
    bytes.store(UInt32(start.byteCount + value.byteCount), at: place + 4)
    bytes.copy(key, to: place + headerSize)
    bytes.copy(start, to: place + headerSize + key.byteCount)
    bytes.copy(value, to: place + headerSize + key.byteCount + start.byteCount)
  }

  @_lifetime(copy entry)
  @inline(__always)
  static func key(_ entry: RawSpan) -> RawSpan {
    entry.part(headerSize, Int(entry.load(0, as: UInt16.self)))
  }

  @_lifetime(copy entry)
  @inline(__always)
  static func value(_ entry: RawSpan) -> RawSpan {
    entry.part(
      headerSize + Int(entry.load(0, as: UInt16.self)), Int(entry.load(4, as: UInt32.self)))
  }

  static func store(_ tag: UInt16, of bytes: inout MutableRawSpan, at place: Int) {
    bytes.store(tag, at: place + 2)
  }

  @inline(__always)
  static func tag(_ entry: RawSpan) -> UInt16 { entry.load(2, as: UInt16.self) }
}
