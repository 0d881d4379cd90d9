import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Stores that no program wrote, in the repository: their checksums are right, and what they say is not.
enum HostileStores {
  static let folder = Repository.path("Tests/Fixtures/hostile")

  static let names = [
    "leaf-cells-behind-page", "branch-cells-behind-page", "live-bytes-of-segments-overflow",
    "counts-of-trees-overflow", "blob-of-2-gib", "graph-that-doubles", "schema-of-20000-fields",
    "no-header-of-blobs", "no-header-of-stored-blobs", "stale-index-entry", "null-bit-over-a-value",
    "external-string-not-utf8", "metadata-not-json", "no-schema-tree", "unknown-pending-work",
    "interrupted-migration-with-blobs", "row-of-a-later-version", "account-that-ends-too-low",
    "account-that-ends-too-high", "partial-index-said-to-be-whole", "empty-mark",
    "history-of-the-future", "old-row-that-is-none", "kept-state-outside",
  ]

  static func files(_ name: String) throws -> StoreFiles {
    let path = "\(folder)/\(name).tar.zst"
    guard let files = StoreFiles(archive: Bytes(try Data(contentsOf: URL(filePath: path)))) else {
      throw Disagreement(description: "\(path) is no archive of a store")
    }
    return files
  }
}
