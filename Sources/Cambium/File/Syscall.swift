internal import CCambium

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The system calls the library makes. Nothing else in it calls the C library to touch a file. Those in which systems differ
/// are in `CCambiumPlatform.h`, with a half for Linux and one for Darwin.
///
/// Each is one call and says whether it is repeated after a signal. Not repeated are those that may
/// have taken effect before they were interrupted: the second attempt would report a failure that
/// was none (`rename`, `unlink`, `mkdir`), close a stranger's descriptor (`close`), or report a
/// success that was none (`fdatasync`, `fsync`: the kernel tells each failure once).
enum Syscall {
  typealias Descriptor = Int32
}

// MARK: - Descriptors

extension Syscall {
  static func open(
    _ path: String, in directory: Descriptor = AT_FDCWD, _ flags: Int32, mode: mode_t = 0
  ) -> Result<Descriptor, SystemErrorCode> {
    valueOrErrno(retryOnInterrupt: true) { unsafe openat(directory, path, flags | O_CLOEXEC, mode) }
      .flatMap(awayFromStandardStreams)
  }

  /// Opens a directory to look at it and at names in it only: it need not be readable.
  static func openPath(
    _ path: String, in directory: Descriptor = AT_FDCWD
  ) -> Result<Descriptor, SystemErrorCode> {
    open(path, in: directory, cambium_path_flag() | O_DIRECTORY)
  }

  /// Moves a descriptor out of 0, 1 and 2, which a process may have been started without: its next
  /// `print` would be written into the store.
  static func awayFromStandardStreams(_ descriptor: Descriptor) -> Result<
    Descriptor, SystemErrorCode
  > {
    if descriptor > STDERR_FILENO { return .success(descriptor) }
    defer { close(descriptor) }
    return valueOrErrno(retryOnInterrupt: true) {
      fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    }
  }

  /// The descriptor is closed whatever `close` returns, and a failure that matters was
  /// reported by the sync before.
  static func close(_ descriptor: Descriptor) {
    closeDescriptor(descriptor)
  }

  static func status(_ descriptor: Descriptor) -> Result<stat, SystemErrorCode> {
    var status = stat()
    return nothingOrErrno(retryOnInterrupt: true) { unsafe fstat(descriptor, &status) }
      .map { status }
  }

  /// The bytes that an unprivileged process may still write to the file system that has `path`.
  static func bytesFree(at path: String) -> Result<Int, SystemErrorCode> {
    var status = statvfs()
    return nothingOrErrno(retryOnInterrupt: true) { unsafe statvfs(path, &status) }.map {
      let (size, overflows) = UInt64(status.f_bavail)
        .multipliedReportingOverflow(by: UInt64(status.f_frsize))
      return overflows ? .max : Int(clamping: size)
    }
  }

  /// The bytes of the file system that a file lies on, used and free.
  static func volumeSize(_ descriptor: Descriptor) -> Result<Int, SystemErrorCode> {
    var status = statvfs()
    return nothingOrErrno(retryOnInterrupt: true) { unsafe fstatvfs(descriptor, &status) }.map {
      let (size, overflows) = UInt64(status.f_blocks)
        .multipliedReportingOverflow(by: UInt64(status.f_frsize))
      return overflows ? .max : Int(clamping: size)
    }
  }

  static func setDirect(_ descriptor: Descriptor, _ isDirect: Bool) -> Result<Void, SystemErrorCode>
  {
    nothingOrErrno(retryOnInterrupt: true) { cambium_set_direct(descriptor, isDirect ? 1 : 0) }
  }
}

// MARK: - Bytes

extension Syscall {
  static func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, from offset: Int
  ) -> Result<Int, SystemErrorCode> {
    valueOrErrno(retryOnInterrupt: true) {
      unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    }
  }

  /// Reads the next bytes at the descriptor's position: also of pipes and sockets.
  static func readNext(
    _ descriptor: Descriptor, into buffer: inout [UInt8]
  ) -> Result<Int, SystemErrorCode> {
    unsafe buffer.withUnsafeMutableBytes { buffer in
      valueOrErrno(retryOnInterrupt: true) {
        unsafe readDescriptor(descriptor, buffer)
      }
    }
  }

  static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor, from offset: Int
  ) -> Result<Int, SystemErrorCode> {
    valueOrErrno(retryOnInterrupt: true) {
      unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    }
  }

  /// Writes all of `bytes` at the descriptor's position: to a file, a pipe or a socket. A pipe that has no reader any
  /// more is an error (`EPIPE`) and no signal.
  static func writeOn(_ bytes: RawSpan, to descriptor: Descriptor) -> Result<Void, SystemErrorCode>
  {
    unsafe bytes.withUnsafeBytes { bytes in
      transferWhole(bytes.count) { done in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        return valueOrErrno(retryOnInterrupt: true) {
          unsafe cambium_write_quietly(descriptor, rest.baseAddress, rest.count)
        }
      }
    }
  }

  static func truncate(_ descriptor: Descriptor, to size: Int) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: true) { ftruncate(descriptor, off_t(size)) }
  }

  /// Where the file system cannot allocate, the C library writes to each block.
  static func allocate(_ descriptor: Descriptor, _ size: Int) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) { cambium_allocate(descriptor, Int64(size)) }
  }

  static func syncBytes(_ descriptor: Descriptor) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) { cambium_sync_bytes(descriptor) }
  }

  static func sync(_ descriptor: Descriptor) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) { cambium_sync(descriptor) }
  }

  static func willNeed(_ descriptor: Descriptor, _ range: Range<Int>) {
    cambium_will_need(descriptor, Int64(range.lowerBound), Int64(range.count))
  }
}

// MARK: - Locks

extension Syscall {
  static func lock(_ descriptor: Descriptor) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: true) { cambium_lock(descriptor) }
  }

  static func unlock(_ descriptor: Descriptor) {
    _ = cambium_unlock(descriptor)
  }

  static func isLocked(_ descriptor: Descriptor) -> Result<Bool, SystemErrorCode> {
    valueOrErrno(retryOnInterrupt: true) { cambium_is_locked(descriptor) }.map { $0 != 0 }
  }

  static func lockDirectory(_ descriptor: Descriptor) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: true) { cambium_lock_directory(descriptor) }
  }

  static func unlockDirectory(_ descriptor: Descriptor) {
    _ = cambium_unlock_directory(descriptor)
  }

  static var processNumber: Int32 { getpid() }

  static func lockHolder(_ descriptor: Descriptor) -> Int32? {
    let holder = cambium_lock_holder(descriptor)
    return holder == 0 ? nil : holder
  }
}

// MARK: - Owners

extension Syscall {
  static var user: uid_t { geteuid() }
  static var group: gid_t { getegid() }
  static var isRoot: Bool { geteuid() == 0 }

  static func setOwner(
    _ descriptor: Descriptor, _ owner: uid_t, _ group: gid_t
  ) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: true) { fchown(descriptor, owner, group) }
  }

  static func setMode(_ descriptor: Descriptor, _ mode: mode_t) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: true) { fchmod(descriptor, mode) }
  }
}

// MARK: - Names

extension Syscall {
  static func makeDirectory(
    _ path: String, in directory: Descriptor = AT_FDCWD, mode: mode_t
  ) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) { unsafe mkdirat(directory, path, mode) }
  }

  /// Does nothing if there is something in it.
  static func removeDirectory(_ path: String, in directory: Descriptor = AT_FDCWD) {
    _ = unsafe unlinkat(directory, path, AT_REMOVEDIR)
  }

  /// The path without links; nil if it leads nowhere.
  static func resolvedPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// The text of a link; nil if it is none, or cannot be read.
  static func target(of name: String, in directory: Descriptor = AT_FDCWD) -> String? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX) + 16)
    let count = unsafe target.withUnsafeMutableBytes { target in
      guard let base = target.baseAddress else { return -1 }
      return unsafe readlinkat(
        directory, name, base.assumingMemoryBound(to: CChar.self), target.count)
    }
    return count > 0 ? String(decoding: target[..<count], as: UTF8.self) : nil
  }

  /// The time since the last change of a file, by the real clock; zero if that is yet to come.
  static func age(of status: stat) -> Duration {
    let moment = status.changeTime
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    let seconds = Duration.seconds(now.tv_sec) - .seconds(moment.tv_sec)
    return max(.zero, seconds + .nanoseconds(now.tv_nsec) - .nanoseconds(moment.tv_nsec))
  }

  /// The nanoseconds from the beginning of 1970 to now, by the real clock; zero if that says that it is before.
  @Sendable static func realTime() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    let seconds = UInt64(clamping: now.tv_sec)
    let (whole, isTooLate) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLate ? .max : whole &+ UInt64(clamping: now.tv_nsec)
  }

  /// True if two descriptors are of the same file or directory.
  static func isSame(_ one: Descriptor, _ other: Descriptor) -> Bool {
    guard case .success(let one) = status(one), case .success(let other) = status(other) else {
      return false
    }
    return one.st_ino == other.st_ino && one.st_dev == other.st_dev
  }

  /// The kind of file system that a file is on.
  static func mediumKind(_ descriptor: Descriptor) -> Result<MediumKind, SystemErrorCode> {
    var magic: UInt32 = 0
    var name = [CChar](repeating: 0, count: 16)
    return nothingOrErrno(retryOnInterrupt: true) {
      unsafe cambium_file_system(descriptor, &magic, &name)
    }.map {
      let bytes = name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
      return bytes.isEmpty
        ? MediumKind(magic: magic) : .network(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Refuses a new name that is taken with `EEXIST`, and with `EINVAL` if the file system cannot.
  static func renameToFree(
    _ name: String, to newName: String, in directory: Descriptor,
    newDirectory: Descriptor? = nil
  ) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) {
      unsafe cambium_rename_to_free(directory, name, newDirectory ?? directory, newName)
    }
  }

  /// Exchanges the names of two files, at once; `EINVAL` if the file system cannot.
  static func exchange(
    _ name: String, in directory: Descriptor, with otherName: String,
    in otherDirectory: Descriptor
  ) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) {
      unsafe cambium_exchange(directory, name, otherDirectory, otherName)
    }
  }

  /// Refuses a new name that is taken with `EEXIST`. Where the file system cannot do that (NFS), it looks first.
  static func renameToFreeOrLook(
    _ name: String, in directory: Descriptor, to newName: String, in newDirectory: Descriptor
  ) -> Result<Void, SystemErrorCode> {
    let renamed = renameToFree(name, to: newName, in: directory, newDirectory: newDirectory)
    guard case .failure(.invalidArgument) = renamed else { return renamed }
    return renameAfterLooking(name, in: directory, to: newName, in: newDirectory)
  }

  /// For media that cannot refuse a name that is taken.
  static func renameAfterLooking(
    _ name: String, in directory: Descriptor, to newName: String, in newDirectory: Descriptor
  ) -> Result<Void, SystemErrorCode> {
    exists(newName, in: newDirectory).flatMap {
      $0 ? .failure(.fileExists) : rename(name, in: directory, to: newName, in: newDirectory)
    }
  }

  /// Replaces a file of the new name.
  static func rename(
    _ name: String, in directory: Descriptor, to newName: String, in newDirectory: Descriptor
  ) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) {
      unsafe renameat(directory, name, newDirectory, newName)
    }
  }

  /// True if anything has the name, be it a link that leads nowhere.
  static func exists(_ name: String, in directory: Descriptor) -> Result<Bool, SystemErrorCode> {
    status(name, in: directory).map { $0 != nil }
  }

  /// The status of the file of that name, or of its destination if that is a link and `following` is set; nil if there
  /// is nothing.
  static func status(
    _ name: String, in directory: Descriptor, following: Bool = false
  ) -> Result<stat?, SystemErrorCode> {
    var status = stat()
    let found = nothingOrErrno(retryOnInterrupt: true) {
      unsafe fstatat(directory, name, &status, following ? 0 : AT_SYMLINK_NOFOLLOW)
    }
    if case .failure(.noSuchFile) = found { return .success(nil) }
    return found.map { status }
  }

  static func unlink(_ name: String, in directory: Descriptor) -> Result<Void, SystemErrorCode> {
    nothingOrErrno(retryOnInterrupt: false) { unsafe unlinkat(directory, name, 0) }
  }

  /// The names in a directory, by a description of its own: a listing moves the position that
  /// duplicated descriptors share.
  static func names(in directory: Descriptor) -> Result<[String], SystemErrorCode> {
    open(".", in: directory, O_RDONLY | O_DIRECTORY).flatMap { descriptor in
      guard let stream = unsafe fdopendir(descriptor) else {
        let errno = SystemErrorCode.current
        close(descriptor)
        return .failure(errno)
      }
      defer { unsafe closedir(stream) }
      return unsafe names { unsafe readdir(stream) }
    }
  }

  /// - Parameter next: Reads the next entry; nil at the end, and if that failed.
  private static func names(
    _ next: () -> UnsafeMutablePointer<dirent>?
  ) -> Result<[String], SystemErrorCode> {
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe next() else { break }
      names.append(unsafe name(of: entry))
    }
    let failure = SystemErrorCode.current
    return failure.rawValue == 0 ? .success(names) : .failure(failure)
  }

  /// Read to its terminating zero, as names may be longer than the field is declared.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    let bytes = unsafe UnsafeRawPointer(entry).advanced(by: offset)
    return unsafe String(cString: bytes.assumingMemoryBound(to: CChar.self))
  }
}

// MARK: - Memory

extension Syscall {
  static func map(
    _ descriptor: Descriptor, capacity: Int
  ) -> Result<UnsafeMutableRawPointer, SystemErrorCode> {
    unsafe map(descriptor, capacity: capacity, PROT_READ, MAP_SHARED)
  }

  /// Zeroed memory that takes up room only where it is written.
  static func mapAnonymous(capacity: Int) -> Result<UnsafeMutableRawPointer, SystemErrorCode> {
    unsafe map(
      -1, capacity: capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
  }

  private static func map(
    _ descriptor: Descriptor, capacity: Int, _ protection: Int32, _ flags: Int32
  ) -> Result<UnsafeMutableRawPointer, SystemErrorCode> {
    let base = unsafe mmap(nil, capacity, protection, flags, descriptor, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else {
      return unsafe .failure(.current)
    }
    return unsafe .success(base)
  }

  static func unmap(_ base: UnsafeMutableRawPointer, capacity: Int) {
    unsafe munmap(base, capacity)
  }

  /// Gives whole pages of anonymous memory back: they are zeros again.
  static func discard(_ base: UnsafeMutableRawPointer, count: Int) -> Result<Void, SystemErrorCode>
  {
    nothingOrErrno(retryOnInterrupt: true) { unsafe cambium_discard(base, count) }
  }
}

// MARK: - Names that `Syscall` has too

private func closeDescriptor(_ descriptor: Syscall.Descriptor) { _ = close(descriptor) }

private func readDescriptor(
  _ descriptor: Syscall.Descriptor, _ buffer: UnsafeMutableRawBufferPointer
) -> Int {
  unsafe read(descriptor, buffer.baseAddress, buffer.count)
}

extension stat {
  /// The moment of the last change, of the file or of what is known of it.
  fileprivate var changeTime: timespec {
    #if canImport(Darwin)
      st_ctimespec
    #else
      st_ctim
    #endif
  }
}
