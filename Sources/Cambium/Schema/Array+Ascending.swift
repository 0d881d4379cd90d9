// Looking for elements by numbers, by which a list ascends.

extension Array {
  /// Returns the element of a version.
  ///
  /// - Complexity: O(1) in a list of all versions from one on; otherwise O(count).
  func first(version number: Int, by path: (Element) -> Int) -> Element? {
    guard let first else { return nil }
    let place = number &- path(first)
    if indices.contains(place), path(self[place]) == number { return self[place] }
    return self.first { path($0) == number }
  }

  /// Returns the place of the first element that is in the second part, as all elements after it are; `endIndex` if none is.
  /// The name is that of Swift Algorithms.
  ///
  /// - Complexity: O(log count).
  func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        isInSecondPart(self[middle])
        ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }

  /// Returns the element with a number, by which they ascend.
  ///
  /// - Complexity: O(log count).
  func first(number: UInt32, by path: (Element) -> UInt32) -> Element? {
    let place = partitioningIndex { path($0) >= number }
    guard place < endIndex, path(self[place]) == number else { return nil }
    return self[place]
  }
}

extension [Int] {
  /// Returns the highest of these numbers, which ascend, that is not above another; nil if all are.
  ///
  /// - Complexity: O(log count).
  func last(upTo number: Int) -> Int? {
    let place = partitioningIndex { $0 > number }
    return place == startIndex ? nil : self[place - 1]
  }
}
