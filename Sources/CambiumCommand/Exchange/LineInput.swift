import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The lines of a file, one after the other, however long the file is. A byte order mark at its beginning is passed over.
final class LineInput {
  private let descriptor: Int32
  private let name: String
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// The bytes that were read, and those that there are; nil for an input without a size.
  private var readCount = 0
  private var size: Int?
  /// Of the line that was read last, from 1.
  private(set) var number = 0
  /// The byte that ends a line.
  private(set) var end = UInt8(ascii: "\n")

  private static let chunk = 1 << 18
  /// The greatest size of a line: a record with a value of the greatest length, in base64, and room for more.
  private static let lineMax = 256 << 20

  /// - Parameter path: `-` for standard input.
  init(_ path: String) throws {
    name = path == "-" ? "standard input" : path
    descriptor = path == "-" ? 0 : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw CommandFailure(.notFound, "There is no file \(path).") }
      throw failure
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure }
    if status.st_mode & S_IFMT == S_IFREG { size = Int(status.st_size) }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    while buffer.count < mark.count, !isAtEnd { try fill() }
    if buffer.starts(with: mark) { start = mark.count }
  }

  /// How much of the file was read, from 0 to 1; nil if unknown.
  var fraction: Double? {
    size.map { Double(readCount - buffer.count + start) / Double(max(1, $0)) }
  }

  /// The first byte that is no space, before anything is read.
  func firstByte() -> UInt8? {
    buffer[start...].first { $0 != 0x20 && !(0x09...0x0d).contains($0) }
  }

  /// Has lines end with a carriage return, if that alone ends the first one: old spreadsheets write so. Before anything is
  /// read.
  func findEnd() throws {
    var isQuoted = false
    var place = start
    while place < buffer.count {
      let byte = buffer[place]
      place += 1
      if byte == 0x22 { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == 0x0a { return }
      guard byte == 0x0d else { continue }
      while place == buffer.count, !isAtEnd {
        place -= start
        try fill()
      }
      if place == buffer.count || buffer[place] != 0x0a { end = 0x0d }
      return
    }
  }

  /// The next bytes, wherever lines end; nil after the last.
  func nextChunk() throws -> [UInt8]? {
    while start == buffer.count, !isAtEnd { try fill() }
    guard start < buffer.count else { return nil }
    defer { start = buffer.count }
    return Array(buffer[start...])
  }

  deinit { if descriptor > 2 { close(descriptor) } }

  private var failure: OutputFailure {
    OutputFailure(message: "\(name) cannot be read: \(SystemErrorCode(rawValue: errno)).")
  }

  /// The next line without its end; nil after the last.
  func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let place = buffer[searched...].firstIndex(of: end) {
        defer { start = place + 1 }
        number += 1
        return Array(buffer[start..<place])
      }
      searched = buffer.count
      if isAtEnd { return rest() }
      searched -= start
      try fill()
    }
  }

  private func rest() -> [UInt8]? {
    guard start < buffer.count else { return nil }
    defer { start = buffer.count }
    number += 1
    return Array(buffer[start...])
  }

  private func fill() throws {
    buffer.removeFirst(start)
    start = 0
    guard buffer.count < Self.lineMax else {
      throw JSONFault(line: number + 1, reason: "the line is too long")
    }
    let old = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
    var count = -1
    repeat {
      count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(descriptor, bytes.baseAddress.map { unsafe $0 + old }, Self.chunk)
      }
    } while count < 0 && errno == EINTR
    if count < 0 { throw failure }
    buffer.removeLast(Self.chunk - max(0, count))
    isAtEnd = count == 0
    readCount += count
  }
}
