/// Tells of which trees the keys came in ascending order.
///
/// It is a hint: of keys that do not, what becomes a loaded tree would mostly be written again by the commit.
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

  /// Begins anew.
  mutating func removeAll() { orders.removeAll() }
}
