import Cambium

// The directory after the power goes, the process ends, or time passes.
extension SimulatedFileSystem {
  /// The file system after a power cut: the bytes on the disk, and those that `policy` lets survive of the
  /// rest. It has no faults and no open files. This one stays as it is, so many images can be taken.
  package func crashed(_ policy: CrashPolicy) -> SimulatedFileSystem {
    guardian.lock()
    defer { guardian.unlock() }
    var names = directory.durable
    var bytes = contents.mapValues(\.durable)
    for change in policy.survivors(of: allPending, oldBytes: oldBytes) {
      switch change {
      case .directory(let change): names.apply(change)
      case .content(let file, let change): bytes[file]?.apply(change)
      }
    }
    let survivors = Set(names.values).compactMap { number -> SimulatedContent? in
      guard let bytes = bytes[number], let old = contents[number] else { return nil }
      return SimulatedContent(number, holding: bytes, superseded: old.superseded)
    }
    return SimulatedFileSystem(path: path, names: names, contents: survivors)
  }

  /// The process is killed and another may begin, on the same running system: nothing that was
  /// written is lost, files are closed, locks are free, faults are gone.
  package func restart() {
    guardian.lock()
    defer { guardian.unlock() }
    isStopped = false
    schedule.removeAll()
    for content in contents.values {
      for file in content.openFiles { content.close(file) }
    }
  }

  /// Every read and map shows from now on what the disk has and what is still to be flushed, as if
  /// memory had been short. After a failed flush they differ from those shown before.
  package func dropCaches() {
    guardian.lock()
    defer { guardian.unlock() }
    directory.dropCache()
    for content in contents.values { content.dropCache() }
  }

  /// How many changes no sync has forced to the disk yet: the range of a policy's numbers.
  package var pendingCount: Int {
    guardian.lock()
    defer { guardian.unlock() }
    return allPending.count
  }

  /// The same changes, in order.
  package var pendingChanges: [PendingChange] {
    guardian.lock()
    defer { guardian.unlock() }
    return allPending
  }

  private var allPending: [PendingChange] {
    (directory.pending + contents.values.flatMap(\.pending)).sorted { $0.order < $1.order }
  }

  /// The most treacherous garbage: blocks of this store, whole and with checksums that hold, in an
  /// order that the seed picks. Without any, noise.
  private func oldBytes(_ seed: UInt64) -> [UInt8] {
    var generator = SplitMix64(seed: seed)
    let files = contents.values.sorted { $0.number < $1.number }
    let blocks = files.flatMap { $0.superseded.writtenBlocks + $0.durable.writtenBlocks }
    if blocks.isEmpty { return (0..<4096).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
    return blocks.map(\.bytes).shuffled(using: &generator).prefix(16).flatMap { $0 }
  }
}
