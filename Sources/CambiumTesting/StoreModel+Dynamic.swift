public import Cambium

extension StoreModel {
  /// The same descriptions in a version, without the Swift types: opens a store of that version though the types are
  /// those of a later one. Its records are read and written as `DynamicRecord`s; neither hooks nor validation run.
  ///
  /// - Parameter version: The model's own, or an earlier one.
  public func dynamic(version: Int) -> StoreModel { untyped(version: version) }
}
