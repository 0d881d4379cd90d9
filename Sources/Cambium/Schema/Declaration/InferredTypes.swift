// A field that states no type has that of its property. The struct that a description is of is known when the description is
// made; from then on all code sees descriptions in which each field has a type.

extension Record {
  /// Returns the description of the type in a version, with the types that fields take from their properties: for a place
  /// where no Swift type stands for the record.
  ///
  /// ```swift
  /// ModelVersion(1, describing: ["Item": Item.typedDescription(for: 1)])
  /// ```
  ///
  /// It never fails. A field whose type is not found is refused when the model is checked, as in the type's own description.
  ///
  /// - Parameter version: The version of the model.
  public static func typedDescription(for version: Int) -> RecordDescription {
    let description = recordDescription(for: version)
    return description.isInferred
      ? description.typed(by: FieldOwner(Self.self, version)) : description
  }
}

/// The struct whose properties fields are stored of: a record's, or that of a composite in it.
private struct FieldOwner {
  let record: any Record.Type
  /// The version of the description.
  let version: Int
  /// The stored names of the composites that lead to it.
  let path: [String]
  let type: any Any.Type
  private let properties: PropertyPaths

  init(_ record: any Record.Type, _ version: Int) {
    self.init(record, version, [], record)
  }

  private init(
    _ record: any Record.Type, _ version: Int, _ path: [String], _ type: any Any.Type
  ) {
    self.record = record
    self.version = version
    self.path = path
    self.type = type
    properties = PropertyPaths.of(type)
  }

  /// The struct of a composite of this one.
  func composite(_ field: Field, _ type: any Any.Type) -> FieldOwner {
    FieldOwner(record, version, path + [field.name], Reflection.wrapped(type) ?? type)
  }

  /// Returns the type of the property that a field is stored of: the one that it states, or the one of its name, or of a
  /// later name if the struct does not have that of this version any more.
  func propertyType(of field: Field) throws(DescriptionFault) -> any Any.Type {
    if let type = properties.type(at: field.property) { return type }
    if properties.isEmpty {
      throw DescriptionFault(
        "\(type) shows no stored properties, so the field has no type: it is no struct, or was compiled without reflection"
          + " metadata. Compile it with them; or state `type:` here, and let the record's coding be `.codable`"
      )
    }
    if properties.isHidden(field.property) {
      throw DescriptionFault(
        "the property “\(field.property)” of \(type) is wrapped or lazy, so the type of its values is not known. State `type:`"
      )
    }
    if field.property == field.name {
      let later = record.laterProperty(ofField: path + [field.name], since: version) {
        properties.has($0)
      }
      if let type = later.flatMap({ properties.type(at: $0) }) { return type }
    }
    throw DescriptionFault(
      "\(type) has no stored property “\(field.property)” whose type it could have. Correct the name; or state `property:` if the"
        + " property has another name, or `type:` if there is none any more")
  }
}

extension RecordDescription {
  /// True if fields of it have no types yet.
  var isInferred: Bool {
    elements.contains {
      if case .field(let field) = $0.kind { field.type.isInferred } else { false }
    }
  }

  fileprivate func typed(by owner: FieldOwner) -> RecordDescription {
    var typed = self
    for place in elements.indices {
      guard case .field(let field) = elements[place].kind, field.type.isInferred else { continue }
      typed.elements[place].kind = .field(field.typed(by: owner))
    }
    return typed
  }
}

extension Field {
  fileprivate func typed(by owner: FieldOwner) -> Field {
    do throws(DescriptionFault) {
      let property = try owner.propertyType(of: self)
      guard case .composite(let parts) = type.kind else { return try stored(of: property) }
      let typed = parts.typed(by: owner.composite(self, property))
      return with(type: FieldType(kind: .composite(typed)), optional: isOptional)
    } catch {
      return with(type: FieldType(kind: .unknown(error.reason)), optional: isOptional)
    }
  }

  /// Returns the field as properties of a type are stored.
  private func stored(of property: any Any.Type) throws(DescriptionFault) -> Field {
    let wrapped = Reflection.wrapped(property)
    let value = wrapped ?? property
    if Reflection.wrapped(value) != nil {
      throw DescriptionFault(
        "the property's type is \(property), and a row has only one kind of nil. Make it an optional of a value"
      )
    }
    guard let type = FieldType(storing: value) else {
      throw DescriptionFault(
        "the property's type, \(value), is not that of a column. " + Self.remedy(value))
    }
    return with(type: type, optional: statedOptional ?? (wrapped != nil))
  }

  /// Returns the advice for a property whose type is not that of a column.
  private static func remedy(_ type: any Any.Type) -> String {
    if type is any RawRepresentable.Type {
      return
        "Let it conform to `RecordStringEnum` or `RecordIntegerEnum`; or state `type: .transformable` to store it as JSON"
    }
    let isOfProperties =
      !Reflection.storedProperties(of: type).isEmpty && !(type is any Sequence.Type)
    return
      (isOfProperties
      ? "State `type: .composite { … }` to store its properties as fields, or" : "State")
      + " `type: .transformable` to store it as JSON"
  }
}

extension FieldType {
  /// Creates the type of fields in which values of a Swift type are stored, which is not optional; nil if only the program
  /// can choose one.
  init?(storing type: any Any.Type) {
    if let single = FieldType(single: type) {
      self = single
    } else if type == Blob.self {
      self = .binaryData
    } else if let list = type as? any FieldList.Type, let element = FieldType(single: list.element)
    {
      if case .reference(let reference) = element.kind {
        self.init(reference: reference.destination, isList: true)
      } else {
        self = .array(of: element)
      }
    } else {
      return nil
    }
  }

  /// Creates the type of fields that hold one value, such as elements of lists are.
  private init?(single type: any Any.Type) {
    if let scalar = type as? any ScalarFieldValue.Type {
      self.init(scalar.scalarType)
    } else if Reflection.wrapped(type) != nil || type is any FieldList.Type {
      return nil
    } else if let target = References.target(of: type) {
      self.init(reference: .type(target), isList: false)
    } else if type is any RecordStringEnum.Type {
      self = .string
    } else if type is any RecordIntegerEnum.Type {
      self = .integer
    } else {
      return nil
    }
  }
}
