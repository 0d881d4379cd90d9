internal import FoundationEssentials

extension FieldCondition {
  /// Parses a condition, such as `age >= 18 && name beginswith "A"`.
  ///
  /// - Comparisons `== != < <= > >=` of fields (`address.street`; other names between backticks), values, and expressions
  ///   of them with `+ - * / % ??`, `length(…)` and `lowercased(…)`; `is null`, `is not null`.
  /// - `age in [1, 2]`, `age between 1 and 5`, `tags has "x"`.
  /// - `name beginswith "A"`, `endswith`, `contains`, `equals` and `like`, followed by `[c]`, `[d]` or `[cd]` to ignore case
  ///   or diacritics. An array `contains` an element, too.
  /// - `&& || !`, `and or not`, parentheses, `true`, `false`, `all(…)`, `any(…)`.
  /// - Values: numbers, strings with the escapes of Swift, `true`, `false`, `null`, lists in brackets; and after the name of
  ///   their type `date"2026-01-02T03:04:05Z"`, `uuid"…"`, `url"…"`, `decimal"1.5"`, `float"1.5"`, `unsigned"5"`, and
  ///   `data"00ff"`. A string stands for a date, UUID or URL if it is compared with one, and numbers for those of the
  ///   field's type.
  ///
  /// Words may be in upper case. The description of a condition is parsed as the same condition, unless it is nested
  /// hundreds deep.
  ///
  /// - Throws: The place of the error, and what was expected there.
  /// - Complexity: O(length).
  public init(parsing text: String) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text)
    self = try parser.condition()
  }
}

extension FieldValue {
  /// Parses a value as it is written in conditions, and by `literal`.
  ///
  /// - Throws: The place of the error, and what was expected there.
  public init(parsing text: String) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text)
    self = try parser.wholeValue()
  }

  /// Fails if there is no such type, or the text is none of its values.
  init?(_ type: String, _ text: String) {
    let value: FieldValue? =
      switch type.lowercased() {
      case "unsigned": UInt64(text).map { .unsigned($0) }
      case "float": Float(text).map { .float($0) }
      case "double": Double(text).map { .double($0) }
      case "decimal": Self.decimal(text)
      case "date": Date(iso: text).map { .date($0) }
      case "data": Self.data(text)
      case "uuid": UUID(uuidString: text).map { .uuid($0) }
      case "url": URL(string: text).map { .url($0) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  private static func decimal(_ text: String) -> FieldValue? {
    if text == "nan" { return .decimal(.nan) }
    // Of a number with something behind it, `Decimal` reads the number.
    guard text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }), Double(text) != nil,
      let value = Decimal(string: text), !value.isNaN
    else { return nil }
    return .decimal(value)
  }

  /// Parses data of hexadecimal digits.
  private static func data(_ text: String) -> FieldValue? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var data = Data(capacity: digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else {
        return nil
      }
      data.append(high << 4 | low)
    }
    return .data(data)
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    case 0x41...0x46: digit - 0x41 + 10
    default: nil
    }
  }
}
