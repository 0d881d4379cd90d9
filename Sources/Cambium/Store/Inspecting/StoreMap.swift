/// The use of every block of a store's page segments, and of every byte of its blob segments.
public struct StoreMap: Hashable, Sendable {
  /// The bytes of a block.
  public static var blockSize: Int { Layout.blockSize }

  /// The names of the trees, in order; those of records and indexes are the names in the model.
  public let trees: [String]
  /// The files of pages, by number.
  public let segments: [Segment]
  /// The files of blobs, by number.
  public let blobSegments: [BlobSegment]
  /// The faults of pages that could not be read: everything below them counts as garbage.
  public let faults: [StoreError]

  /// One file of blobs.
  public struct BlobSegment: Hashable, Sendable {
    /// The number in the file's name.
    public let number: Int
    /// The size of the file in bytes.
    public let size: Int
    /// The regions, one after the other, from byte 0 to the end; neighbours have different uses.
    public let regions: [BlobRegion]
  }

  /// Consecutive bytes of a file of blobs with the same use.
  public struct BlobRegion: Hashable, Sendable {
    public let bytes: Range<Int>
    public let use: BlobUse
  }

  /// A use of bytes of a file of blobs.
  public enum BlobUse: String, Hashable, Sendable, CaseIterable {
    /// The header of the file.
    case header
    /// Blobs that records have.
    case blobs
    /// Blobs that only a state from before a migration needs.
    case kept
    /// Nothing refers to it.
    case garbage
  }

  /// One page segment.
  public struct Segment: Hashable, Sendable {
    /// The number in the file's name.
    public let number: Int
    public let blockCount: Int
    /// The regions, one after the other, from block 0 to the end; neighbours have different uses.
    public let regions: [Region]
  }

  /// Consecutive blocks with the same use.
  public struct Region: Hashable, Sendable {
    public let blocks: Range<Int>
    public let use: Use
  }

  /// A use of blocks.
  public enum Use: Hashable, Sendable {
    /// The header of the segment.
    case header
    /// The roots of the present state.
    case footer
    /// A page of a tree, by its place in `trees`.
    case page(Page, tree: Int)
    /// Pages that only a state from before a migration reaches, or work that is not finished.
    case kept
    /// Nothing reaches it.
    case garbage
  }

  /// A kind of page of a tree.
  public enum Page: String, Hashable, Sendable, CaseIterable {
    case leaf, branch, value
  }
}

extension PersistentStore {
  /// Returns the use of every block of the page segments of the store at `path`, and of every byte of its files of blobs.
  /// Nothing is written, and another process may have it open.
  ///
  /// - Complexity: O(branches) and O(blobs), and two bytes of memory a block. Leaves are read only where they have values
  ///   in pages of their own.
  /// - Throws: `StoreError.missing`, `.corrupt` if the store does not open; `.newerFormat`, `.networkFileSystem`, `.io`.
  public static func map(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreMap {
    let backend = try ReadingBackend(at: path, options)
    let file = backend.pages
    let schema = try? StoredSchemas(backend).newest()
    var mapping = BlockMapping(file.footer)
    mapping.add(footer: file.reference)
    for (place, tree) in file.footer.trees.enumerated() {
      try mapping.add(Tree(pages: file.pages, root: tree.root), tree: place)
    }
    for work in file.footer.pendingWork {
      for tree in work.trees { try mapping.keep(Tree(pages: file.pages, root: tree.root)) }
    }
    for state in file.footer.keptStates {
      mapping.keep(footer: state.footer)
      let kept = try PageFile(after: file, opening: state.footer)
      for tree in kept.footer.trees { try mapping.keep(Tree(pages: kept.pages, root: tree.root)) }
    }
    var blobs = BlobMapping()
    if let schema = schema ?? nil { try blobs.run(in: backend, for: schema) }
    return mapping.map(of: file.footer.trees.map { $0.name.asTreeName(in: schema ?? nil) }, blobs)
  }
}

extension String {
  /// The tree's name for people: that of its record or of its index.
  fileprivate func asTreeName(in schema: Schema?) -> String {
    for record in schema?.records ?? [] {
      if self == Entity.name(ofRows: record.number) { return record.name }
      for index in record.indexes where self == Entity.name(ofIndex: index.number) {
        return "\(record.name) by \(index.name)"
      }
    }
    return self
  }
}
