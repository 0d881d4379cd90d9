import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Programs of their own to which the command leaves a part of its work, as git does, so that it does not grow by them.
enum Companion {
  /// Replaces this process by a program that is in the directory of this command or else in one of PATH.
  ///
  /// - Parameter arguments: The arguments after the program's name.
  /// - Returns: The error of the system. It does not return if the program exists and can be run.
  static func execute(_ name: String, _ arguments: [String]) -> SystemErrorCode {
    let words = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    if let directory {
      unsafe execv(directory + name, words)
      if errno != ENOENT { return SystemErrorCode(rawValue: errno) }
    }
    unsafe execvp(name, words)
    return SystemErrorCode(rawValue: errno)
  }

  /// The directory of this command, with a slash at its end.
  private static var directory: String? {
    guard let own = systemProgramPath, let path = unsafe realpath(own, nil) else { return nil }
    defer { unsafe free(path) }
    let text = unsafe String(cString: path)
    return text.lastIndex(of: "/").map { String(text[...$0]) }
  }
}
