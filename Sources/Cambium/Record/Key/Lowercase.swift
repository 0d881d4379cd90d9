/// Strings made lowercase for keys: each scalar by Unicode's simple mapping, whatever stands beside it.
enum Lowercase {
  /// The bytes of the lowercase string, for bytes that are UTF-8; others stay as they are.
  static func bytes(of bytes: RawSpan) -> [UInt8] {
    var result = bytes.array()
    if result.allSatisfy({ $0 < 0x80 }) {
      for index in result.indices where (0x41...0x5a).contains(result[index]) {
        result[index] |= 0x20
      }
      return result
    }
    guard let string = String(utf8: bytes) else { return result }
    result.removeAll(keepingCapacity: true)
    for scalar in string.unicodeScalars {
      result.append(
        contentsOf: UTF8.encode(mapping(of: scalar)) ?? UTF8.encodedReplacementCharacter)
    }
    return result
  }

  /// The scalar in lowercase; itself if it has no case.
  ///
  /// - Complexity: O(log of the table's runs).
  static func mapping(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    let runs = LowercaseTable.runs
    var low = 0
    var high = runs.count / 4
    while low < high {
      let middle = (low + high) / 2
      if runs[4 * middle + 1] < scalar.value { low = middle + 1 } else { high = middle }
    }
    guard 4 * low < runs.count, runs[4 * low] <= scalar.value else { return scalar }
    let distance = scalar.value - runs[4 * low]
    guard distance % runs[4 * low + 2] == 0 else { return scalar }
    return Unicode.Scalar(runs[4 * low + 3] + distance) ?? scalar
  }
}
