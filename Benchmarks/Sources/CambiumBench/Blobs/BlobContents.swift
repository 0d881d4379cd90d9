import FoundationEssentials

/// The contents of blobs.
enum BlobContents {
  /// JSON as programs write it: names that come again, numbers and words that differ.
  static func text(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 256)
    while bytes.count < count {
      let (one, two) = (random.next(), random.next())
      bytes += #"{"id":""#.utf8
      append(hexadecimal: one, to: &bytes)
      bytes += #"","name":""#.utf8
      bytes += words[Int(two % 16)].utf8
      bytes += " ".utf8
      bytes += words[Int((two >> 8) % 16)].utf8
      bytes += #"","count":"#.utf8
      bytes += String((two >> 16) % 10_000).utf8
      bytes += #","isDone":false,"tags":["home","later"]},"#.utf8
      bytes.append(UInt8(ascii: "\n"))
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Content that cannot be compressed.
  static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      for index in 0..<count / 8 {
        unsafe buffer.baseAddress.map {
          unsafe UnsafeMutableRawPointer($0).storeBytes(
            of: random.next(), toByteOffset: 8 * index, as: UInt64.self)
        }
      }
      for index in count / 8 * 8..<count {
        unsafe buffer.initializeElement(at: index, to: UInt8(index % 251))
      }
      initialized = count
    }
  }

  private static let words = [
    "buy", "milk", "paint", "house", "letter", "answer", "garden", "bicycle", "window", "order",
    "flowers", "tax", "report", "friend", "dinner", "train",
  ]

  private static func append(hexadecimal value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      let digit = UInt8(value >> shift & 15)
      bytes.append(digit < 10 ? 48 + digit : 87 + digit)
    }
  }
}
