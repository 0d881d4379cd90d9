/// Which of a store's trees: a small number that the engine gives, dense from 0.
struct TreeSlot: Hashable, Sendable, Comparable {
  let number: UInt32

  init(_ number: UInt32) {
    self.number = number
  }

  static func < (one: TreeSlot, other: TreeSlot) -> Bool { one.number < other.number }
}
