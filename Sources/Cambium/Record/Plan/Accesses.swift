internal import FoundationEssentials

/// Makes accesses to properties of types that are known only now.
struct Accesses {
  private let field: DescribedField
  private let place: FieldPlace

  init(of field: DescribedField, in record: String) {
    self.field = field
    place = FieldPlace(record: record, field: field.name)
  }

  /// The access to properties of `type`, without their optional, where the field's column does not hold such
  /// values as they are; nil if they do not fit.
  func access(of type: any Any.Type) -> (any PropertyAccess)? {
    switch field.type {
    case .scalar(.string): stringEnum(type)
    case .scalar(let scalar): scalar.integer.flatMap { integer(type, in: $0) }
    case .transformable: field.codec.flatMap { coded(type, $0) }
    case .array(let element): array(type, of: element)
    case .external(let stored, _): external(type, stored)
    case .composite: nil
    }
  }

  private func access<Conversion: ValueConversion>(_ conversion: Conversion) -> any PropertyAccess {
    ConvertedAccess(conversion: conversion, isOptional: field.isOptional)
  }
}

// MARK: Kinds of fields

extension Accesses {
  private func stringEnum(_ type: any Any.Type) -> (any PropertyAccess)? {
    func make<Value: RecordStringEnum>(_: Value.Type) -> any PropertyAccess {
      access(StringEnumConversion<Value>(place: place))
    }
    return (type as? any RecordStringEnum.Type).map { make($0) }
  }

  private func integer<Stored: StoredInteger>(_ type: any Any.Type, in column: Stored.Type)
    -> (any PropertyAccess)?
  {
    func make<Value: RecordIntegerEnum>(_: Value.Type) -> any PropertyAccess {
      access(IntegerEnumConversion<Value, Stored>(place: place))
    }
    func widened<Value: StoredInteger>(_: Value.Type) -> (any PropertyAccess)? {
      guard Stored(exactly: Value.min) != nil, Stored(exactly: Value.max) != nil else { return nil }
      return access(IntegerConversion<Value, Stored>(place: place))
    }
    if let type = type as? any RecordIntegerEnum.Type { return make(type) }
    return (type as? any StoredInteger.Type).flatMap { widened($0) }
  }

  private func coded(_ type: any Any.Type, _ codec: any FieldCodec) -> (any PropertyAccess)? {
    func make<Value: Codable>(_: Value.Type) -> any PropertyAccess {
      access(CodecConversion<Value>(codec: codec, place: place))
    }
    return (type as? any Codable.Type).map { make($0) }
  }

  private func external(_ type: any Any.Type, _ stored: ScalarType) -> (any PropertyAccess)? {
    switch stored {
    case .binaryData where type == Blob.self: access(ExternalConversion<Blob>(place: place))
    case .binaryData where type == Data.self: access(ExternalConversion<Data>(place: place))
    case .string where type == String.self: access(ExternalConversion<String>(place: place))
    default: nil
    }
  }

  private func array(_ type: any Any.Type, of scalar: ScalarType) -> (any PropertyAccess)? {
    func make<Element: StoredScalar>(_: Element.Type) -> any PropertyAccess {
      access(ArrayConversion<Element>())
    }
    guard let element = Reflection.element(type).flatMap({ ScalarType.swiftType($0) }),
      element.scalarType == scalar
    else { return nil }
    return make(element)
  }
}

// MARK: What is not in a column of its own

extension Accesses {
  /// Returns a filler of properties of `type` with `value`; nil if it is of another type.
  static func filler(of type: any Any.Type, with value: any Sendable) -> (any PropertyFiller)? {
    func make<Value>(_: Value.Type) -> (any PropertyFiller)? {
      (value as? Value).map { TransientFiller(value: $0) }
    }
    return make(type)
  }

  /// Returns the access by which an optional composite is found to be nil or not.
  static func composite(of type: any Any.Type) -> any CompositeAccess {
    func make<Wrapped>(_: Wrapped.Type) -> any CompositeAccess { OptionalComposite<Wrapped>() }
    return make(type)
  }
}
