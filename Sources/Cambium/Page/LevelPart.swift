/// A part of a level: a tree of changes.
enum LevelPart: UInt8, CaseIterable, Sendable {
  case added, replaced, removed

  /// The name of its tree in memory: in the catalog it is a layer of the tree below.
  func name(over tree: String) -> String { LevelLayer.part(self).name(over: tree) }
}
