import ArgumentParser
import Cambium

struct CollectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collect", abstract: "Reclaims the space of blobs that nothing refers to.",
    discussion: """
      Files of which at least half is garbage are rewritten: live blobs move to others, a few megabytes in each commit, and \
      the files are deleted. compact does the same after it has rewritten the pages. If a collection is interrupted, its work \
      so far is kept.

      Example: cambium collect gallery.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    Interruption.begin()
    let store = try arguments.openKeepingHistory()
    let bar = ProgressBar()
    do {
      defer { bar.end() }
      let before = try store.blobStatistics()
      var moved = 0
      while try store.collectBlobs(BlobBudget(bytes: Self.sliceSize)) {
        moved += Self.sliceSize
        bar.show(nil, "\(Figures.size(moved)) moved")
        try Interruption.check("The collection was interrupted. Its work so far is kept.")
      }
      let after = try store.blobStatistics()
      try store.close()
      bar.end()
      say(before, after)
    } catch {
      try? store.close()
      throw error
    }
  }

  /// The bytes that are moved between two looks at whether it is to end.
  private static let sliceSize = 64 << 20

  private func say(_ before: BlobStatistics, _ after: BlobStatistics) {
    if arguments.json {
      let json: JSONValue = [
        "blobSizeBefore": JSONValue(before.fileSize), "blobSizeAfter": JSONValue(after.fileSize),
        "garbage": JSONValue(after.garbageBytes), "blobs": JSONValue(after.count),
      ]
      return StandardOutput.line("\(json)")
    }
    let left = after.garbageBytes > 0 ? " Garbage left: \(Figures.size(after.garbageBytes))." : ""
    StandardOutput.line(
      "Files of blobs: \(Figures.change(before.fileSize, after.fileSize)).\(left)")
  }
}

extension BlobStatistics {
  fileprivate var fileSize: Int { segments.reduce(0) { $0 + $1.size } }
}
