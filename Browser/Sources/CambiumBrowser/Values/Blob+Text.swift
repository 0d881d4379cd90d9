import Cambium
import FoundationEssentials

extension Blob {
  /// Creates a blob of the UTF-8 of a string.
  init(utf8 text: String) { self.init(Data(text.utf8)) }

  /// Returns the first bytes of the content; all of them if it has fewer than `count`.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`.
  func beginning(_ count: Int) throws(StoreError) -> Data {
    try data(in: 0..<Swift.min(count, self.count))
  }
}

extension Data {
  /// The bytes as a text, if they are UTF-8 without control characters. A character that is cut off at the end is left out.
  var text: String? {
    // The last character has three bytes at most after its first.
    for cut in 0..<Swift.min(4, Swift.max(1, count)) {
      guard let text = String(validating: dropLast(cut), as: UTF8.self) else { continue }
      let isText = text.utf8.allSatisfy { $0 >= 0x20 || [0x09, 0x0a, 0x0d].contains($0) }
      return isText ? text : nil
    }
    return nil
  }
}
