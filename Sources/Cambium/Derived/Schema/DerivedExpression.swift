// Expressions whose values the store keeps in derived fields.

/// Other names, or numbers, for the fields of an expression that leads to no other records.
struct FieldMapping<Field: Hashable & Sendable, Name: Hashable & Sendable>: FieldNaming {
  typealias Failure = Never

  private let mapped: (Field) -> Name

  init(_ mapped: @escaping (Field) -> Name) {
    self.mapped = mapped
  }

  func name(of field: Field) -> Name { mapped(field) }
  func relation(_ field: Field) -> (name: Name, fields: Self) { (mapped(field), self) }
  func kind(_ name: Field) -> Name { mapped(name) }
  func record(_ name: Field) -> (name: Name, kind: Name?, fields: Self) {
    (mapped(name), nil, self)
  }
}

extension FieldExpression {
  /// The depth to which expressions of derived fields may be nested.
  static var derivedDepthMax: Int { 32 }

  /// Parses the expression of a derived field.
  ///
  /// - Throws: The reason if it is no expression, or one that derived fields cannot have.
  init(ofDerived text: String) throws(DescriptionFault) {
    do throws(ConditionSyntaxError) {
      try self.init(parsing: text)
    } catch {
      throw DescriptionFault("its expression cannot be read: \(error)")
    }
    guard !isDeeper(than: Self.derivedDepthMax) else {
      throw DescriptionFault("its expression is nested over \(Self.derivedDepthMax) deep")
    }
    if let fault = faultAsDerived { throw DescriptionFault("\(self) cannot be derived: \(fault)") }
  }

  /// Returns the expression with other names of fields.
  func renamed(_ name: @escaping (String) -> String) -> FieldExpression {
    named(by: FieldMapping(name))
  }

  /// Why no derived field can have the expression, whatever the fields in it are; nil if one can. A value that follows
  /// from other records would stay as it is when they change, and one that depends on tables of the system might differ when
  /// the store is opened elsewhere.
  private var faultAsDerived: String? {
    switch self {
    case .field: nil
    case .value(let value): value.faultAsDerived
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      one.faultAsDerived ?? other.faultAsDerived
    case .negated(let operand), .length(let operand), .lowercased(let operand):
      operand.faultAsDerived
    case .function(.part(_, in: let offset), let operand):
      offset.isValid ? operand.faultAsDerived : "no clock is \(offset) from UTC"
    case .function(.bucket(of: let width), let operand):
      width.faultAsDerived ?? operand.faultAsDerived
    case .function(.prefix, _):
      "prefix counts characters, and versions of Unicode divide strings into different ones"
    case .count(let relation, where: _), .aggregate(_, let relation, of: _, where: _):
      "it leads over \(relation) to other records, which change without this one; derive the field of an inverse, as"
        + " .count(of:) and .sum(of:value:) do"
    case .query: "a query is of other records, which change without this one"
    }
  }
}

extension FieldValue {
  /// Why an expression that is kept cannot have the constant; nil if it can.
  var faultAsDerived: String? {
    switch self {
    case .array, .composite, .blob: "nothing can be computed of \(self)"
    case .double(let value) where !value.isFinite: "\(self) is no finite number"
    case .float(let value) where !value.isFinite: "\(self) is no finite number"
    default: isNaN ? "\(self) is no number" : nil
    }
  }
}

extension ExpressionTree {
  /// Returns the fields of an expression that leads to no other records.
  var ownFields: Set<Field> {
    switch self {
    case .field(let field): [field]
    case .value, .count, .aggregate, .query: []
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      one.ownFields.union(other.ownFields)
    case .negated(let operand), .length(let operand), .lowercased(let operand),
      .function(_, let operand):
      operand.ownFields
    }
  }
}
