/// An observer of a tree, or of one key in it. Requires the hub's lock.
final class Observer: @unchecked Sendable {
  let tree: TreeSlot
  /// Nil for all.
  let key: [UInt8]?
  /// The last commit in the state that it was told of.
  var seen: UInt64 = 0
  /// Commits up to this one may have been begun before anybody noted anything for it.
  var begun: UInt64 = 0
  /// Its place in the tree's journal.
  var number = 0
  /// The known changes of its key, with their authors.
  var touch: Touch?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  struct Touch {
    var first: UInt64
    var last: UInt64
    var authors: Set<String?>
  }

  init(of tree: TreeSlot, key: [UInt8]?) {
    self.tree = tree
    self.key = key
  }

  var isCatchingUp: Bool { seen < begun }

  func add(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

  /// Hands its waiters over, to be resumed.
  func wake(_ woken: inout [CheckedContinuation<Void, Never>]) {
    if waiters.isEmpty { return }
    woken.append(contentsOf: waiters)
    waiters.removeAll()
  }

  /// Notes that commits which will be visible next change its key.
  func touch(_ first: UInt64, _ last: UInt64, by author: String?) {
    guard var touch else {
      self.touch = Touch(first: first, last: last, authors: [author])
      return
    }
    touch.first = min(touch.first, first)
    touch.last = max(touch.last, last)
    touch.authors.insert(author)
    self.touch = touch
  }
}
