/// Why a text is no JSON, or not what it should be.
package struct JSONFault: Error, CustomStringConvertible {
  /// From 1; nil if it is the text as a whole.
  package var line: Int?
  package let reason: String

  package init(line: Int? = nil, reason: String) {
    self.line = line
    self.reason = reason
  }

  package var description: String { (line.map { "line \($0): " } ?? "") + reason }
}

/// Reads one value of JSON.
package struct JSONParser {
  private let bytes: [UInt8]
  private var index = 0
  /// How deep arrays and objects may be in each other.
  private static let depthMax = 200

  package static func parse(_ text: [UInt8]) throws(JSONFault) -> JSONValue {
    var parser = JSONParser(bytes: text)
    let value = try parser.value(depth: depthMax)
    parser.skipSpace()
    guard parser.index == text.count else { throw parser.fault("something follows the value") }
    return value
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private func fault(_ reason: String) -> JSONFault {
    let before = bytes[..<index]
    let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    let line = before.count { $0 == 0x0a }
    let place = "byte \(index - start + 1)" + (line > 0 ? " of its line \(line + 1)" : "")
    return JSONFault(reason: "no JSON at \(place): \(reason)")
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { index += 1 }
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: scalar) else { return false }
    index += 1
    return true
  }
}

extension JSONParser {
  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    guard depth > 0 else { throw fault("it is nested too deep") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case let byte? where "-0123456789".utf8.contains(byte): return try number()
    default:
      for (word, value) in [
        ("true", JSONValue.boolean(true)), ("false", .boolean(false)), ("null", .null),
      ]
      where bytes[index...].starts(with: word.utf8) {
        index += word.utf8.count
        return value
      }
      throw fault("a value was expected")
    }
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSONValue {
    index += 1
    var members: [JSONValue.Member] = []
    skipSpace()
    if take("}") { return .object(members) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw fault("a name was expected") }
      let name = try string()
      skipSpace()
      guard take(":") else { throw fault("a colon was expected") }
      members.append(JSONValue.Member(name: name, value: try value(depth: depth - 1)))
      skipSpace()
      if take("}") { return .object(members) }
      guard take(",") else { throw fault("a comma or the end of the object was expected") }
    }
  }

  private mutating func array(depth: Int) throws(JSONFault) -> JSONValue {
    index += 1
    var values: [JSONValue] = []
    skipSpace()
    if take("]") { return .array(values) }
    while true {
      values.append(try value(depth: depth - 1))
      skipSpace()
      if take("]") { return .array(values) }
      guard take(",") else { throw fault("a comma or the end of the array was expected") }
    }
  }

  private mutating func number() throws(JSONFault) -> JSONValue {
    let start = index
    while let byte = next, "+-0123456789.eE".utf8.contains(byte) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard Self.isNumber(bytes[start..<index]), let value = Double(text), value.isFinite else {
      throw fault("\(text) is no number")
    }
    return .number(text)
  }

  /// Returns true if a text is a number by the grammar of JSON: digits, without a zero before others, then a fraction and an
  /// exponent, each with a digit, if it has them.
  private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    func takeDigits() -> Bool {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      rest = rest.dropFirst(digits.count)
      return !digits.isEmpty
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let startsWithZero = rest.first == 0x30
    let whole = rest
    guard takeDigits(), !(startsWithZero && whole.count - rest.count > 1) else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard takeDigits() else { return false }
    }
    if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if let sign = rest.first, "+-".utf8.contains(sign) { rest.removeFirst() }
      guard takeDigits() else { return false }
    }
    return rest.isEmpty
  }
}

// MARK: Strings

extension JSONParser {
  private mutating func string() throws(JSONFault) -> String {
    index += 1
    var text: [UInt8] = []
    while let byte = next {
      if byte >= 0x20, byte != 0x22, byte != 0x5c {
        let end =
          bytes[index...].firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c } ?? bytes.count
        text += bytes[index..<end]
        index = end
        continue
      }
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw fault("a string is not in UTF-8")
        }
        return string
      case UInt8(ascii: "\\"): text.append(contentsOf: Array(String(try escape()).utf8))
      default: throw fault("a string has a control character")
      }
    }
    throw fault("a string does not end")
  }

  private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
    guard let byte = next else { throw fault("a string does not end") }
    index += 1
    switch Unicode.Scalar(byte) {
    case "\"": return "\""
    case "\\": return "\\"
    case "/": return "/"
    case "b": return "\u{8}"
    case "f": return "\u{c}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try codePoint()
    default: throw fault("there is no such escape")
    }
  }

  private mutating func codePoint() throws(JSONFault) -> Unicode.Scalar {
    let high = try unit()
    if let scalar = Unicode.Scalar(high) { return scalar }
    // Half of a pair of surrogates.
    guard high < 0xdc00, take("\\"), take("u") else { throw fault("half a character") }
    let low = try unit()
    guard (0xdc00..<0xe000).contains(low),
      let scalar = Unicode.Scalar(0x1_0000 + (high - 0xd800) << 10 + (low - 0xdc00))
    else { throw fault("half a character") }
    return scalar
  }

  private mutating func unit() throws(JSONFault) -> UInt32 {
    guard index + 4 <= bytes.count,
      let unit = UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
    else { throw fault("four hexadecimal digits were expected") }
    index += 4
    return unit
  }
}
