/// Numbers of page segments, in order.
struct SegmentSet: Equatable, Sendable {
  /// Ascending.
  let numbers: [UInt32]

  init(_ numbers: some Sequence<UInt32>) {
    self.numbers = Array(Set(numbers)).sortedRarely()
  }

  var isEmpty: Bool { numbers.isEmpty }

  /// - Complexity: O(log count).
  func contains(_ number: UInt32) -> Bool {
    var low = 0
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == number
  }

  /// Whether the reference alone says that nothing it leads to lies in one of these segments.
  ///
  /// A child lies before its parent, so nothing below a page lies in a higher segment than it. That decides
  /// for all segments below the lowest of these; above it a page without pages below it is known to be elsewhere.
  func isClear(of reference: PageReference, hasPagesBelow: Bool) -> Bool {
    guard let lowest = numbers.first else { return true }
    if reference.position.segment < lowest { return true }
    return !hasPagesBelow && !contains(reference.position.segment)
  }
}

// MARK: - Looking below a reference

extension PageReader {
  /// Whether a page of `segments` is at `reference`, a leaf or a branch right above leaves, or below it. What is
  /// higher up is said to, unless its reference says otherwise: it is looked into anyway.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func mayReach(
    _ segments: SegmentSet, from reference: PageReference, level: Int
  ) throws(StoreError) -> Bool {
    let hasPagesBelow = reference.liveBytes != reference.size
    if segments.isClear(of: reference, hasPagesBelow: hasPagesBelow) { return false }
    if segments.contains(reference.position.segment) || level > 1 { return true }
    return level == 0
      ? try leafReaches(segments, reference) : try branchReaches(segments, reference)
  }

  private func branchReaches(
    _ segments: SegmentSet, _ reference: PageReference
  ) throws(StoreError) -> Bool {
    let page = try page(reference, level: 1, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount {
      if try mayReach(segments, from: node.child(index), level: 0) { return true }
    }
    return false
  }

  private func leafReaches(
    _ segments: SegmentSet, _ reference: PageReference
  ) throws(StoreError) -> Bool {
    let page = try page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    for slot in 0..<node.count where node.isExternal(slot) {
      let value = PageReference(decoding: node.value(slot), at: 0)
      if try reaches(segments, value: value) { return true }
    }
    return false
  }

  /// Whether a page of a large value lies in one of `segments`.
  func reaches(_ segments: SegmentSet, value: PageReference) throws(StoreError) -> Bool {
    let hasPagesBelow = value.liveBytes != value.size
    if segments.isClear(of: value, hasPagesBelow: hasPagesBelow) { return false }
    if segments.contains(value.position.segment) { return true }
    let list = try page(value, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(list.bytes) {
      let part = ValueListPage.reference(index, list.bytes)
      if segments.contains(part.position.segment) { return true }
    }
    return false
  }
}
