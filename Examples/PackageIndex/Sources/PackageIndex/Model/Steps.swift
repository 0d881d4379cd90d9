import Cambium

/// The model of today, and what the descriptions of its versions do not say of the way from one to the next.
enum Model {
  static let today = StoreModel(version: 4, records: [Package.self, Maintainer.self])

  static let steps = [sizesAreNumbers, maintainersAreRecords]

  /// A few packages do not say how large they are. The new name and the new field follow from the descriptions.
  private static let sizesAreNumbers = MigrationStep(to: 2, label: "sizes are numbers") {
    UpdateRecord("Package") {
      UpdateField("installedSize", converting: .replace(0))
      UpdateField("size", converting: .replace(0))
    }
  }

  /// One record becomes two, and the second is one with that of every other package of the same maintainer.
  private static let maintainersAreRecords = MigrationStep(to: 3, label: "maintainers are records")
  {
    TransformRecords("Package", into: "Package", "Maintainer") { old, emit in
      let maintainer = Maintainer(parsing: try old["maintainer", as: String.self])
      var new = old.record
      new["maintainer"] = .string(maintainer.address)
      try emit(new)
      try emit.upsert(
        DynamicRecord(
          "Maintainer",
          ["address": .string(maintainer.address), "name": .string(maintainer.name)]))
    }
  }

  // The step to version 4 needs no words: descriptions move out of the rows because their field says so.
}
