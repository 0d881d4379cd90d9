package import Cambium

extension SimulatedFile {
  package func size(at site: Site) throws(StoreError) -> Int {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    _ = try fileSystem.begin(.size, path, site)
    return try fileSystem.content(of: self, .size).live.size
  }

  package func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    let fault = try fileSystem.begin(.read, path, site)
    let content = try fileSystem.content(of: self, .read)
    let (end, overflow) = offset.addingReportingOverflow(buffer.byteCount)
    guard offset >= 0, !overflow else { throw .failed("read", .invalidArgument, path: path) }
    let bytes = content.bytes(offset..<end, fault)
    unsafe buffer.withUnsafeMutableBytes { buffer in unsafe buffer.copyBytes(from: bytes) }
    return bytes.count
  }

  package func write(
    _ bytes: RawSpan, from offset: Int, at site: Site
  ) throws(StoreError) {
    var copy = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    let fault = try fileSystem.begin(.write, path, site)
    let content = try fileSystem.content(of: self, .write)
    try check(.write, offset, size: copy.count)
    try checkAligned(bytes, offset)
    if copy.isEmpty { return }
    try fileSystem.takeRoom(for: offset..<offset + copy.count, in: content, path: path)
    if case .errorAfter(let count, _) = fault {
      copy.removeSubrange(max(0, min(count, copy.count))...)
    }
    content.change(.write(copy, from: offset), order: fileSystem.order(), by: number)
    fileSystem.bytesWrittenAtSite[site, default: 0] += copy.count
    if case .errorAfter(_, let errno) = fault { throw .failed("write", errno, path: path) }
    try fileSystem.end(.write, path, fault)
  }

  package func sync(at site: Site) throws(StoreError) {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    let fault = try fileSystem.begin(.sync, path, site)
    let content = try fileSystem.content(of: self, .sync)
    if fileSystem.ignoredSyncs.contains(site) { return }
    if !content.sync(fault?.flushFailure, by: number) {
      throw .failed("sync", .ioError, path: path)
    }
  }

  package func truncate(to size: Int, at site: Site) throws(StoreError) {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    let fault = try fileSystem.begin(.truncate, path, site)
    let content = try fileSystem.content(of: self, .truncate)
    try check(.truncate, size, size: 0)
    content.change(.resize(to: size), order: fileSystem.order(), by: number)
    try fileSystem.end(.truncate, path, fault)
  }

  package func willNeed(_ range: Range<Int>, at site: Site) {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    _ = try? fileSystem.begin(.willNeed, path, site)
  }
}

extension SimulatedFile {
  /// Refuses arguments that the operating system would refuse.
  func check(_ operation: Operation, _ offset: Int, size: Int) throws(StoreError) {
    if mode == .read { throw .failed("\(operation)", .badDescriptor, path: path) }
    if offset < 0 { throw .failed("\(operation)", .invalidArgument, path: path) }
    // The limit of a file in ext4.
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
  /// The result of a read, right or wrong.
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

extension SimulatedFile {
  package func lock(at site: Site) throws(StoreError) {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    _ = try fileSystem.begin(.lock, path, site)
    let content = try fileSystem.content(of: self, .lock)
    try check(.lock, 0, size: 0)
    guard content.lockHolder == nil || content.lockHolder == number else {
      throw .locked(path: path, holder: nil)
    }
    content.lockHolder = number
  }

  package func isLocked(at site: Site) throws(StoreError) -> Bool {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    _ = try fileSystem.begin(.isLocked, path, site)
    let content = try fileSystem.content(of: self, .isLocked)
    return content.lockHolder != nil && content.lockHolder != number
  }

  package func isNamed(_ name: FileName, at site: Site) throws(StoreError) -> Bool {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    _ = try fileSystem.begin(.isNamed, fileSystem.path(of: name), site)
    return fileSystem.directory.live[name] == (try fileSystem.content(of: self, .isNamed)).number
  }

  package func map(
    capacity: Int, at site: Site
  ) throws(StoreError) -> FileMapping {
    fileSystem.guardian.lock()
    defer { fileSystem.guardian.unlock() }
    _ = try fileSystem.begin(.map, path, site)
    switch try fileSystem.content(of: self, .map).map(capacity: capacity) {
    case .success(let mapping): return mapping
    case .failure(let errno): throw .failed("map", errno, path: path)
    }
  }
}
