import FoundationEssentials
import Glibc

@testable import Cambium

/// Archives of whole stores, in every public way of reading.
enum StoreTarget: FuzzTarget {
  private static let folder =
    "\(FileManager.default.temporaryDirectory.path)/cambium-fuzz-\(getpid())"

  static func run(_ input: [UInt8]) throws {
    guard let store = StoreFiles(archive: input) else { return }
    try store.write(to: folder + "/store")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try StoreUse.tryAll(at: folder + "/store", scratch: folder + "/copy")
  }

  static func seeds(of store: StoreFiles) -> [[UInt8]] { [] }

  /// The archive of another store, whose checksums are right.
  ///
  /// - Parameter mutate: Changes bytes, and not their number.
  static func mutated(
    _ archive: [UInt8], seed: UInt64, _ mutate: (inout [UInt8]) -> Void
  ) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    guard let store = StoreFiles(archive: archive) else { return archive }
    var mender = StoreMender(store, mendsAggregates: Bool.random(using: &random))
    mender.mend()
    var changed = mender.files
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      if Bool.random(using: &random) {
        StoreMutation(of: mender.pieces, using: &random)?.apply(to: &changed)
      } else if let piece = mender.pieces.randomPiece(using: &random),
        var bytes = changed.contents[piece.file].map({ Array($0[piece.bytes]) })
      {
        mutate(&bytes)
        changed.contents[piece.file]?.replaceSubrange(piece.bytes, with: bytes)
      }
    }
    mender.replace(changed)
    mender.mend()
    return mender.files.archived(level: 1)
  }
}

extension StoreFiles {
  /// The bytes of the pieces of some kinds, a few of each.
  func pieces(_ kinds: [StoreMender.Piece.Kind], count: Int = 8) -> [[UInt8]] {
    var mender = StoreMender(self)
    mender.mend()
    return kinds.flatMap { kind in
      mender.pieces.filter { $0.kind == kind }.prefix(count).map { mender.bytes($0.file, $0.bytes) }
    }
  }
}
