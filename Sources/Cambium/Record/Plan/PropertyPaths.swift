/// The stored properties of a record's struct and of the structs in it, by their places and by the
/// names that lead to them.
final class PropertyPaths: Sendable {
  /// `address.street`.
  private let paths: [PropertyReference: String]
  private let references: [String: PropertyReference]

  /// How deep structs are looked into.
  private static var depthMax: Int { 8 }

  init(of type: any Any.Type) {
    var paths: [PropertyReference: String] = [:]
    Self.add(type, at: 0, "", depth: Self.depthMax, to: &paths)
    self.paths = paths
    references = Dictionary(paths.map { ($0.value, $0.key) }) { first, _ in first }
  }

  func path(of property: PropertyReference) -> String? { property.path ?? paths[property] }

  func reference(to path: String) -> PropertyReference? { references[path] }

  private static func add(
    _ type: any Any.Type, at offset: Int, _ outer: String, depth: Int,
    to paths: inout [PropertyReference: String]
  ) {
    for property in Reflection.storedProperties(of: type) {
      let path = outer + property.name
      let place = offset + property.offset
      let reference = PropertyReference(offset: place, type: ObjectIdentifier(property.type))
      guard paths[reference] == nil else { continue }
      paths[reference] = path
      let inner = Reflection.wrapped(property.type) ?? property.type
      // What is a value itself has no fields in it.
      if depth > 1, !(inner is any FieldValueConvertible.Type), !Reflection.isClass(inner) {
        add(inner, at: place, path + ".", depth: depth - 1, to: &paths)
      }
    }
  }
}

extension PropertyPaths {
  private static let lock = ThreadLock()
  private nonisolated(unsafe) static var known: [ObjectIdentifier: PropertyPaths] = [:]

  /// Those of a type, found out once.
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
  private let paths: PropertyPaths

  init(_ record: CheckedRecord) {
    paths = PropertyPaths.of(record.type)
    var pathsByField: [String: String] = [:]
    // Composites have shorter names than their parts.
    for field in record.fields.sorted(by: { $0.name.utf8.count < $1.name.utf8.count }) {
      let outer = field.composite.flatMap { pathsByField[$0] }
      pathsByField[field.name] = outer.map { "\($0).\(field.property)" } ?? field.property
    }
    var fields: [(property: PropertyReference, name: String)] = []
    var fieldsByPath: [String: String] = [:]
    for (field, path) in pathsByField {
      fieldsByPath[path] = field
      if let property = paths.reference(to: path) { fields.append((property, field)) }
    }
    self.fields = fields.sorted { $0.property.offset < $1.property.offset }
    self.fieldsByPath = fieldsByPath
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

  /// For errors.
  func path(of property: PropertyReference) -> String {
    paths.path(of: property) ?? "a property that is not there"
  }
}
