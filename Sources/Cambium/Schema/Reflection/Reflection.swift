@_spi(Reflection) internal import Swift

// All that the library asks of the runtime about types is asked here.

/// A stored property of a struct.
struct StoredProperty {
  /// As code without backticks would have it: `first name` of a property that is declared with them.
  let name: String
  /// In bytes, from the start of the struct.
  let offset: Int
  let type: any Any.Type
  /// False for weak and unowned properties, whose memory only the runtime may fill.
  let isStrong: Bool
}

enum Reflection {
  /// Returns true if values of `type` are shared references, which a plan must not fill in place.
  static func isClass(_ type: any Any.Type) -> Bool {
    type is AnyClass
  }

  /// The stored properties of a struct, in the order of declaration.
  ///
  /// None for a struct without any and for other types, and none too where the module that declares
  /// it was compiled without reflection metadata.
  static func storedProperties(of type: any Any.Type) -> [StoredProperty] {
    // To ask an existential ends the process.
    guard kind(of: type) == .struct else { return [] }
    var properties: [StoredProperty] = []
    var strong: Set<String>?
    unsafe _forEachField(of: type, options: []) { name, offset, property, kind in
      let name = unsafe withoutBackticks(name)
      var isStrong = true
      if mayBeWeak(kind) {
        let known = strong ?? namesOfStrong(in: type)
        strong = known
        isStrong = known.contains(name)
      }
      properties.append(
        StoredProperty(name: name, offset: offset, type: property, isStrong: isStrong))
      return true
    }
    return properties
  }

  private static func kind<Value>(of type: Value.Type) -> _MetadataKind? {
    var kind: _MetadataKind?
    unsafe _forEachField(of: Held<Value>.self, options: []) { _, _, _, found in
      kind = found
      return true
    }
    return kind
  }

  /// Returns true if values of `type` are closures, or optionals of such. A property has them in another form than a value of
  /// any type, so they cannot be filled in place.
  static func isClosure(_ type: any Any.Type) -> Bool {
    let inner = wrapped(type) ?? type
    return kind(of: inner) == .function
  }

  /// A property of any type, which says of what kind that is.
  private struct Held<Value> {
    let value: Value
  }

  /// Returns true if properties of a kind of type can be weak or unowned: references, and optionals of them.
  private static func mayBeWeak(_ kind: _MetadataKind) -> Bool {
    switch kind {
    case .class, .existential, .optional: true
    default: false
    }
  }

  /// The names of those properties that there can be key paths to: of the kinds that may be weak, all but those
  /// that are.
  private static func namesOfStrong<Subject>(in type: Subject.Type) -> Set<String> {
    var names: Set<String> = []
    // `ignoreUnknown`, which is a variable there.
    let leavesOthersOut = _EachFieldOptions(rawValue: 1 << 1)
    unsafe _forEachFieldWithKeyPath(of: type, options: leavesOthersOut) { name, _ in
      names.insert(unsafe withoutBackticks(name))
      return true
    }
    return names
  }

  /// Returns the name of a property. Metadata have backticks around a name that is no identifier without them, as
  /// `first name`, but not around a keyword.
  private static func withoutBackticks(_ name: UnsafePointer<CChar>) -> String {
    let name = unsafe String(cString: name)
    // None is within a name, where a combining character could follow it. The compiler has another space in place of each,
    // which a name between backticks cannot have itself.
    let scalars = name.unicodeScalars
    guard scalars.count > 2, scalars.first == "`", scalars.last == "`" else { return name }
    var inner = String.UnicodeScalarView()
    inner.append(contentsOf: scalars.dropFirst().dropLast().lazy.map { $0 == "\u{a0}" ? " " : $0 })
    return String(inner)
  }
}

/// The interface of an optional type to reflection.
private protocol OptionalType {
  static var wrapped: any Any.Type { get }
}

extension Optional: OptionalType {
  fileprivate static var wrapped: any Any.Type { Wrapped.self }
}

extension Reflection {
  /// Returns the type of which `type` is an optional; nil if it is none.
  static func wrapped(_ type: any Any.Type) -> (any Any.Type)? {
    (type as? any OptionalType.Type)?.wrapped
  }
}

/// The interface of an array type to reflection.
private protocol ArrayType {
  static var element: any Any.Type { get }
}

extension Array: ArrayType {
  fileprivate static var element: any Any.Type { Element.self }
}

extension Reflection {
  /// Returns the type of which `type` is an array; nil if it is none.
  static func element(_ type: any Any.Type) -> (any Any.Type)? {
    (type as? any ArrayType.Type)?.element
  }
}
