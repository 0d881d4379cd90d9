internal import Glibc

/// An error number of the operating system, such as `ENOSPC`.
public struct Errno: RawRepresentable, Error, Hashable, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static var current: Errno { Errno(rawValue: errno) }
}

extension Errno {
  package static let interrupted = Errno(rawValue: EINTR)
  package static let noSuchFile = Errno(rawValue: ENOENT)
  package static let fileExists = Errno(rawValue: EEXIST)
  package static let directoryNotEmpty = Errno(rawValue: ENOTEMPTY)
  package static let ioError = Errno(rawValue: EIO)
  package static let noSpace = Errno(rawValue: ENOSPC)
  package static let quotaExceeded = Errno(rawValue: EDQUOT)
  package static let fileTooLarge = Errno(rawValue: EFBIG)
  package static let tooManyOpenFiles = Errno(rawValue: EMFILE)
  package static let permissionDenied = Errno(rawValue: EACCES)
  package static let readOnlyFileSystem = Errno(rawValue: EROFS)
  package static let wouldBlock = Errno(rawValue: EAGAIN)
  package static let invalidArgument = Errno(rawValue: EINVAL)
  package static let notSupported = Errno(rawValue: EOPNOTSUPP)
  package static let outOfMemory = Errno(rawValue: ENOMEM)
  package static let tooManySymbolicLinks = Errno(rawValue: ELOOP)
  package static let tooManyLinks = Errno(rawValue: EMLINK)
  package static let noLocks = Errno(rawValue: ENOLCK)
  package static let notImplemented = Errno(rawValue: ENOSYS)
  package static let badDescriptor = Errno(rawValue: EBADF)

  /// The medium has no room for more, for whichever reason.
  package var isFull: Bool {
    self == .noSpace || self == .quotaExceeded || self == .fileTooLarge
  }
}

extension Errno: CustomStringConvertible {
  public var description: String {
    guard let text = unsafe strerror(rawValue) else { return "error \(rawValue)" }
    return unsafe String(cString: text)
  }
}
