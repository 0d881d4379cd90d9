import Glibc

/// The standard error of a child: kept in a file without a name, so that it can be said again in the
/// report.
@safe final class ErrorText {
  private let file: UnsafeMutablePointer<FILE>

  var descriptor: Int32 { unsafe fileno(file) }

  init() throws {
    guard let file = unsafe tmpfile() else { throw ChildError(call: "tmpfile", code: errno) }
    unsafe self.file = file
  }

  deinit {
    unsafe fclose(file)
  }

  /// All of it, or its first MiB.
  func finish() -> String {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}

/// Says something beside the results.
func printError(_ text: String) {
  let line = text.hasSuffix("\n") ? text : text + "\n"
  _ = unsafe line.withCString { unsafe write(STDERR_FILENO, $0, line.utf8.count) }
}
