@_spi(Reflection) internal import Swift

// All that the library asks of the runtime about types is asked here.

/// A stored property of a struct.
struct StoredProperty {
  let name: String
  /// In bytes, from the start of the struct.
  let offset: Int
  let type: any Any.Type
}

enum Reflection {
  /// Whether values of `type` are shared references, which a plan must not fill in place.
  static func isClass(_ type: any Any.Type) -> Bool {
    type is AnyClass
  }

  /// The stored properties of a struct, in the order of declaration.
  ///
  /// None for a struct without any and for what is no struct, and none too where the module that declares
  /// it was compiled without reflection metadata.
  static func storedProperties(of type: any Any.Type) -> [StoredProperty] {
    var properties: [StoredProperty] = []
    unsafe _forEachField(of: type, options: []) { name, offset, type, _ in
      properties.append(
        unsafe StoredProperty(name: String(cString: name), offset: offset, type: type))
      return true
    }
    return properties
  }
}

/// What an optional type says about itself.
private protocol OptionalType {
  static var wrapped: any Any.Type { get }
}

extension Optional: OptionalType {
  fileprivate static var wrapped: any Any.Type { Wrapped.self }
}

extension Reflection {
  /// What `type` is an optional of; nil where it is none.
  static func wrapped(_ type: any Any.Type) -> (any Any.Type)? {
    (type as? any OptionalType.Type)?.wrapped
  }
}

/// What an array type says about itself.
private protocol ArrayType {
  static var element: any Any.Type { get }
}

extension Array: ArrayType {
  fileprivate static var element: any Any.Type { Element.self }
}

extension Reflection {
  /// What `type` is an array of; nil where it is none.
  static func element(_ type: any Any.Type) -> (any Any.Type)? {
    (type as? any ArrayType.Type)?.element
  }
}
