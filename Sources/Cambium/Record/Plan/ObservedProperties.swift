/// A struct with stored properties that have observers, for conditions on them by key path.
///
/// A key path to a property with `didSet` or `willSet` calls a function, as one to a computed property does, and
/// nothing at run time tells the two apart. So the struct says which key path is which stored property; one that is
/// not listed here is refused in a query, and never taken for another property. A record's struct conforms, and so
/// does a composite's.
///
/// ```swift
/// struct Task: Record, ObservedProperties {
///   var id: Int
///   var level: Int { didSet { log("now at \(level)") } }
///
///   static var observedProperties: [String: PartialKeyPath<Task>] { ["level": \.level] }
/// }
///
/// let urgent = try store.fetch(Task.self, where: \.level > 3)
/// ```
public protocol ObservedProperties {
  /// The key paths of stored properties with observers, by the names of the properties.
  ///
  /// Opening a store throws `StoreError.invalidDescription` if one of them is not settable, or not of the type that
  /// the property has.
  static var observedProperties: [String: PartialKeyPath<Self>] { get }
}

/// What key paths to a struct's observed properties are printed as.
struct ObservedPaths {
  /// The names of the properties, by the text of their key paths.
  private(set) var names: [String: String] = [:]
  /// The name of a property whose key path cannot be its, and why.
  private(set) var fault: (property: String, reason: String)?

  /// - Parameter properties: All that the struct stores.
  init(of type: any Any.Type, properties: [StoredProperty]) {
    guard let type = type as? any ObservedProperties.Type else { return }
    add(type, properties)
  }

  private mutating func add<Subject: ObservedProperties>(
    _ type: Subject.Type, _ properties: [StoredProperty]
  ) {
    for (name, keyPath) in type.observedProperties.sorted(by: { $0.key < $1.key }) {
      guard let property = properties.first(where: { $0.name == name }) else {
        fault = (name, "\(type) has no stored property “\(name)”, but observedProperties names it")
        continue
      }
      let offset = MemoryLayout<Subject>.offset(of: keyPath)
      // Without observers after all.
      if offset == property.offset, Swift.type(of: keyPath).valueType == property.type { continue }
      let text = PropertyReference.text(of: keyPath, from: type)
      if text == name { continue }
      guard let text, offset == nil, isSettable(keyPath, to: property.type), isOneStep(text),
        names[text] == nil
      else {
        fault = (
          name, "the key path that observedProperties has for “\(name)” leads to something else"
        )
        continue
      }
      names[text] = name
    }
  }

  /// Returns true of key paths of exactly the property's type, except to what is computed and cannot be set.
  private func isSettable<Subject, Value>(
    _ keyPath: PartialKeyPath<Subject>, to type: Value.Type
  ) -> Bool { keyPath is WritableKeyPath<Subject, Value> }

  /// Returns true of the key path of a property of the struct itself that is reached by a function.
  private func isOneStep(_ text: String) -> Bool {
    text.hasPrefix("<computed ") && !text.contains(")>.")
  }
}
