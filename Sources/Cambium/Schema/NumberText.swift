#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// Converts text to numbers, URLs and data. All conversions from text use these: conditions, migrations, JSON, CSV and files of
// steps. A text whose value the type cannot hold is refused; it does not become infinite, zero or another URL.

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
  /// The number that a text writes, rounded to the type. Also `inf`, `-inf` and `nan`. Nil for any other text, for a number
  /// that would become infinite, and for one that would become 0 and is not.
  package init?(numberText text: String) {
    guard let value = Self(text) else { return nil }
    let digits = text.utf8.filter { (0x30...0x39).contains($0) }
    if !value.isFinite, !digits.isEmpty { return nil }
    if value.isZero {
      // The digits before the exponent, which follows a p in hexadecimal numbers and an e in others.
      let isHexadecimal = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "x") }
      let exponent = UInt8(ascii: isHexadecimal ? "p" : "e")
      let mantissa = text.utf8.prefix { $0 | 0x20 != exponent }
      let isZero = mantissa.allSatisfy { byte in
        !(0x31...0x39).contains(byte) && !(0x61...0x66).contains(byte | 0x20)
      }
      if !isZero { return nil }
    }
    self = value
  }
}

extension Decimal {
  /// The decimal that a text writes, digit for digit; also `nan`. Nil for any other text, and for a number that has more
  /// digits, or a larger or smaller exponent, than a decimal has.
  package init?(numberText text: String) {
    if text == "nan" {
      self = .nan
      return
    }
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    var exponent = 0
    if let place = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      guard let stated = Int(String(decoding: rest[(place + 1)...], as: UTF8.self)),
        stated.magnitude < 1 << 32
      else { return nil }
      exponent = stated
      rest = rest[..<place]
    }
    let parts = rest.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.contains(where: { !$0.isEmpty }),
      parts.joined().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    var digits = Array(parts.joined().drop { $0 == 0x30 })
    exponent -= parts.count == 2 ? parts[1].count : 0
    while digits.last == 0x30 {
      digits.removeLast()
      exponent += 1
    }
    if digits.isEmpty {
      self = 0
      return
    }
    // If the exponent is too large, zeros at the end can stand for a part of it.
    while exponent > 127, digits.count < 39 {
      digits.append(0x30)
      exponent -= 1
    }
    let magnitude = String(decoding: digits, as: UTF8.self)
    guard (-128...127).contains(exponent), UInt128(magnitude) != nil,
      let value = Decimal(string: "\(isNegative ? "-" : "")\(magnitude)e\(exponent)")
    else { return nil }
    self = value
  }
}

extension URL {
  /// The absolute URL that a text is, as it is written. Nil for a relative one, and for text that is no URL.
  package init?(absolute text: String) {
    guard let url = URL(string: text), url.isAbsolute,
      url.absoluteString.utf8.elementsEqual(text.utf8)
    else { return nil }
    self = url
  }

  /// True if it begins with a scheme. Only such URLs are stored.
  package var isAbsolute: Bool { scheme != nil }
}

extension Data {
  /// The data that a text is in base64, with all of its padding and nothing else.
  package init?(wholeBase64 text: String) {
    guard text.utf8.count % 4 == 0, let data = Data(base64Encoded: text) else { return nil }
    let last = String(decoding: Array(text.utf8.suffix(4)), as: UTF8.self)
    let body = text.utf8.dropLast(4)
    guard !body.contains(UInt8(ascii: "=")),
      Data(base64Encoded: last)?.base64EncodedString() == last
    else { return nil }
    self = data
  }
}
