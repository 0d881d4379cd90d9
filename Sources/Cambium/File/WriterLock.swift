/// Makes one writer the only one of a store, for as long as it is kept.
///
/// Two locks are taken, each of which belongs to an open file and so keeps writers apart within one
/// process as well as between several, and dies with the process:
///
/// - on the directory itself. It cannot be deleted from under its holder: removing `LOCK` lets
///   no other writer in. Some media have no such locks;
/// - on the file `LOCK`, which readers can ask about without taking anything. It holds the number of the
///   writer's process, for the message that the next one gets, and stays when the lock goes.
///
/// A forked child shares its parent's open files and with them the locks, so it must not write: it asks
/// `isForked`. It neither gives the locks back when it ends nor keeps them when the parent closes the
/// store; only of a parent that was killed it keeps them, until it ends or runs another program.
///
/// Not kept apart are writers on a disk without locks on directories, after `LOCK` was removed.
/// And readers in other processes do not see a writer whose `LOCK` was removed.
package final class WriterLock: Sendable {
  private let file: any File
  private let directory: (any File)?
  private let forks = ForkGuard()

  /// Takes the locks, and creates `LOCK` if it is not there.
  ///
  /// - Throws: `.locked`, with the holder's process where it can be known; `.io`, `.full`.
  package init(in medium: any FileSystem) throws(StoreError) {
    do throws(StoreError) {
      directory = try medium.lockDirectory(at: .lockDirectory)
      file = try Self.lockFile(in: medium)
    } catch {
      guard case .locked(_, let holder) = error else { throw error }
      throw .locked(path: medium.path, holder: holder ?? Self.holder(in: medium))
    }
    try Self.write(Syscall.processNumber, to: file)
  }

  /// True if this is a forked child of the process that took the lock.
  package var isForked: Bool { forks.isForked }

  /// True if any process, this one too, has the store open for writing.
  ///
  /// - Throws: `.io`.
  package static func isHeld(in medium: any FileSystem) throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try medium.open(.lock, .read, at: .lockOpen).isLocked(at: .lockTake)
    } catch {
      if case .missing = error { return false }
      throw error
    }
  }
}

extension WriterLock {
  /// The file may be removed between opening and locking it: then the name leads to another, or
  /// to none, and it is done again.
  private static func lockFile(in medium: any FileSystem) throws(StoreError) -> any File {
    for _ in 0..<8 {
      guard let file = try openOrCreate(in: medium) else { continue }
      try file.lock(at: .lockTake)
      if try file.isNamed(.lock, at: .lockCompare) { return file }
    }
    throw .missing(path: "\(medium.path)/\(FileName.lock)")
  }

  /// Nil if another was created or removed meanwhile.
  private static func openOrCreate(in medium: any FileSystem) throws(StoreError) -> (any File)? {
    do throws(StoreError) {
      return try medium.open(.lock, .readWrite, at: .lockOpen)
    } catch {
      guard case .missing = error else { throw error }
    }
    do throws(StoreError) {
      return try medium.open(.lock, .create, at: .lockOpen)
    } catch {
      guard case .io(.fileExists, _, _) = error else { throw error }
      return nil
    }
  }
}

// MARK: - The holder's process

extension WriterLock {
  /// First there is no number, so that the one before is not taken for ours. A full disk is no reason
  /// not to open a store.
  private static func write(_ process: Int32, to file: any File) throws(StoreError) {
    let text = Array("\(process)\n".utf8)
    try file.truncate(to: 0, at: .lockWrite)
    do throws(StoreError) {
      try file.write(text.rawSpan, from: 0, at: .lockWrite)
    } catch {
      guard case .full = error else { throw error }
    }
  }

  /// The process that the file names; nil if it names none, or there is no file.
  private static func holder(in medium: any FileSystem) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard let file = try? medium.open(.lock, .read, at: .lockOpen) else { return nil }
    var span = bytes.mutableSpan
    var buffer = unsafe span.mutableBytes
    guard let count = try? file.read(into: &buffer, from: 0, at: .lockRead),
      count > 0, let end = bytes[..<count].firstIndex(of: UInt8(ascii: "\n")),
      let process = Int32(String(decoding: bytes[..<end], as: UTF8.self)), process > 0
    else { return nil }
    return process
  }
}
