import Cambium

/// A record of comma-separated values, as RFC 4180 has them.
struct CSVRecord: Equatable {
  struct Cell: Equatable {
    let text: String
    /// True if it stands between quotes, where nothing is a string without characters.
    let isQuoted: Bool
  }

  let cells: [Cell]
}

/// Reads comma-separated values, record by record: quotes, line ends within them, lines that end with a line
/// feed, a carriage return or both.
struct CSVReader {
  private let lines: LineInput
  private let separator: UInt8

  /// The bytes of a record that has several lines: without a bound, a quote that is left open would take the whole file.
  private static let recordMax = 64 << 20
  /// The bytes that are kept of a longer one.
  private static let reportedMax = 1 << 10

  init(_ lines: LineInput, separator: UInt8 = UInt8(ascii: ",")) {
    self.lines = lines
    self.separator = separator
  }

  /// The part of a file that was read as one record: its bytes, and the record, or why they are none.
  struct Entry {
    /// The line in which it begins, from 1.
    let line: Int
    let bytes: [UInt8]
    let record: Result<CSVRecord, JSONFault>
  }

  /// The next record; nil after the last. Lines without anything are passed over.
  ///
  /// - Throws: where the file cannot be read.
  func next() throws -> Entry? {
    while var bytes = try lines.next() {
      if bytes.isEmpty || bytes == [0x0d] { continue }
      let line = lines.number
      var parser = CSVParser(separator)
      while true {
        if let record = parser.take(bytes[parser.count...]) {
          return Entry(line: line, bytes: bytes, record: record)
        }
        // Within quotes, a line continues.
        guard let more = try lines.next() else {
          let fault = JSONFault(reason: "a quote is never closed")
          return Entry(line: line, bytes: bytes, record: .failure(fault))
        }
        bytes.append(lines.end)
        bytes += more
        if bytes.count > Self.recordMax {
          let fault = JSONFault(
            reason:
              "a quote is still open after \(Self.recordMax >> 20) MiB, more than a record may have"
          )
          return Entry(
            line: line, bytes: Array(bytes.prefix(Self.reportedMax)), record: .failure(fault))
        }
      }
    }
    return nil
  }
}

/// Takes a record apart, line by line.
private struct CSVParser {
  private enum Place {
    case start, plain, quoted, afterQuote, afterLineEnd
  }

  private let separator: UInt8
  private var place = Place.start
  private var cells: [CSVRecord.Cell] = []
  private var cell: [UInt8] = []
  private var isQuoted = false
  private var fault: JSONFault?
  /// The bytes that it has taken.
  private(set) var count = 0

  init(_ separator: UInt8) {
    self.separator = separator
  }

  /// Takes bytes up to the end of a line.
  ///
  /// - Returns: the record; nil if the line ends within quotes.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> Result<CSVRecord, JSONFault>? {
    count += bytes.count
    for byte in bytes { take(byte) }
    if place == .quoted { return nil }
    endCell()
    if let fault { return .failure(fault) }
    return .success(CSVRecord(cells: cells))
  }

  private mutating func take(_ byte: UInt8) {
    let quote = UInt8(ascii: "\"")
    switch place {
    case .quoted:
      if byte == quote { place = .afterQuote } else { cell.append(byte) }
    case .afterQuote where byte == quote:
      cell.append(byte)
      place = .quoted
    case .afterLineEnd where byte == 0x0d: break
    case .afterLineEnd:
      note("a line ends within it, in another way than the first one; quote it, or end all alike")
    case _ where byte == 0x0d || byte == 0x0a: place = .afterLineEnd
    case _ where byte == separator: endCell()
    case .start where byte == quote: (place, isQuoted) = (.quoted, true)
    case .afterQuote: note("something follows a closing quote")
    case .plain where byte == quote: note("a quote within a cell that does not begin with one")
    case .start, .plain:
      place = .plain
      cell.append(byte)
    }
  }

  private mutating func note(_ reason: String) {
    if fault == nil { fault = JSONFault(reason: "cell \(cells.count + 1): \(reason)") }
  }

  private mutating func endCell() {
    if let text = String(validating: cell, as: UTF8.self) {
      cells.append(.init(text: text, isQuoted: isQuoted))
    } else {
      note("it is not UTF-8")
      cells.append(.init(text: "", isQuoted: isQuoted))
    }
    cell.removeAll(keepingCapacity: true)
    (place, isQuoted) = (.start, false)
  }
}
