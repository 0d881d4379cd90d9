/// A layer over a tree: a part of its level, or the filter of all parts.
enum LevelLayer: Hashable, Comparable, Sendable {
  case filter
  case part(LevelPart)

  /// All layers, in the order of the catalog.
  static let all = [filter] + LevelPart.allCases.map { .part($0) }

  /// The last byte of its tree's name. Names ascend as the layers do, and follow that of the tree below.
  private var sign: UInt8 {
    switch self {
    case .filter: UInt8(ascii: "!")
    case .part(.added): UInt8(ascii: "+")
    case .part(.replaced): UInt8(ascii: "=")
    case .part(.removed): UInt8(ascii: "~")
    }
  }

  static func < (one: Self, other: Self) -> Bool { one.sign < other.sign }

  /// The byte between the name of the tree below and the sign.
  private static var separator: UInt8 { 1 }

  /// The name of its tree in memory: in the catalog it is a layer of the tree below.
  func name(over tree: String) -> String {
    String(decoding: Array(tree.utf8) + [Self.separator, sign], as: UTF8.self)
  }

  /// The tree below and the layer, if `name` is that of a layer.
  ///
  /// - Complexity: O(1) for other names.
  static func parsing(_ name: String) -> (tree: String, layer: LevelLayer)? {
    let bytes = name.utf8
    guard let last = bytes.last, bytes.dropLast().last == separator,
      let layer = all.first(where: { $0.sign == last })
    else { return nil }
    return (String(decoding: bytes.dropLast(2), as: UTF8.self), layer)
  }

  /// The tree that `name` is a layer over, or `name` itself.
  static func treeName(of name: String) -> String { parsing(name)?.tree ?? name }
}

extension LevelLayer: CustomStringConvertible {
  var description: String {
    switch self {
    case .filter: "filter"
    case .part(let part): "\(part)"
    }
  }
}
