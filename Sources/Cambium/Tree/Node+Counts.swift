// Counting by what references say of the entries below them.
//
// A page is validated with the reference that first led to it. A hostile file may lead to it again by
// a reference that says another count; so whoever counts compares each node with the reference he came
// by. Then a sum never exceeds what the root says, and no sum here can overflow.

extension Node {
  private var isBranch: Bool { PageHeader(page).kind == PageKind.branch.rawValue }

  /// The entries below the children before `index` of a branch. Validation bounded what it may be.
  func count(before index: Int) -> UInt64 {
    var count: UInt64 = 0
    for child in 0..<index { count &+= self.child(child).count }
    return count
  }

  /// The entries below the children from `first` on and before `last` of a branch, whatever a hostile page says.
  func count(from first: Int, upTo last: Int) -> UInt64 {
    var count: UInt64 = 0
    for child in first..<max(first, last) { count &+= self.child(child).count }
    return count
  }

  /// The fault of `reference`, which led here, if the node holds another count than it says.
  func countFault(of reference: PageReference) -> StoreError? {
    let count = isBranch ? count(before: childCount) : UInt64(count)
    if count == reference.count { return nil }
    return reference.fault(
      .aggregates, "it holds \(count) entries, its reference says \(reference.count)")
  }

  /// Throws unless the node holds as many entries as `reference`, which led here, says.
  func checkCount(_ reference: PageReference) throws(StoreError) {
    if let fault = countFault(of: reference) { throw fault }
  }
}

/// The way down to the entry that has a certain number of entries before it.
struct OffsetSearch {
  /// How many entries come before the one sought, of those below `reference`.
  private var rest: UInt64
  /// What led to the node that is looked at next.
  private var reference: PageReference
  /// The first node that does not hold what the reference to it says: the way is of no use.
  private var fault: StoreError?

  /// - Precondition: `offset` is at least 0 and below the count of `root`.
  init(_ offset: Int, below root: PageReference) {
    rest = UInt64(offset)
    reference = root
  }

  /// The child of a branch to go on with.
  mutating func child(of node: borrowing Node) -> Int {
    fault = fault ?? node.countFault(of: reference)
    var index = 0
    while index < node.count {
      let count = node.child(index).count
      if rest < count { break }
      rest -= count
      index += 1
    }
    reference = node.child(index)
    return index
  }

  /// The slot of the entry in the leaf where the way ends.
  func slot(in leaf: borrowing Node) throws(StoreError) -> Int {
    if let fault { throw fault }
    try leaf.checkCount(reference)
    return Int(clamping: rest)
  }
}
