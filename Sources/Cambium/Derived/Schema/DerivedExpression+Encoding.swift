// The bytes of an expression of a derived field: a number that says what follows, then its parts. `FORMAT.md` has the table.

extension [UInt8] {
  /// Appends an expression, with the result of `field` for each field in it.
  mutating func append<Field>(expression: ExpressionTree<Field>, field: (Field) -> [UInt8]) {
    switch expression {
    case .field(let name):
      append(1)
      append(contentsOf: field(name))
    case .value(let value):
      append(2)
      append(value: value)
    case .arithmetic(let one, let operation, let other):
      append(contentsOf: [3, operation.code])
      append(expression: one, field: field)
      append(expression: other, field: field)
    case .negated(let operand): append(4, operand, field)
    case .length(let operand): append(5, operand, field)
    case .lowercased(let operand): append(6, operand, field)
    case .coalesced(let one, let other):
      append(7, one, field)
      append(expression: other, field: field)
    case .function(.part(let part, in: let offset), let operand):
      append(contentsOf: [8, part.code])
      append(integer: Int16(clamping: offset.minutes))
      append(expression: operand, field: field)
    case .function(.bucket(of: let width), let operand):
      append(9)
      append(value: width)
      append(expression: operand, field: field)
    case .function(.prefix, _), .count, .aggregate, .query:
      preconditionFailure("a stored expression has only fields of one record")
    }
  }

  private mutating func append<Field>(
    _ code: UInt8, _ operand: ExpressionTree<Field>, _ field: (Field) -> [UInt8]
  ) {
    append(code)
    append(expression: operand, field: field)
  }
}

extension SchemaDecoder {
  /// - Parameter depth: How deep the expression may be nested.
  func expression(
    from reader: inout ByteReader, depth: Int = FieldExpression.derivedDepthMax
  ) throws(StoreError) -> ExpressionTree<UInt32> {
    guard depth > 0 else { throw reader.fault("an expression is nested too deep") }
    let rest = depth - 1
    let code = try reader.integer(UInt8.self)
    switch code {
    case 1: return .field(try reader.integer(UInt32.self))
    case 2: return .value(try value(from: &reader))
    case 3:
      let number = try reader.integer(UInt8.self)
      guard let operation = FieldArithmetic.allCases.first(where: { $0.code == number }) else {
        throw newer("arithmetic of kind \(number)")
      }
      let one = try expression(from: &reader, depth: rest)
      return .arithmetic(one, operation, try expression(from: &reader, depth: rest))
    case 4: return .negated(try expression(from: &reader, depth: rest))
    case 5: return .length(try expression(from: &reader, depth: rest))
    case 6: return .lowercased(try expression(from: &reader, depth: rest))
    case 7:
      let one = try expression(from: &reader, depth: rest)
      return .coalesced(one, try expression(from: &reader, depth: rest))
    case 8:
      let number = try reader.integer(UInt8.self)
      guard let part = DatePart.allCases.first(where: { $0.code == number }) else {
        throw newer("a part of dates of kind \(number)")
      }
      let minutes = Int(try reader.integer(Int16.self))
      return .function(
        .part(part, in: .minutes(minutes)), try expression(from: &reader, depth: rest))
    case 9:
      let width = try value(from: &reader)
      return .function(.bucket(of: width), try expression(from: &reader, depth: rest))
    default: throw newer("an expression of kind \(code)")
    }
  }
}

extension FieldArithmetic {
  /// Its number in the format.
  fileprivate var code: UInt8 {
    switch self {
    case .plus: 1
    case .minus: 2
    case .times: 3
    case .divided: 4
    case .remainder: 5
    }
  }
}

extension DatePart {
  /// Its number in the format.
  fileprivate var code: UInt8 {
    switch self {
    case .year: 1
    case .month: 2
    case .day: 3
    case .weekday: 4
    case .hour: 5
    }
  }
}
