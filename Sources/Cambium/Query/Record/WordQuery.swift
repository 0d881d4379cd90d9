/// Words that a text is searched for.
struct WordQuery: Sendable {
  /// Each once, in the order of their bytes.
  let words: [Word]

  struct Word: Hashable, Sendable {
    let bytes: [UInt8]
    /// True if it is also found as the beginning of a word.
    let isPrefix: Bool
  }

  /// - Parameter text: UTF-8.
  init(_ text: [UInt8]) {
    var words: [Word] = []
    var reader = WordReader(text.rawSpan)
    while reader.next() {
      let word = Word(bytes: reader.word.array(), isPrefix: reader.isBeforeAsterisk)
      if !words.contains(word) { words.append(word) }
    }
    self.words = words.sortedRarely { $0.bytes.rawSpan.compare($1.bytes.rawSpan) < 0 }
  }

  /// Returns true if a text has all of the words.
  ///
  /// - Complexity: O(length × words).
  func matches(_ text: RawSpan) -> Bool {
    // A bit for each word that was not found: of most queries, all at once.
    for start in stride(from: 0, to: words.count, by: 64) {
      let count = min(64, words.count - start)
      var missing = UInt64.max >> UInt64(64 - count)
      var reader = WordReader(text)
      while missing != 0 {
        guard reader.next() else { return false }
        var left = missing
        while left != 0 {
          let place = left.trailingZeroBitCount
          left &= left &- 1
          if words[start &+ place].isFound(as: reader.word) { missing &= ~(1 << UInt64(place)) }
        }
      }
    }
    return true
  }
}

extension WordQuery.Word {
  @inline(__always)
  fileprivate func isFound(as word: RawSpan) -> Bool {
    guard isPrefix ? word.byteCount >= bytes.count : word.byteCount == bytes.count else {
      return false
    }
    return word.begins(with: bytes.rawSpan)
  }
}
