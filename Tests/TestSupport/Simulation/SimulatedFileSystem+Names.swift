package import Cambium

// MARK: - Opening and closing

extension SimulatedFileSystem {
  package func open(
    _ name: FileName, _ mode: OpenMode, at site: Site
  ) throws(StoreError) -> any File {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.open, path(of: name), site)
    let content = mode.creates ? try create(name) : try find(name)
    try end(.open, path(of: name), fault)
    let file = SimulatedFile(
      number: number(), content: content.number, path: path(of: name), mode: mode, fileSystem: self)
    content.openFiles.insert(file.number)
    return file
  }

  private func create(_ name: FileName) throws(StoreError) -> SimulatedContent {
    guard directory.live[name] == nil else {
      throw .failed("create", .fileExists, path: path(of: name))
    }
    let content = SimulatedContent(number())
    contents[content.number] = content
    directory.change(.create(name, file: content.number), order: order())
    return content
  }

  private func find(_ name: FileName) throws(StoreError) -> SimulatedContent {
    guard let number = directory.live[name], let content = contents[number] else {
      throw .missing(path: path(of: name))
    }
    return content
  }

  /// Called when the last reference to an open file goes: no call of the engine's, so not counted.
  func close(_ file: Int, content: Int) {
    guardian.lock()
    defer { guardian.unlock() }
    contents[content]?.close(file)
    forgetUnreachable()
  }

  /// Drops the bytes that neither a name nor an open file leads to. Maps keep their own.
  private func forgetUnreachable() {
    let named = directory.files
    contents = contents.filter { named.contains($0.key) || !$0.value.openFiles.isEmpty }
  }
}

// MARK: - Names

extension SimulatedFileSystem {
  package func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.rename, path(of: name), site)
    let content = try find(name)
    guard directory.live[newName] == nil else {
      throw .failed("rename", .fileExists, path: path(of: newName))
    }
    directory.change(.rename(name, to: newName, file: content.number), order: order())
    try end(.rename, path(of: name), fault)
  }

  package func unlink(_ name: FileName, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.unlink, path(of: name), site)
    let content = try find(name)
    directory.change(.unlink(name, file: content.number), order: order())
    try end(.unlink, path(of: name), fault)
  }

  package func list(at site: Site) throws(StoreError) -> [FileName] {
    guardian.lock()
    defer { guardian.unlock() }
    _ = try begin(.list, path, site)
    // In an order of its own, and the same in each run.
    return directory.live.keys.sorted { $0.description < $1.description }
  }

  package func syncDirectory(at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    let fault = try begin(.syncDirectory, path, site)
    if ignoredSyncs.contains(site) { return }
    if !directory.sync(fault?.flushFailure) {
      throw .failed("sync directory", .ioError, path: path)
    }
    forgetUnreachable()
  }
}

// MARK: - Lock and room

extension SimulatedFileSystem {
  package func lockDirectory(at site: Site) throws(StoreError) -> (any File)? {
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

  /// The number of blocks in use: those of files that have a name or are open. All others are free, also while the removal of
  /// a name is not on the disk yet.
  var usedBlocks: Int {
    let named = Set(directory.live.values)
    return contents.values.reduce(0) {
      named.contains($1.number) || !$1.openFiles.isEmpty ? $0 + $1.usedBlocks : $0
    }
  }

  func takeRoom(
    for range: Range<Int>, in content: SimulatedContent, path: String
  ) throws(StoreError) {
    if diskBlocks == .max { return }
    guard usedBlocks + content.neededBlocks(for: range) <= diskBlocks else {
      throw .failed("write", .noSpace, path: path)
    }
  }
}
