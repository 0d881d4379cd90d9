/// The versions that readers have pinned, and the nodes that wait for them.
///
/// A node that no version from `retired` on has is kept while a pinned version has it: it waits with
/// the oldest of those. When the last pin of that version goes, its nodes wait for the next that has
/// them, so no unpinning looks at more than the nodes of one version.
///
/// Guarded by the arena's lock; but for looking at nodes, which only the editor's thread does.
struct OverlayPins {
  private struct Pin {
    let stamp: Stamp
    var count: Int
    var waiting = NodeList()
  }

  /// Ascending by stamp.
  private var pins: [Pin] = []
  /// What waited for versions that are pinned no more, to be looked at again.
  private var released = NodeList()

  /// The pinned versions.
  var count: Int { pins.count }
  /// The nodes that are kept for them.
  var waitingCount: Int { pins.reduce(released.count) { $0 + $1.waiting.count } }

  mutating func pin(_ stamp: Stamp) {
    // Nearly always the newest.
    var index = pins.count
    while index > 0, pins[index - 1].stamp >= stamp {
      if pins[index - 1].stamp == stamp {
        pins[index - 1].count += 1
        return
      }
      index -= 1
    }
    pins.insert(Pin(stamp: stamp, count: 1), at: index)
  }

  mutating func unpin(_ stamp: Stamp) {
    let index = firstPin(from: stamp)
    precondition(index < pins.count && pins[index].stamp == stamp, "the version is pinned")
    pins[index].count -= 1
    if pins[index].count > 0 { return }
    released.append(pins[index].waiting)
    pins.remove(at: index)
  }

  /// What may have become free since the last time.
  mutating func takeReleased() -> NodeList {
    let list = released
    released = NodeList()
    return list
  }

  /// Keeps `node` if a pinned version has it; false if none does.
  mutating func keep(_ node: OverlayNode) -> Bool {
    if pins.isEmpty { return false }
    let index = firstPin(from: node.born)
    guard index < pins.count, pins[index].stamp < node.retired else { return false }
    pins[index].waiting.append(node)
    return true
  }

  /// The first pin whose stamp is not below `stamp`.
  private func firstPin(from stamp: Stamp) -> Int {
    var low = 0
    var high = pins.count
    while low < high {
      let middle = (low + high) / 2
      if pins[middle].stamp < stamp { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Nodes in a row, linked through themselves.
struct NodeList {
  private(set) var first: OverlayNode?
  private var last: OverlayNode?
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ node: OverlayNode) {
    node.link = nil
    if let last { last.link = node } else { first = node }
    last = node
    count += 1
  }

  mutating func append(_ list: NodeList) {
    guard let start = list.first else { return }
    if let last { last.link = start } else { first = start }
    last = list.last
    count += list.count
  }

  @inline(__always)
  mutating func removeFirst() -> OverlayNode? {
    guard let node = first else { return nil }
    first = node.link
    if first == nil { last = nil }
    count -= 1
    return node
  }
}
