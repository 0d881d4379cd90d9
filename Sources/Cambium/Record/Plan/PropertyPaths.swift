/// The stored properties of a record's struct and of the structs in it, by their places and by the
/// names that lead to them.
final class PropertyPaths: Sendable {
  /// `address.street`. Nil for what shares its place and its type with another: both take no room.
  private let paths: [PropertyReference: String?]
  private let places: [String: Place]
  /// The paths of properties with observers, or in such, by the key paths that the struct names for them. Key paths
  /// without arguments never change.
  private nonisolated(unsafe) let observed: [AnyKeyPath: String]

  private struct Place: Sendable {
    let reference: PropertyReference
    let type: any Any.Type
  }

  /// The depth to which structs are examined.
  private static var depthMax: Int { 8 }

  init(of type: any Any.Type) {
    var found = Found()
    found.add(type, at: 0, "", depth: Self.depthMax)
    paths = found.paths
    places = found.places
    unsafe observed =
      ObservedPaths(of: type) { path in
        found.places[path].map { ($0.reference.offset, $0.type) }
      }.paths
  }

  /// The path that the struct names a key path for; nil if it names none.
  func path(named keyPath: AnyKeyPath) -> String? { unsafe observed[keyPath] }

  /// Why the struct names a wrong key path; nil if it names none.
  func observedFault(of type: any Any.Type) -> (property: String, reason: String)? {
    ObservedPaths(of: type) { path in places[path].map { ($0.reference.offset, $0.type) } }.fault
  }

  func path(of property: PropertyReference) -> String? { property.path ?? paths[property] ?? nil }

  /// Returns nil if there is no such property, or its place is not its alone.
  func reference(to path: String) -> PropertyReference? {
    guard let reference = places[path]?.reference else { return nil }
    return paths[reference] == path ? reference : nil
  }

  /// The property that a key path of values of `type` names: behind `?` or `!` it may be an optional of them, or
  /// what they are optionals of. One that is of another type is none of the record's.
  func reference(to path: String, as type: any Any.Type) -> PropertyReference {
    guard let place = places[path] else { return PropertyReference(path: path) }
    let isFitting =
      place.type == type || Reflection.wrapped(type) == place.type
      || Reflection.wrapped(place.type) == type
    return isFitting ? place.reference : PropertyReference(path: "\\.\(path)")
  }

  /// Returns true if a reference stands for several properties.
  func isShared(_ property: PropertyReference) -> Bool { paths[property] == .some(nil) }

  private struct Found {
    var paths: [PropertyReference: String?] = [:]
    var places: [String: Place] = [:]

    mutating func add(_ type: any Any.Type, at offset: Int, _ outer: String, depth: Int) {
      for property in Reflection.storedProperties(of: type) {
        let path = outer + property.name
        let place = offset + property.offset
        let reference = PropertyReference(offset: place, type: ObjectIdentifier(property.type))
        paths[reference] = .some(paths[reference] == nil ? path : nil)
        places[path] = Place(reference: reference, type: property.type)
        let inner = Reflection.wrapped(property.type) ?? property.type
        // What is a value itself has no fields in it.
        if depth > 1, !(inner is any FieldValueConvertible.Type), !Reflection.isClass(inner) {
          add(inner, at: place, path + ".", depth: depth - 1)
        }
      }
    }
  }
}

extension PropertyPaths {
  private static let lock = ThreadLock()
  private nonisolated(unsafe) static var known: [ObjectIdentifier: PropertyPaths] = [:]

  /// Returns the paths of a type, which are determined once.
  static func of(_ type: any Any.Type) -> PropertyPaths {
    lock.lock()
    defer { lock.unlock() }
    let id = ObjectIdentifier(type)
    if let paths = unsafe known[id] { return paths }
    let paths = PropertyPaths(of: type)
    unsafe known[id] = paths
    return paths
  }
}

/// Which field of a record each property is stored in.
struct PropertyFields: Sendable {
  /// By their places; of what is at one place, in any order.
  private let fields: [(property: PropertyReference, name: String)]
  private let fieldsByPath: [String: String]
  private let pathsByField: [String: String]
  private let paths: PropertyPaths

  init(_ record: CheckedRecord) {
    paths = PropertyPaths.of(record.type)
    var pathsByField: [String: String] = [:]
    // Composites have shorter names than their parts.
    for field in record.fields.sortedRarely(by: { $0.name.utf8.count < $1.name.utf8.count }) {
      let outer = field.composite.flatMap { pathsByField[$0] }
      pathsByField[field.name] = outer.map { "\($0).\(field.property)" } ?? field.property
    }
    var fields: [(property: PropertyReference, name: String)] = []
    var fieldsByPath: [String: String] = [:]
    for (field, path) in pathsByField {
      fieldsByPath[path] = field
      if let property = paths.reference(to: path) { fields.append((property, field)) }
    }
    self.fields = fields.sortedRarely { $0.property.offset < $1.property.offset }
    self.fieldsByPath = fieldsByPath
    self.pathsByField = pathsByField
  }

  /// The stored name; nil for a property that no field is stored of.
  func field(of property: PropertyReference) -> String? {
    if let path = property.path { return fieldsByPath[path] }
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].property.offset < property.offset {
        low = middle + 1
      } else {
        high = middle
      }
    }
    while low < fields.count, fields[low].property.offset == property.offset {
      if fields[low].property.type == property.type { return fields[low].name }
      low += 1
    }
    return nil
  }

  /// The property of a field, by its stored name.
  func property(ofField field: String) -> PropertyReference? {
    pathsByField[field].map { paths.reference(to: $0) ?? PropertyReference(path: $0) }
  }

  /// For errors.
  func path(of property: PropertyReference) -> String {
    paths.path(of: property) ?? "a property that is not there"
  }

  /// Why no field is found of a property.
  func reasonForNone(of property: PropertyReference) -> String {
    if paths.isShared(property) {
      return
        "another property of its type is at the same place, since they take no room, and a key path does"
        + " not tell them apart. Make the condition of text, with the property's name"
    }
    guard let path = property.path, path.contains(where: { ".<".contains($0) }) else {
      return "no field is stored of the property"
    }
    return
      "no field is stored of the property: a key path leads to one only through stored properties of"
      + " structs, not through what is computed or is of a class. If it has observers (didSet, willSet), name"
      + " it in the struct's ObservedProperties; or, if a field is stored of it, make the condition of text, with"
      + " the property's name"
  }
}
