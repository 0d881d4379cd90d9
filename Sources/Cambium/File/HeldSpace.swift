#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The space of a store's files that were deleted and are still read. It becomes free when the last snapshot, or the last
/// blob, that is read from them is released.
public struct HeldSpace: Hashable, Sendable {
  /// The bytes of these files; nil if the system does not tell: for stores in memory or in a storage of the program's, and
  /// without `/proc`.
  public internal(set) var bytes: Int?
  /// The numbers of the processes that have these files open, ascending. Only those are known that this process may look
  /// into: its user's, or all if it is privileged. Files that only other processes have open are not counted.
  public internal(set) var processes: [Int] = []
  /// The age of the oldest snapshot of an earlier state, as far as it is known; nil if no such snapshot is known. Of the
  /// snapshots that other processes have it is only known that they are older than the deletion of the files that they
  /// hold, so they may be older than this.
  public internal(set) var oldestSnapshotAge: Duration?
}

extension HeldSpace {
  /// Takes in the age of another snapshot.
  mutating func note(age: Duration?) {
    guard let age else { return }
    oldestSnapshotAge = max(oldestSnapshotAge ?? .zero, age)
  }
}

extension PosixFileSystem {
  /// Looks for files of this directory that were deleted and that processes have open.
  ///
  /// Nothing in the store names its readers: a reader in another process has its files open, and that is all.
  ///
  /// - Complexity: O(open files of all processes), with a call for each.
  func heldSpace() -> HeldSpace {
    var held = HeldSpace()
    guard let path = Syscall.target(of: "/proc/self/fd/\(directory)"),
      case .success(let processes) = Syscall.open("/proc", O_RDONLY | O_DIRECTORY).flatMap(
        names(in:))
    else { return held }
    var sizes: [UInt64: UInt64] = [:]
    for process in processes.compactMap({ Int($0) }).sortedRarely() {
      let files = Self.deletedFiles(of: process, in: path + "/")
      if !files.isEmpty { held.processes.append(process) }
      for file in files {
        sizes[UInt64(file.st_ino)] = UInt64(clamping: min(Int(file.st_size), Self.heldSizeMax))
        held.note(age: Syscall.age(of: file))
      }
    }
    held.bytes = Int(clamping: sizes.values.reduce(0, &+))
    return held
  }

  /// No file of a store is larger, so that the sum cannot overflow.
  private static var heldSizeMax: Int { 1 << 44 }

  /// The names in a directory, which is closed then.
  private func names(in opened: Syscall.Descriptor) -> Result<[String], SystemErrorCode> {
    defer { Syscall.close(opened) }
    return Syscall.names(in: opened)
  }

  /// The segments of a store that a process has open and that have no name any more. The last change of such a file is its
  /// deletion.
  ///
  /// - Parameter prefix: The path of the store's directory, with a slash.
  private static func deletedFiles(of process: Int, in prefix: String) -> [stat] {
    // One that has ended meanwhile has none, and one of another user shows none.
    guard case .success(let opened) = Syscall.open("/proc/\(process)/fd", O_RDONLY | O_DIRECTORY)
    else { return [] }
    defer { Syscall.close(opened) }
    guard case .success(let numbers) = Syscall.names(in: opened) else { return [] }
    return numbers.compactMap { number in
      guard let path = Syscall.target(of: number, in: opened), isSegment(path, in: prefix),
        case .success(let status?) = Syscall.status(number, in: opened, following: true),
        status.st_nlink == 0
      else { return nil }
      return status
    }
  }

  /// True if the kernel's path of an open file is that of a segment that was deleted.
  private static func isSegment(_ path: String, in prefix: String) -> Bool {
    let suffix = " (deleted)"
    guard path.hasPrefix(prefix), path.hasSuffix(suffix) else { return false }
    let name = path.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    guard let file = FileName(String(Substring(name))), !file.isTemporary else { return false }
    switch file.kind {
    case .pages, .blobs: return true
    case .log, .lock, .reserve: return false
    }
  }
}
