import Synchronization

/// Numbers from 0 on, each of which one thread takes.
final class Tickets: Sendable {
  let count: Int
  private let next = Atomic(0)

  init(count: Int) {
    self.count = count
  }

  /// Nil when all are taken.
  @inline(__always)
  func take() -> Int? {
    let ticket = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return ticket < count ? ticket : nil
  }
}

/// The times of commits, collected from several threads.
final class Latencies: Sendable {
  private let all = Mutex<[Int]>([])

  func add(_ latencies: [Int]) {
    all.withLock { $0 += latencies }
  }

  var sorted: [Int] { all.withLock { $0.sorted() } }
}
