#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UUID {
  /// Creates the key of a record that a step makes of another: the same for ever for the same old key and the same name.
  ///
  /// ```swift
  /// TransformRecords("Aircraft", into: "Aircraft", "FlightData") { old, emit in
  ///   let id = UUID(of: try old["id"], in: "FlightData")
  ///   try emit(DynamicRecord("FlightData", ["id": .uuid(id), "data": old["flightData"]]))
  ///   var aircraft = old.record
  ///   aircraft["flightParameters"] = .uuid(id)
  ///   try emit(aircraft)
  /// }
  /// ```
  ///
  /// Closures of steps may be called for a record more than once, so keys that they make must be functions of the old record;
  /// `UUID()` is none. Of several fields, pass an array.
  ///
  /// It is a UUID of version 8 (RFC 9562): 122 bits of the SipHash-2-4 of 128 bits, with the key “Cambium format 1”, of
  ///
  ///     length of the name in bytes, u32 │ the name in UTF-8 │ the old key
  ///
  /// in which the old key is one byte that says its kind, and its bytes, numbers lowest byte first: 0 null; 1 a boolean, u8;
  /// 2 a whole number, i64; 3 one above those, u64; 4 another number or 5 a date, as a double; 6 a decimal or 7 a string or
  /// 8 a URL as UTF-8; 9 the 16 bytes of a UUID; 10 bytes; 11 an array and 12 a composite, whose parts are in the order of
  /// their names, each after its name: a u32 for their number, and for each element, and each name, a u32 for its length,
  /// and it. Of the hash, bytes 0 to 15 are the UUID's, with the version in the high half of byte 6 and the
  /// variant in the high two bits of byte 8. Of a blob, only the length counts, as a whole number: it is no key.
  ///
  /// - Parameters:
  ///   - key: The key of the old record.
  ///   - record: The name of the records that are made: two types made of one record have different keys.
  /// - Complexity: O(length of the key).
  public init(of key: FieldValue, in record: String) {
    var bytes: [UInt8] = []
    bytes.append(measured: Array(record.utf8))
    bytes.append(key: key)
    var hash: [UInt8] = []
    hash.append(SipHash128(of: bytes.rawSpan))
    hash[6] = hash[6] & 0x0f | 0x80
    hash[8] = hash[8] & 0x3f | 0x80
    self.init(
      uuid: (
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7], hash[8], hash[9],
        hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
      ))
  }
}

extension [UInt8] {
  fileprivate mutating func append(measured bytes: [UInt8]) {
    append(integer: UInt32(truncatingIfNeeded: bytes.count))
    append(contentsOf: bytes)
  }

  private mutating func append(_ kind: UInt8, _ text: String) {
    append(kind)
    append(contentsOf: text.utf8)
  }

  /// Appends what a key is: its kind and its bytes.
  fileprivate mutating func append(key: FieldValue) {
    switch key {
    case .null: append(0)
    case .boolean(let value): append(contentsOf: [1, value ? 1 : 0])
    case .integer(let value): append(whole: value)
    case .unsigned(let value):
      if let value = Int64(exactly: value) { return append(whole: value) }
      append(3)
      append(integer: value)
    case .float(let value): append(4, Double(value))
    case .double(let value): append(4, value)
    case .date(let value): append(5, value.timeIntervalSinceReferenceDate)
    case .decimal(let value): append(6, "\(value)")
    case .string(let value): append(7, value)
    case .url(let value): append(8, value.absoluteString)
    case .uuid(let value):
      append(9)
      append(contentsOf: value.bytes)
    case .data(let value):
      append(10)
      append(contentsOf: value)
    case .blob(let value): append(whole: Int64(value.count))
    case .array(let values):
      append(11)
      append(integer: UInt32(truncatingIfNeeded: values.count))
      for value in values { append(measured: Self(key: value)) }
    case .composite(let parts):
      append(12)
      append(integer: UInt32(truncatingIfNeeded: parts.count))
      for (name, value) in parts.sortedRarely(by: {
        $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
      }) {
        append(measured: Array(name.utf8))
        append(measured: Self(key: value))
      }
    }
  }

  private init(key: FieldValue) {
    self = []
    append(key: key)
  }

  private mutating func append(whole value: Int64) {
    append(2)
    append(integer: value)
  }

  private mutating func append(_ kind: UInt8, _ value: Double) {
    append(kind)
    append(integer: value.bitPattern)
  }
}

extension UUID {
  fileprivate var bytes: [UInt8] {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    return [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
  }
}
