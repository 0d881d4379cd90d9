/// Tells of which trees the keys came in ascending order.
///
/// It is a hint. Keys in another order could be loaded, too, but the commit would write most of the loaded pages again.
struct PutOrder {
  private struct Order {
    var last: [UInt8] = []
    var isAscending = true

    mutating func note(_ key: RawSpan) {
      guard isAscending else { return }
      isAscending = last.isEmpty || last.rawSpan.compare(key) < 0
      if isAscending { last.assign(key) }
    }
  }

  /// By the numbers of trees.
  private var orders: [Order] = []

  mutating func note(_ key: RawSpan, in tree: TreeSlot) {
    let number = Int(tree.number)
    while orders.count <= number { orders.append(Order()) }
    orders[number].note(key)
  }

  func isAscending(_ tree: TreeSlot) -> Bool {
    let number = Int(tree.number)
    return number >= orders.count || orders[number].isAscending
  }

  /// Forgets all keys: every tree counts as ascending again.
  mutating func removeAll() { orders.removeAll() }
}
