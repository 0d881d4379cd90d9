/// Verified pages in memory, at most `capacity` bytes of them.
///
/// Which page makes room is decided by the clock algorithm: a hand goes round and takes the first
/// page that was not asked for since it last came by. Being put there does not count as asked for, so a
/// scan's pages, each of which comes once, do not drive out the branches that every lookup needs.
final class PageCache: @unchecked Sendable {
  fileprivate struct Slot {
    var position: PagePosition
    var buffer: PageBuffer
    var wasUsed: Bool
  }

  fileprivate struct State {
    var slots: [Slot] = []
    var places: [PagePosition: Int] = [:]
    var hand = 0
    var size = 0
  }

  let capacity: Int
  private let lock = ThreadLock()
  /// Touched only while holding `lock`.
  private var state = State()

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// The bytes of the pages held.
  var size: Int { withLock { $0.size } }

  subscript(position: PagePosition) -> PageBuffer? {
    withLock { state in
      guard let place = state.places[position] else { return nil }
      state.slots[place].wasUsed = true
      return state.slots[place].buffer
    }
  }

  /// Adds a page, and drops others until all fit. A page larger than the cache is not kept.
  func insert(_ buffer: PageBuffer, at position: PagePosition) {
    guard buffer.count <= capacity else { return }
    withLock { state in
      guard state.places[position] == nil else { return }
      while state.size + buffer.count > capacity { state.dropOne() }
      state.places[position] = state.slots.count
      state.slots.append(Slot(position: position, buffer: buffer, wasUsed: false))
      state.size += buffer.count
    }
  }

  private func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&state)
  }
}

extension PageCache.State {
  fileprivate mutating func dropOne() {
    while slots[hand % slots.count].wasUsed {
      slots[hand % slots.count].wasUsed = false
      hand = (hand + 1) % slots.count
    }
    let place = hand % slots.count
    let dropped = slots[place]
    size -= dropped.buffer.count
    places[dropped.position] = nil
    let last = slots.removeLast()
    if place < slots.count {
      slots[place] = last
      places[last.position] = place
    }
    hand = slots.isEmpty ? 0 : (place + 1) % slots.count
  }
}
