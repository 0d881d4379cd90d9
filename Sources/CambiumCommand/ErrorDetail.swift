import Cambium

/// An error for programs: the name of its case, and the values that it has.
struct ErrorDetail {
  let name: String
  let parts: JSONValue

  init(_ name: String, _ parts: JSONValue = [:]) {
    self.name = name
    self.parts = parts
  }

  /// Finds the name and the parts by reflection, so that a new case of an error cannot be forgotten here.
  init(of error: any Error) {
    let mirror = Mirror(reflecting: error)
    if mirror.displayStyle == .enum {
      let payload = mirror.children.first
      self.init(
        payload?.label ?? "\(error)", payload.map { JSONValue(reflecting: $0.value) } ?? [:])
    } else {
      let name = error is JSONFault ? "malformed" : "\(type(of: error))".beginningSmall
      self.init(name, JSONValue(reflecting: error))
    }
  }
}

extension JSONValue {
  /// The largest depth of values within one another.
  private static let depthMax = 8

  /// Creates the value of a part of an error. Parts of it are members under their labels.
  fileprivate init(reflecting value: Any, depth: Int = depthMax) {
    switch value {
    case let value as any FixedWidthInteger: self = .number("\(value)")
    case let value as String: self = .string(value)
    case let value as Bool: self = .boolean(value)
    case let value as Duration: self = JSONValue(value / .seconds(1))
    case let value as SystemErrorCode: self = JSONValue(Int(value.rawValue))
    case let value as SchemaDifference: self = .string("\(value)")
    case let value as any RawRepresentable<String>: self = .string(value.rawValue)
    default: self = JSONValue(Mirror(reflecting: value), of: value, depth)
    }
  }

  private init(_ mirror: Mirror, of value: Any, _ depth: Int) {
    let children = depth > 0 ? Array(mirror.children) : []
    switch mirror.displayStyle {
    case .optional:
      self = children.first.map { JSONValue(reflecting: $0.value, depth: depth - 1) } ?? .null
    case .collection:
      self = .array(children.map { JSONValue(reflecting: $0.value, depth: depth - 1) })
    case _ where children.isEmpty: self = .string("\(value)")
    default:
      self = .object(
        children.map { child in
          Member(
            name: Self.name(of: child),
            value: JSONValue(reflecting: child.value, depth: depth - 1))
        })
    }
  }

  /// The label of a part; of one without a label, a word for its type.
  private static func name(of child: Mirror.Child) -> String {
    switch child.value {
    case is StoreError.CorruptPlace: "place"
    case is SystemErrorCode: "code"
    default:
      child.label.flatMap { $0.hasPrefix(".") ? nil : $0 }
        ?? "\(type(of: child.value))".beginningSmall
    }
  }
}

extension String {
  fileprivate var beginningSmall: String { prefix(1).lowercased() + dropFirst() }
}
