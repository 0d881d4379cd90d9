/// Words that a text is searched for.
struct WordQuery: Sendable {
  /// Each once, in the order of their bytes.
  let words: [Word]
  /// The lengths of the words that are found as beginnings, ascending: few, since words are cut.
  private let prefixLengths: [Int]

  struct Word: Hashable, Sendable {
    let bytes: [UInt8]
    /// True if it is also found as the beginning of a word.
    let isPrefix: Bool
  }

  /// - Parameter text: UTF-8.
  init(_ text: [UInt8]) {
    var words: Set<Word> = []
    var reader = WordReader(text.rawSpan)
    while reader.next() {
      let word = Word(bytes: reader.word.array(), isPrefix: reader.isBeforeAsterisk)
      words.insert(word)
    }
    self.words = words.sortedRarely { one, other in
      let order = one.bytes.rawSpan.compare(other.bytes.rawSpan)
      return order == 0 ? !one.isPrefix && other.isPrefix : order < 0
    }
    prefixLengths = Set(self.words.lazy.filter(\.isPrefix).map(\.bytes.count)).sortedRarely()
  }

  /// Returns true if a text has all of the words.
  ///
  /// - Complexity: O(length × min(64, words)), with the logarithm of the words if there are more.
  func matches(_ text: RawSpan) -> Bool {
    if words.isEmpty { return true }
    if words.count > 64 { return matchesMany(text) }
    // A bit for each word that was not found.
    var missing = UInt64.max >> UInt64(64 - words.count)
    var reader = WordReader(text)
    while missing != 0 {
      guard reader.next() else { return false }
      var left = missing
      while left != 0 {
        let place = left.trailingZeroBitCount
        left &= left &- 1
        if words[place].isFound(as: reader.word) { missing &= ~(1 << UInt64(place)) }
      }
    }
    return true
  }

  /// Finds them by seeking each word of the text among those of the query.
  private func matchesMany(_ text: RawSpan) -> Bool {
    var isMissing = [Bool](repeating: true, count: words.count)
    var missing = words.count
    func find(_ word: RawSpan, isPrefix: Bool) {
      guard let place = place(of: word, isPrefix: isPrefix), isMissing[place] else { return }
      isMissing[place] = false
      missing -= 1
    }
    var reader = WordReader(text)
    while missing > 0 {
      guard reader.next() else { return false }
      find(reader.word, isPrefix: false)
      for length in prefixLengths where length <= reader.word.byteCount {
        find(reader.word.part(0, length), isPrefix: true)
      }
    }
    return true
  }

  private func place(of word: RawSpan, isPrefix: Bool) -> Int? {
    var (low, high) = (0, words.count)
    while low < high {
      let middle = (low + high) / 2
      let bytes = words[middle].bytes
      let order = bytes.rawSpan.compare(word)
      if order == 0, words[middle].isPrefix == isPrefix { return middle }
      if order < 0 || order == 0 && isPrefix { low = middle + 1 } else { high = middle }
    }
    return nil
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
