package import Cambium

// The state of the file system and its files for tests. Nothing here counts as a call.
extension SimulatedFileSystem {
  /// True if the process has ended, by a `.stop`.
  package var hasStopped: Bool {
    guardian.lock()
    defer { guardian.unlock() }
    return isStopped
  }

  /// Every call so far: the next one's number is `calls.count`.
  package var calls: [Call] {
    guardian.lock()
    defer { guardian.unlock() }
    return schedule.calls
  }

  package var callCount: Int {
    guardian.lock()
    defer { guardian.unlock() }
    return schedule.calls.count
  }

  /// Calls `body` before each call, with the call's number: the result of `crashed` there is the one that it would
  /// after a `.stop` at that call, without running up to it once for each.
  ///
  /// Where one thread drives the engine. `body` calls nothing that counts.
  package func beforeEachCall(_ body: ((Int) -> Void)?) {
    guardian.lock()
    defer { guardian.unlock() }
    beforeCall = body
  }

  package func callCount(at site: Site) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    return schedule.count(at: site)
  }

  package func callCount(of operation: Operation) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    return schedule.count(of: operation)
  }

  /// Bytes written so far, for write amplification.
  package var bytesWritten: Int {
    guardian.lock()
    defer { guardian.unlock() }
    return bytesWrittenAtSite.values.reduce(0, +)
  }

  package func bytesWritten(at site: Site) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    return bytesWrittenAtSite[site, default: 0]
  }

  /// Open files: none when an engine has cleaned up.
  package var openFileCount: Int {
    guardian.lock()
    defer { guardian.unlock() }
    return contents.values.reduce(0) { $0 + $1.openFiles.count }
  }

  /// The room taken on the disk, in bytes.
  package var diskUsage: Int {
    guardian.lock()
    defer { guardian.unlock() }
    return usedBlocks * SparseBytes.blockSize
  }

  package var names: Set<FileName> {
    guardian.lock()
    defer { guardian.unlock() }
    return Set(directory.live.keys)
  }

  /// The bytes of a file, or `nil` if there is none of that name.
  package func bytes(of name: FileName) -> [UInt8]? {
    guardian.lock()
    defer { guardian.unlock() }
    guard let number = directory.live[name], let content = contents[number] else { return nil }
    return content.live.bytes(0..<content.live.size)
  }

  /// Damages a file on the disk and in every cache and map of it. Its old bytes count as stale.
  package func replaceBytes(of name: FileName, with bytes: [UInt8]) {
    guardian.lock()
    defer { guardian.unlock() }
    guard let number = directory.live[name], let content = contents[number] else {
      preconditionFailure("there is no \(name)")
    }
    content.replace(with: bytes)
  }

  /// Damages one block of a file, everywhere at once. Cheap: the others are shared with their holders.
  package func damage(_ name: FileName, _ block: Int, _ bytes: [UInt8]) {
    guardian.lock()
    defer { guardian.unlock() }
    guard let number = directory.live[name], let content = contents[number] else {
      preconditionFailure("there is no \(name)")
    }
    content.damage(block, bytes)
  }

  /// Turns one bit of a file, counted from its beginning.
  package func flipBit(_ bit: Int, of name: FileName) {
    guard var bytes = bytes(of: name) else { preconditionFailure("there is no \(name)") }
    bytes[bit / 8] ^= 1 << (bit % 8)
    replaceBytes(of: name, with: bytes)
  }
}
