#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An error number of the operating system, such as `ENOSPC`.
public struct SystemErrorCode: RawRepresentable, Error, Hashable, Sendable {
  /// The number.
  public let rawValue: Int32

  /// Creates the error with a number.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static var current: SystemErrorCode { SystemErrorCode(rawValue: errno) }
}

extension SystemErrorCode {
  package static let interrupted = SystemErrorCode(rawValue: EINTR)
  package static let noSuchFile = SystemErrorCode(rawValue: ENOENT)
  package static let fileExists = SystemErrorCode(rawValue: EEXIST)
  package static let directoryNotEmpty = SystemErrorCode(rawValue: ENOTEMPTY)
  package static let ioError = SystemErrorCode(rawValue: EIO)
  package static let noSpace = SystemErrorCode(rawValue: ENOSPC)
  package static let quotaExceeded = SystemErrorCode(rawValue: EDQUOT)
  package static let fileTooLarge = SystemErrorCode(rawValue: EFBIG)
  package static let tooManyOpenFiles = SystemErrorCode(rawValue: EMFILE)
  package static let tooManyOpenFilesInSystem = SystemErrorCode(rawValue: ENFILE)
  package static let permissionDenied = SystemErrorCode(rawValue: EACCES)
  package static let readOnlyFileSystem = SystemErrorCode(rawValue: EROFS)
  package static let wouldBlock = SystemErrorCode(rawValue: EAGAIN)
  package static let invalidArgument = SystemErrorCode(rawValue: EINVAL)
  package static let notSupported = SystemErrorCode(rawValue: EOPNOTSUPP)
  package static let outOfMemory = SystemErrorCode(rawValue: ENOMEM)
  package static let tooManySymbolicLinks = SystemErrorCode(rawValue: ELOOP)
  package static let tooManyLinks = SystemErrorCode(rawValue: EMLINK)
  package static let noLocks = SystemErrorCode(rawValue: ENOLCK)
  package static let notImplemented = SystemErrorCode(rawValue: ENOSYS)
  package static let badDescriptor = SystemErrorCode(rawValue: EBADF)

  /// True if there is no space for more: on the disk, within a quota, or in a file of the greatest size.
  package var isFull: Bool {
    self == .noSpace || self == .quotaExceeded || self == .fileTooLarge
  }

  /// True if the process or the system has too many files open.
  var isOfDescriptors: Bool {
    self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem
  }
}

extension SystemErrorCode: CustomStringConvertible {
  /// The text of the operating system.
  public var description: String {
    guard let text = unsafe strerror(rawValue) else { return "error \(rawValue)" }
    return unsafe String(cString: text)
  }
}
