/// The stored properties of a record's struct and of the structs in it, by their places and by the
/// names that lead to them.
final class PropertyPaths: Sendable {
  /// `address.street`. Nil for a property that shares its place and its type with another: both take no space.
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

  /// The property that a key path of values of `type` names: after `?` or `!` it may be an optional of them, or
  /// their wrapped values. One that is of another type is none of the record's.
  func reference(to path: String, as type: any Any.Type) -> PropertyReference {
    guard let place = places[path] else { return PropertyReference(path: path) }
    let isFitting =
      place.type == type || Reflection.wrapped(type) == place.type
      || Reflection.wrapped(place.type) == type
    return isFitting ? place.reference : PropertyReference(path: "\\.\(path)")
  }

  /// True if the type shows no stored properties.
  var isEmpty: Bool { places.isEmpty }

  /// Returns true if there is a stored property at a path.
  func has(_ path: String) -> Bool { places[path] != nil }

  /// Returns the type of the stored property at a path; nil if there is none.
  func type(at path: String) -> (any Any.Type)? { places[path]?.type }

  /// Returns true if a property is stored in another one: by its wrapper, or since it is lazy.
  func isHidden(_ name: String) -> Bool { has("_\(name)") || has("$__lazy_storage_$_\(name)") }

  /// Returns the record type that a property leads to; nil if it is no reference.
  func target(of path: String) -> (any Record.Type)? {
    places[path].flatMap { References.target(of: $0.type) }
  }

  /// Returns the properties that are references to records of a type, optional or not, and lists of such.
  func references(
    to target: any Record.Type
  ) -> [(property: PropertyReference, type: any ReferenceProperty.Type)] {
    places.values.compactMap { place in
      guard let type = place.type as? any ReferenceProperty.Type, type.target == target else {
        return nil
      }
      return (place.reference, type)
    }
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
        // A value has no fields in it.
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

  /// Returns the paths of a type that were determined before; else nil.
  static func of(_ type: ObjectIdentifier) -> PropertyPaths? {
    lock.lock()
    defer { lock.unlock() }
    return unsafe known[type]
  }
}

/// Which field of a record each property is stored in.
struct PropertyFields: Sendable {
  /// By their places; those at one place in any order.
  private let fields: [(property: PropertyReference, name: String)]
  private let fieldsByPath: [String: String]
  private let pathsByField: [String: String]
  private let paths: PropertyPaths
  /// The record's struct, and those of its parents in it.
  let levels: [TypeLevel]

  init(_ record: CheckedRecord) {
    paths = PropertyPaths.of(record.type)
    levels = record.levels
    var pathsByField: [String: String] = [:]
    // Composites have shorter names than their parts.
    for field in record.fields.sortedRarely(by: { $0.name.utf8.count < $1.name.utf8.count }) {
      // The composites of kinds are the types themselves.
      if field.role != .field { continue }
      if let outer = field.composite.flatMap({ pathsByField[$0] }) {
        pathsByField[field.name] = "\(outer).\(field.property)"
      } else {
        let start = record.levels.path(to: field.generation, in: field.composite) ?? ""
        pathsByField[field.name] = start + field.property
      }
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

  /// The name of the property that a field is stored of, without those that it is in.
  func propertyName(ofField name: String) -> String? {
    pathsByField[name]?.split(separator: ".").last.map { String($0) }
  }

  /// Returns true if a field is stored of a property of a struct, given by the path to it, and not of one further in.
  func isField(_ name: String, of level: String) -> Bool {
    guard let path = pathsByField[name], path.hasPrefix(level) else { return false }
    return !path.dropFirst(level.count).contains(".")
  }

  /// The stored name; nil for a property that no field is stored of.
  func field(of property: PropertyReference) -> String? {
    if let path = property.path {
      if property.isField { return pathsByField[path] == nil ? nil : path }
      return fieldsByPath[path]
    }
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
      + " structs, not through computed properties or classes. If it has observers (didSet, willSet), name"
      + " it in the struct's ObservedProperties; or, if a field is stored of it, make the condition of text, with"
      + " the property's name"
  }
}

/// A property of a record's struct, or of a composite in it, as a key path names it.
///
/// A stored property is known by where it is and by its type: two properties at one place are one within the
/// other, so their types differ, unless they take no room. That takes no lookup, and of a literal key path no
/// code at all.
@usableFromInline
struct PropertyReference: Hashable, Sendable {
  /// In bytes, from the start of the record's struct; −1 for a property that is not stored in place, −2 for a stored name.
  @usableFromInline let offset: Int
  /// The type of the property; of a relation, which is not stored in place, that of the records at its other end.
  @usableFromInline let type: ObjectIdentifier
  /// The path of a property that is not stored in place, as far as it has names; or the stored name.
  @usableFromInline let path: String?

  @inlinable
  init(offset: Int, type: ObjectIdentifier) {
    self.offset = offset
    self.type = type
    path = nil
  }

  init(path: String) {
    offset = -1
    type = ObjectIdentifier(Never.self)
    self.path = path
  }

  /// The property of a field with a stored name, whatever the property is called.
  init(field name: String) {
    offset = -2
    type = ObjectIdentifier(Never.self)
    path = name
  }

  /// The relation of a property, or with a stored name, as that of an inverse.
  private init(path: String, isField: Bool, to related: any Any.Type) {
    offset = isField ? -2 : -1
    // Found by its identifier from now on.
    _ = PropertyPaths.of(related)
    type = ObjectIdentifier(related)
    self.path = path
  }

  /// True of one that is given by the stored name of its field.
  var isField: Bool { offset == -2 }

  /// The relation that a property of a type is: one that leads to another type.
  func relation(of root: any Any.Type, to related: any Any.Type) -> PropertyReference {
    let path = PropertyPaths.of(root).path(of: self) ?? "a property that is not there"
    return PropertyReference(path: path, isField: isField, to: related)
  }

  /// The relation with a stored name, that of an inverse.
  static func inverse(_ name: String, to related: any Any.Type) -> PropertyReference {
    PropertyReference(path: name, isField: true, to: related)
  }

  /// The relation that leads over this one and then over another one.
  func leading(over next: PropertyReference, to related: any Any.Type) -> PropertyReference {
    let unknown = "a relation that is not there"
    return PropertyReference(
      path: (path ?? unknown) + "." + (next.path ?? unknown), isField: false, to: related)
  }

  /// The record that a type is, where queries of it are named.
  static func record(_ type: any Any.Type) -> PropertyReference {
    PropertyReference(path: "\(type)", isField: false, to: type)
  }

  /// A property of the records that this one leads to: `author.name`.
  @usableFromInline
  func leading(
    from root: any Any.Type, to part: PropertyReference, of related: any Any.Type
  ) -> PropertyReference {
    let unknown = "a property that is not there"
    let start = PropertyPaths.of(root).path(of: self) ?? unknown
    let end = PropertyPaths.of(related).path(of: part) ?? unknown
    return PropertyReference(path: start + "." + end)
  }

  /// - Complexity: A few nanoseconds for a stored property, microseconds for any other.
  @inlinable @inline(__always)
  init<Root, Value>(_ keyPath: KeyPath<Root, Value>) {
    if let offset = MemoryLayout<Root>.offset(of: keyPath) {
      self.init(offset: offset, type: ObjectIdentifier(Value.self))
    } else {
      self.init(unplaced: keyPath, of: Root.self, type: Value.self)
    }
  }

  /// A property after optionals, which has a place nevertheless; one with observers, if its struct names its key
  /// path; or one of a class, or one that is computed, which has none, and is refused when the field is looked for.
  @usableFromInline
  init(unplaced keyPath: AnyKeyPath, of root: any Any.Type, type: any Any.Type) {
    let paths = PropertyPaths.of(root)
    let wrapped = (root as? any WrappedProperties.Type)?.wrappedProperty(at: keyPath)
    if let path = paths.path(named: keyPath) ?? wrapped ?? Self.text(of: keyPath, from: root) {
      self = paths.reference(to: path, as: type)
    } else {
      self.init(path: keyPath.debugDescription)
    }
  }

  /// The steps of a key path as they are printed, with dots between them and without marks of optionals; nil if
  /// it does not begin with its root. All of them, since a path that ends with the name of a field may lead to quite
  /// another property. A step that is reached by a function is printed with the function's address.
  static func text(of keyPath: AnyKeyPath, from root: any Any.Type) -> String? {
    let text = keyPath.debugDescription
    let prefix = "\\\(String(describing: root))"
    guard text.utf8.starts(with: prefix.utf8) else { return nil }
    // `.address?.street`
    return String(
      String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        .filter { $0 != "?" && $0 != "!" }.dropFirst())
  }
}

/// A struct with stored properties that have observers, for conditions on them by key path.
///
/// A key path to a property with `didSet` or `willSet` calls a function, as one to a computed property does, and
/// nothing at run time tells the two apart. So the struct says which key path is which stored property; one that is
/// not listed here is refused in a query, and never taken for another property. A record's struct lists those that
/// begin with the record, `\.place.city`; a composite's those that closures begin with it, as in `{ $0.place.city == "Ulm" }`.
///
/// ```swift
/// struct Task: Record, ObservedProperties {
///   var id: Int
///   var level: Int { didSet { log("now at \(level)") } }
///   var place: Place { didSet { log("now in \(place)") } }
///
///   static var observedProperties: [String: PartialKeyPath<Task>] {
///     ["level": \.level, "place": \.place, "place.city": \.place.city]
///   }
/// }
///
/// let urgent = try store.fetch(Task.where { $0.level > 3 })
/// ```
public protocol ObservedProperties {
  /// The key paths to stored properties with observers, and through such to their parts, as conditions have them; by
  /// the names of the properties, with dots between them.
  ///
  /// Opening a store throws `StoreError.invalidDescription` if one of them is of another type than the property is, leads
  /// through other properties, or cannot be set.
  static var observedProperties: [String: PartialKeyPath<Self>] { get }
}

/// A struct with stored properties in property wrappers, for conditions on them by key path.
///
/// A key path to such a property calls a function, as one to a computed property does. Only the struct can say to which of
/// its properties it leads; one of which it does not is refused in a query, and never taken for another property. For types
/// whose `coding` is `.codable`.
public protocol WrappedProperties {
  /// Returns the name of the property in a wrapper to which a key path leads; nil if it leads to none, or to a part of one.
  static func wrappedProperty(at keyPath: AnyKeyPath) -> String?
}

/// The key paths that a struct names in `observedProperties`.
struct ObservedPaths {
  /// The paths of the properties. Key paths are compared, as their printed forms differ between two of the same
  /// in optimized programs.
  private(set) var paths: [AnyKeyPath: String] = [:]
  /// The path of a property whose key path cannot be its, and why.
  private(set) var fault: (property: String, reason: String)?

  /// - Parameter place: Returns the offset and the type of the stored property at a path.
  init(
    of type: any Any.Type, _ place: (_ path: String) -> (offset: Int, type: any Any.Type)?
  ) {
    guard let type = type as? any ObservedProperties.Type else { return }
    add(type, place)
  }

  private mutating func add<Subject: ObservedProperties>(
    _ type: Subject.Type, _ place: (_ path: String) -> (offset: Int, type: any Any.Type)?
  ) {
    for (path, keyPath) in type.observedProperties.sortedRarely(by: { $0.key < $1.key }) {
      guard let place = place(path) else {
        fault = (path, "\(type) has no stored property “\(path)”, but observedProperties names it")
        continue
      }
      guard Self.leads(keyPath, to: path, place), paths[keyPath] == nil else {
        fault = (
          path, "the key path that observedProperties has for “\(path)” leads to something else"
        )
        continue
      }
      paths[keyPath] = path
    }
  }

  /// Returns true of a key path that can be one to a stored property, by its type, its steps, and that it can be set.
  private static func leads<Subject>(
    _ keyPath: PartialKeyPath<Subject>, to path: String, _ place: (offset: Int, type: any Any.Type)
  ) -> Bool {
    let type = Swift.type(of: keyPath).valueType
    // Without observers after all.
    if let offset = MemoryLayout<Subject>.offset(of: keyPath) {
      return offset == place.offset && type == place.type
    }
    guard let text = PropertyReference.text(of: keyPath, from: Subject.self),
      isText(text, ofPath: path)
    else { return false }
    if type == place.type { return isSettable(keyPath, to: place.type) }
    // After an optional there is one, and nothing is set through it.
    return path.contains(".") && Reflection.wrapped(type) == place.type
  }

  private static func isSettable<Subject, Value>(
    _ keyPath: PartialKeyPath<Subject>, to type: Value.Type
  ) -> Bool { keyPath is WritableKeyPath<Subject, Value> }

  /// Compares the steps of a key path with the names of the properties. Those that are reached by a function are
  /// printed without their names, as `<computed 0x1 (Int)>`.
  private static func isText(_ text: String, ofPath path: String) -> Bool {
    var rest = Substring(text)
    for name in path.split(separator: ".", omittingEmptySubsequences: false) {
      if rest.hasPrefix("<computed "), let end = rest.firstRange(of: ")>") {
        rest = rest[end.upperBound...]
      } else if rest.hasPrefix(name) {
        rest = rest.dropFirst(name.count)
      } else {
        return false
      }
      if rest.first == "." { rest = rest.dropFirst() } else if !rest.isEmpty { return false }
    }
    return rest.isEmpty
  }
}
