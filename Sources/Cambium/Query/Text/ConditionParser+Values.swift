extension ConditionParser {
  mutating func value(depth: Int) throws(ConditionSyntaxError) -> FieldValue {
    guard depth > 0 else { throw error("less nesting") }
    let start = index
    index += next == .end ? 0 : 1
    switch tokens[start].kind {
    case .string(let text): return .string(text)
    case .integer(let value):
      return Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
    case .double(let value): return .double(value)
    case .typed(let type, let text):
      guard let value = FieldValue(type, text) else {
        throw error(
          "unsigned, float, double, decimal, date, data, uuid or url, and such a value", at: start)
      }
      return value
    case .sign("["): return .array(try values(to: "]", depth: depth - 1))
    case .sign("{"): return .composite(try parts(depth: depth - 1))
    case .sign("-"):
      switch next {
      case .integer(let value) where value <= UInt64(Int64.max) + 1:
        index += 1
        return .integer(Int64(truncatingIfNeeded: 0 &- value))
      case .double(let value):
        index += 1
        return .double(-value)
      default: throw error("a number that fits")
      }
    case .name(let name, isQuoted: false):
      switch name.lowercased() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      case "null", "nil": return .null
      default: throw error("a value", at: start)
      }
    default: throw error("a value", at: start)
    }
  }

  mutating func values(
    to end: String, depth: Int
  ) throws(ConditionSyntaxError) -> [FieldValue] {
    var values: [FieldValue] = []
    if take(end) { return values }
    repeat { values.append(try value(depth: depth)) } while take(",")
    try expect(end)
    return values
  }

  private mutating func parts(depth: Int) throws(ConditionSyntaxError) -> [String: FieldValue] {
    var parts: [String: FieldValue] = [:]
    if take("}") { return parts }
    repeat {
      guard case .string(let name) = next else { throw error("the name of a part, in quotes") }
      index += 1
      try expect(":")
      parts[name] = try value(depth: depth)
    } while take(",")
    try expect("}")
    return parts
  }
}
