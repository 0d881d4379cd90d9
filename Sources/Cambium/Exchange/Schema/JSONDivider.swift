/// Divides JSON, byte by byte, into the elements of one array, or into values that follow one another, such as lines.
///
/// Only brackets and quotes are looked at: whether a value is JSON, the parser says.
package struct JSONDivider {
  /// The element that comes next.
  private enum Expected {
    /// The first value, or the bracket of the array.
    case beginning
    /// The first element, or the end of the array.
    case firstElement
    case element
    case comma
    /// The next of several values.
    case value
    case nothing
  }

  private var expected = Expected.beginning
  private var isArray = false
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// True within a number or a word, which ends where something else begins.
  private var isInWord = false
  private var value: [UInt8] = []
  /// Of the present byte, from 1.
  private var line = 1
  /// The line in which the value that was returned last begins.
  package private(set) var valueLine = 1

  /// The largest number of bytes of a value: enough for a record whose longest field has the greatest length, in base64.
  private let valueMax: Int

  package init(valueMax: Int = 256 << 20) { self.valueMax = valueMax }

  /// Takes the next byte of the text.
  ///
  /// - Returns: the value that ends with it, or before it.
  /// - Throws: if brackets or commas are not where they should be.
  package mutating func take(_ byte: UInt8) throws(JSONFault) -> [UInt8]? {
    defer { if byte == 0x0a { line += 1 } }
    guard value.count < valueMax else {
      throw JSONFault(
        line: valueLine, reason: "a value is longer than the \(valueMax) bytes that one may have")
    }
    if isInString { return takeInString(byte) }
    if isInWord {
      if !Self.endsWord(byte) {
        value.append(byte)
        return nil
      }
      let word = finish()
      _ = try take(byte)
      if byte == 0x0a { line -= 1 }
      return word
    }
    if depth > 0 { return takeInside(byte) }
    return try takeBetween(byte)
  }

  /// Ends the text.
  ///
  /// - Returns: the value that ends with it.
  /// - Throws: if the text is cut off.
  package mutating func end() throws(JSONFault) -> [UInt8]? {
    if isInWord, !isArray { return finish() }
    let isWhole = expected == .nothing || expected == .value || expected == .beginning
    guard isWhole, depth == 0, !isInString else { throw fault("the text is cut off") }
    return nil
  }

  private static func endsWord(_ byte: UInt8) -> Bool {
    isSpace(byte) || ",]}[{\"".utf8.contains(byte)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }

  private func fault(_ reason: String) -> JSONFault { JSONFault(line: line, reason: reason) }

  private mutating func takeInString(_ byte: UInt8) -> [UInt8]? {
    value.append(byte)
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      if depth == 0 { return finish() }
    }
    return nil
  }

  /// Takes a byte of an array or an object.
  private mutating func takeInside(_ byte: UInt8) -> [UInt8]? {
    value.append(byte)
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth -= 1
      if depth == 0 { return finish() }
    default: break
    }
    return nil
  }

  /// Takes a byte before, between or after values.
  private mutating func takeBetween(_ byte: UInt8) throws(JSONFault) -> [UInt8]? {
    if Self.isSpace(byte) { return nil }
    switch (expected, byte) {
    case (.beginning, UInt8(ascii: "[")):
      (expected, isArray) = (.firstElement, true)
      return nil
    case (.firstElement, UInt8(ascii: "]")), (.comma, UInt8(ascii: "]")): expected = .nothing
    case (.comma, UInt8(ascii: ",")): expected = .element
    case (.comma, _): throw fault("a comma or the end of the array was expected")
    case (.nothing, _): throw fault("something follows the array")
    case (_, UInt8(ascii: "]")), (_, UInt8(ascii: "}")), (_, UInt8(ascii: ",")):
      throw fault("a value was expected")
    default: begin(byte)
    }
    return nil
  }

  private mutating func begin(_ byte: UInt8) {
    valueLine = line
    value.append(byte)
    expected = isArray ? .comma : .value
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth = 1
    case UInt8(ascii: "\""): isInString = true
    default: isInWord = true
    }
  }

  private mutating func finish() -> [UInt8] {
    defer { value.removeAll(keepingCapacity: true) }
    isInWord = false
    return value
  }
}
