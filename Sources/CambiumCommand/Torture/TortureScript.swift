import Cambium

/// The transactions of a torture: the same for the same seed.
struct TortureScript {
  let seed: UInt64

  static let model = StoreModel(records: [TortureItem.self, TortureProgress.self])
  private static let keys = 4_000

  /// A change of one transaction.
  enum Change {
    case save(id: Int, stamp: Int)
    case delete(id: Int)
  }

  private func random(for number: Int) -> TortureRandom {
    TortureRandom(seed: seed &+ UInt64(number) &* 0xd134_2543_de82_ef95)
  }

  /// The changes of the transaction with a number, from 1.
  func changes(of number: Int) -> [Change] {
    var random = random(for: number)
    // Mostly small, now and then large.
    let count = number % 53 == 0 ? 3_000 : Int.random(in: 1...12, using: &random)
    return (0..<count).map { index in
      let id = Int.random(in: 0..<Self.keys, using: &random)
      if Int.random(in: 0..<4, using: &random) == 0 { return .delete(id: id) }
      return .save(id: id, stamp: number * 4_096 + index)
    }
  }

  /// True if the transaction is acknowledged when it is on the disk.
  func isDurable(_ number: Int) -> Bool {
    var random = random(for: number)
    return random.next() >> 60 < 6
  }

  /// Carries out a transaction.
  func run(_ number: Int, in store: PersistentStore) throws {
    let durability: Durability =
      isDurable(number) ? .durable : .relaxed(flushWithin: .milliseconds(20))
    try store.write(durability: durability) { transaction in
      for change in changes(of: number) {
        switch change {
        case .save(let id, let stamp): try transaction.save(TortureItem(id: id, stamp: stamp))
        case .delete(let id): try transaction.delete(TortureItem.self, key: id)
        }
      }
      try transaction.save(TortureProgress(count: number))
    }
  }
}

/// The expected content of a torture's store.
struct TortureModel {
  private let script: TortureScript
  /// The transactions that are in it.
  private(set) var count = 0
  private var stamps: [Int: Int] = [:]

  init(_ script: TortureScript) { self.script = script }

  /// Continues to the state after so many transactions.
  mutating func goOn(to count: Int) {
    while self.count < count {
      self.count += 1
      for change in script.changes(of: self.count) {
        switch change {
        case .save(let id, let stamp): stamps[id] = stamp
        case .delete(let id): stamps[id] = nil
        }
      }
    }
  }

  /// - Throws: the difference, if the store has another content.
  func compare(with store: PersistentStore) throws {
    var found = 0
    try store.forEach(TortureItem.self) { item in
      found += 1
      guard let stamp = stamps[item.id] else {
        throw CommandFailure(.fault, "Item \(item.id) exists, but was deleted")
      }
      guard item == TortureItem(id: item.id, stamp: stamp) else {
        throw CommandFailure(
          .fault, "Item \(item.id) has stamp \(item.stamp) instead of \(stamp)")
      }
    }
    guard found == stamps.count else {
      throw CommandFailure(.fault, "\(found) items exist instead of \(stamps.count)")
    }
  }
}
