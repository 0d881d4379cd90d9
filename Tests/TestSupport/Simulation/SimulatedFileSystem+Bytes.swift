package import Cambium

extension SimulatedFileSystem {
  package func size(of file: SimulatedFile, at site: Site) throws(StoreError) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try begin(.size, file.path, site)
    return try content(of: file, .size).live.size
  }

  package func read(
    _ file: SimulatedFile, into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.read, file.path, site)
    let content = try content(of: file, .read)
    let (end, overflow) = offset.addingReportingOverflow(buffer.byteCount)
    guard offset >= 0, !overflow else { throw .failed("read", .invalidArgument, path: file.path) }
    let bytes = content.bytes(offset..<end, fault)
    unsafe buffer.withUnsafeMutableBytes { buffer in unsafe buffer.copyBytes(from: bytes) }
    return bytes.count
  }

  package func write(
    _ bytes: RawSpan, to file: SimulatedFile, from offset: Int, at site: Site
  ) throws(StoreError) {
    var copy = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.write, file.path, site)
    let content = try content(of: file, .write)
    try file.check(.write, offset, size: copy.count)
    try file.checkAligned(bytes, offset)
    if copy.isEmpty { return }
    try takeRoom(for: offset..<offset + copy.count, in: content, path: file.path)
    if case .errorAfter(let count, _) = fault {
      copy.removeSubrange(max(0, min(count, copy.count))...)
    }
    content.change(.write(copy, from: offset), order: order())
    bytesWrittenAtSite[site, default: 0] += copy.count
    if case .errorAfter(_, let errno) = fault { throw .failed("write", errno, path: file.path) }
    try end(.write, file.path, fault)
  }

  package func sync(_ file: SimulatedFile, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.sync, file.path, site)
    let content = try content(of: file, .sync)
    if ignoredSyncs.contains(site) { return }
    if !content.sync(fault?.flushFailure, by: file.number) {
      throw .failed("sync", .ioError, path: file.path)
    }
  }

  package func truncate(_ file: SimulatedFile, to size: Int, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.truncate, file.path, site)
    let content = try content(of: file, .truncate)
    try file.check(.truncate, size, size: 0)
    content.change(.resize(to: size), order: order())
    content.giveBack(beyond: size)
    try end(.truncate, file.path, fault)
  }

  package func preallocate(_ file: SimulatedFile, size: Int, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.preallocate, file.path, site)
    let content = try content(of: file, .preallocate)
    try file.check(.preallocate, size, size: 0)
    try takeRoom(for: 0..<size, in: content, path: file.path)
    content.reserve(size)
    if size > content.live.size { content.change(.resize(to: size), order: order()) }
    try end(.preallocate, file.path, fault)
  }

  package func advise(
    _ file: SimulatedFile, _ range: Range<Int>, _ advice: Advice, at site: Site
  ) {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try? begin(.advise, file.path, site)
  }

  private func takeRoom(
    for range: Range<Int>, in content: SimulatedContent, path: String
  ) throws(StoreError) {
    if diskBlocks == .max { return }
    let used = contents.values.reduce(0) { $0 + $1.usedBlocks }
    guard used + content.neededBlocks(for: range) <= diskBlocks else {
      throw .failed("write", .noSpace, path: path)
    }
  }
}

extension SimulatedFile {
  /// Refuses what the operating system would.
  func check(_ operation: Operation, _ offset: Int, size: Int) throws(StoreError) {
    if mode == .read { throw .failed("\(operation)", .badDescriptor, path: path) }
    if offset < 0 { throw .failed("\(operation)", .invalidArgument, path: path) }
    // What ext4 can hold in one file.
    if offset > 16 << 40 - size { throw .failed("\(operation)", .fileTooLarge, path: path) }
  }

  /// Stricter than the operating system's, which falls back to the cache without a word.
  fileprivate func checkAligned(_ bytes: RawSpan, _ offset: Int) throws(StoreError) {
    guard mode.isDirect else { return }
    let address = unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    if (address | offset | bytes.byteCount) % 4096 != 0 {
      throw .failed("misaligned direct write", .invalidArgument, path: path)
    }
  }
}

extension SimulatedContent {
  /// What a read returns, right or wrong.
  fileprivate func bytes(_ range: Range<Int>, _ fault: Fault?) -> [UInt8] {
    switch fault {
    case .bitFlip(let bit):
      var bytes = live.bytes(range)
      if !bytes.isEmpty { bytes[bit / 8 % bytes.count] ^= 1 << (bit % 8) }
      return bytes
    case .stale: return staleBytes(range)
    case .displaced(let distance):
      let start = max(0, range.lowerBound + distance)
      return live.bytes(start..<start + range.count)
    default: return live.bytes(range)
    }
  }
}

// MARK: - Lock and map

extension SimulatedFileSystem {
  package func lock(_ file: SimulatedFile, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try begin(.lock, file.path, site)
    let content = try content(of: file, .lock)
    try file.check(.lock, 0, size: 0)
    guard content.lockHolder == nil || content.lockHolder == file.number else {
      throw .locked(path: file.path, holder: nil)
    }
    content.lockHolder = file.number
  }

  package func isLocked(_ file: SimulatedFile, at site: Site) throws(StoreError) -> Bool {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try begin(.isLocked, file.path, site)
    let content = try content(of: file, .isLocked)
    return content.lockHolder != nil && content.lockHolder != file.number
  }

  package func lockDirectory(at site: Site) throws(StoreError) -> SimulatedFile? {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try begin(.lockDirectory, path, site)
    if !locksDirectories { return nil }
    let directory = contents[SimulatedContent.directory]
    guard directory?.lockHolder == nil else { throw .locked(path: path, holder: nil) }
    let content = directory ?? SimulatedContent(SimulatedContent.directory)
    contents[content.number] = content
    let file = SimulatedFile(
      number: number(), content: content.number, path: path, mode: .read, fileSystem: self)
    content.openFiles.insert(file.number)
    content.lockHolder = file.number
    return file
  }

  package func map(
    _ file: SimulatedFile, capacity: Int, at site: Site
  ) throws(StoreError) -> FileMapping {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try begin(.map, file.path, site)
    switch try content(of: file, .map).map(capacity: capacity) {
    case .success(let mapping): return mapping
    case .failure(let errno): throw .failed("map", errno, path: file.path)
    }
  }
}
