import Cambium

/// The names in the simulated directory: as programs see them, as the disk has them, and the
/// changes on their way, apart from those of bytes and sizes.
struct SimulatedDirectory {
  private(set) var live: [FileName: Int]
  private(set) var durable: [FileName: Int]
  private(set) var pending: [PendingChange] = []
  private var owesError = false

  init(_ names: [FileName: Int] = [:]) {
    live = names
    durable = names
  }

  mutating func change(_ change: DirectoryChange, order: Int) {
    live.apply(change)
    pending.append(PendingChange(order: order, change: .directory(change), opener: nil))
  }

  /// - Returns: True if the flush succeeded, as far as the caller is told.
  mutating func sync(_ failure: FlushFailure?) -> Bool {
    guard let failure else {
      flush()
      defer { owesError = false }
      return !owesError
    }
    if failure.losesPending { pending = [] }
    if failure == .errorCacheReverts { live = durable }
    owesError = failure.isToldLate
    return owesError
  }

  private mutating func flush() {
    for change in pending {
      if case .directory(let change) = change.change { durable.apply(change) }
    }
    pending = []
  }

  mutating func dropCache() {
    live = durable
    for change in pending {
      if case .directory(let change) = change.change { live.apply(change) }
    }
  }

  /// The files that some name leads to, now or after a crash.
  var files: Set<Int> {
    var files = Set(live.values).union(durable.values)
    for change in pending {
      switch change.change {
      case .directory(.create(_, let file)), .directory(.rename(_, _, let file)),
        .directory(.unlink(_, let file)):
        files.insert(file)
      case .content: break
      }
    }
    return files
  }
}
