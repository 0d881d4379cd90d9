// Making a store that is not there yet. It is there when `log-0` is: that gets its name last.
//
//     pages-1: header, footer ─▶ log-1, never used ─▶ log-0, use 1, naming the footer
//
// A crash on the way leaves files that the next open removes, and begins again.

extension Recovery {
  /// Makes a store if there is none. False if there is one.
  ///
  /// - Throws: `.missing` if there are files that no unfinished creation leaves: a `log-0` was lost, which
  ///   nobody can make again. Nothing is touched then.
  func createIfMissing() throws(StoreError) -> Bool {
    let files = try medium.list(at: .directoryList)
    if files.contains(.log(0)) { return false }
    for name in files { try checkUnfinished(name) }
    for name in files where !name.isBesidesContent { try medium.unlink(name, at: .orphanUnlink) }
    // An older attempt must not come back beside the new one.
    if files.contains(where: { !$0.isBesidesContent }) {
      try medium.syncDirectory(at: .orphanDirectorySync)
    }
    try create()
    return true
  }

  /// Throws unless `name` is as a creation that did not end may have left it.
  private func checkUnfinished(_ name: FileName) throws(StoreError) {
    if name.isTemporary { return }
    switch name.kind {
    case .lock, .reserve: return
    case .pages(1): if try size(of: name) <= Self.blocksOfNewStore * Layout.blockSize { return }
    case .log(1): if try isUnused(name) { return }
    default: break
    }
    throw .missing(path: "\(medium.path)/\(FileName.log(0))")
  }

  /// A header, and an empty footer twice.
  private static var blocksOfNewStore: Int { 3 }

  /// Whether `name` is a file of the log that was never used.
  private func isUnused(_ name: FileName) throws(StoreError) -> Bool {
    let file = try medium.open(name, .read, at: .logOpen)
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    guard try file.read(into: &span, from: 0, at: .logRead) == Layout.blockSize else {
      return false
    }
    let header = try? LogHeader(decoding: block.bytes, file: 1, copy: 0, path: medium.path)
    return header?.number == 0
  }

  private func size(of name: FileName) throws(StoreError) -> Int {
    try medium.open(name, .read, at: .segmentOpen).size(at: .segmentOpen)
  }

  private func create() throws(StoreError) {
    let identity = StoreIdentity(low: makeSalt(), high: makeSalt())
    let appender = PageAppender(
      to: medium, of: identity, from: 1, output: .buffered, segmentBlocks: options.segmentBlocks)
    let reference = try appender.publish(Footer(identity: identity))
    _ = try Log.create(
      in: medium, of: identity, footer: reference, salt: makeSalt(), clock: clock)
  }
}
