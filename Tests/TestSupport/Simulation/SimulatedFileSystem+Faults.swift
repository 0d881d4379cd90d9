package import Cambium

// The faults that a test may order.
extension SimulatedFileSystem {
  /// Lets something go wrong at a call to come. A fault that means nothing to a call there is
  /// passed over.
  package func inject(_ fault: Fault, at moment: Moment, _ persistence: Persistence = .once) {
    guardian.lock()
    defer { guardian.unlock() }
    schedule.add(fault, at: moment, persistence)
  }

  /// Takes back all faults, ignored syncs and the end of the process. Lost bytes stay lost.
  package func heal() {
    guardian.lock()
    defer { guardian.unlock() }
    isStopped = false
    schedule.removeAll()
    ignoredSyncs = []
  }

  /// Makes syncs from a site, of files or of the directory, do nothing and say nothing: a test that
  /// does not notice does not test that sync.
  package func ignoreSyncs(at site: Site) {
    guardian.lock()
    defer { guardian.unlock() }
    ignoredSyncs.insert(site)
  }

  /// Makes this a disk that has no locks on directories.
  package func forgetDirectoryLocks() {
    guardian.lock()
    defer { guardian.unlock() }
    locksDirectories = false
  }

  /// Limits the room on the disk, in bytes, counted in whole blocks; `nil` for none.
  /// Existing bytes stay.
  package func limitDisk(to size: Int?) {
    guardian.lock()
    defer { guardian.unlock() }
    diskBlocks = size.map { $0 / SparseBytes.blockSize } ?? .max
  }
}
