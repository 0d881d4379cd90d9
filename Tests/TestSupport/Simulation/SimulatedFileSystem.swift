import Cambium

/// A directory whose disk loses, tears, reorders and refuses on demand.
///
/// It behaves the same each time: nothing in it is random but what a policy's or fault's seed picks.
/// A test runs the engine on it, lets the process end before some call, and opens the store again on
/// the remains after a power cut:
///
///     let fileSystem = SimulatedFileSystem()
///     fileSystem.inject(.stop, at: .call(12))
///     …                                                     // throws .io(EIO) from call 12 on
///     let rebooted = fileSystem.crashed(.torn(at: .sector, seed: 7))
///
/// Unchecked, as every access to mutable state is made under `guardian`.
package final class SimulatedFileSystem: FileSystem, @unchecked Sendable {
  package let path: String
  let guardian = ThreadLock()

  // All under `guardian`:
  var directory: SimulatedDirectory
  var contents: [Int: SimulatedContent]
  var schedule = FaultSchedule()
  var isStopped = false
  var ignoredSyncs: Set<Site> = []
  var bytesWrittenAtSite: [Site: Int] = [:]
  var diskBlocks = Int.max
  var locksDirectories = true
  var beforeCall: ((Int) -> Void)?
  private var nextOrder = 0
  private var nextNumber: Int

  package convenience init(path: String = "simulated") {
    self.init(path: path, names: [:], contents: [])
  }

  /// Begins with everything on the disk.
  init(path: String, names: [FileName: Int], contents: [SimulatedContent]) {
    self.path = path
    directory = SimulatedDirectory(names)
    self.contents = Dictionary(uniqueKeysWithValues: contents.map { ($0.number, $0) })
    nextNumber = (contents.map(\.number).max() ?? 0) + 1
  }
}

// MARK: - Every call

extension SimulatedFileSystem {
  /// Counts a call and refuses it if it is to fail before it does anything; otherwise returns what
  /// else goes wrong with it.
  func begin(
    _ operation: Operation, _ path: String, _ site: Site
  ) throws(StoreError) -> Fault? {
    if isStopped { throw .failed("\(operation)", .ioError, path: path) }
    observe()
    let fault = schedule.next(Call(operation: operation, site: site))
    switch fault {
    case .stop:
      isStopped = true
      throw .failed("\(operation)", .ioError, path: path)
    case .error(let errno): throw .failed("\(operation)", errno, path: path)
    default: return fault
    }
  }

  /// Lets the test look at the file system before a call. With `guardian`, which it gives up meanwhile.
  private func observe() {
    guard let beforeCall else { return }
    let number = schedule.calls.count
    guardian.unlock()
    beforeCall(number)
    guardian.lock()
  }

  /// Fails a call that has done its work.
  func end(_ operation: Operation, _ path: String, _ fault: Fault?) throws(StoreError) {
    if case .errorAfterAll(let errno) = fault {
      throw .failed("\(operation)", errno, path: path)
    }
  }

  /// A file that was open when the process ended has no owner.
  func content(
    of file: SimulatedFile, _ operation: Operation
  ) throws(StoreError) -> SimulatedContent {
    guard let content = contents[file.content], content.openFiles.contains(file.number) else {
      throw .failed("\(operation)", .badDescriptor, path: file.path)
    }
    return content
  }

  func order() -> Int {
    defer { nextOrder += 1 }
    return nextOrder
  }

  func number() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  func path(of name: FileName) -> String { "\(path)/\(name)" }
}
