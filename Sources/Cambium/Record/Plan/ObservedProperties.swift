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
/// let urgent = try store.fetch(Task.self, where: \.level > 3)
/// ```
public protocol ObservedProperties {
  /// The key paths to stored properties with observers, and through such to their parts, as conditions have them; by
  /// the names of the properties, with dots between them.
  ///
  /// Opening a store throws `StoreError.invalidDescription` if one of them is of another type than the property is, leads
  /// through other properties, or cannot be set.
  static var observedProperties: [String: PartialKeyPath<Self>] { get }
}

/// The key paths that a struct names in `observedProperties`.
struct ObservedPaths {
  /// The paths of the properties. Key paths are compared, as what they are printed as differs between two of the same
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
    // Behind an optional there is one, and nothing is set through it.
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
