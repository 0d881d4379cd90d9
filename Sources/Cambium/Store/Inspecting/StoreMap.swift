/// What every block of a store's page segments is used for, and what every byte of its blob segments.
public struct StoreMap: Hashable, Sendable {
  /// The bytes of a block.
  public static var blockSize: Int { Layout.blockSize }

  /// The names of the trees, in the order of their names: of records and indexes as people call them.
  public let trees: [String]
  /// By number.
  public let segments: [Segment]
  /// The files of blobs, by number.
  public let blobSegments: [BlobSegment]
  /// What could not be read: what is below it counts as garbage.
  public let faults: [StoreError]

  /// One file of blobs.
  public struct BlobSegment: Hashable, Sendable {
    /// As in the file's name.
    public let number: UInt32
    /// Of the file, in bytes.
    public let size: Int
    /// One behind the other, from byte 0 to the end; neighbours differ.
    public let regions: [BlobRegion]
  }

  /// Bytes of a file of blobs that are used for the same.
  public struct BlobRegion: Hashable, Sendable {
    public let bytes: Range<Int>
    public let use: BlobUse
  }

  /// What bytes of a file of blobs are used for.
  public enum BlobUse: String, Hashable, Sendable, CaseIterable {
    /// What the file begins with.
    case header
    /// Blobs that records have.
    case blobs
    /// Blobs that only a state needs that is kept from before a migration.
    case kept
    /// Nothing refers to it.
    case garbage
  }

  /// One page segment.
  public struct Segment: Hashable, Sendable {
    /// As in the file's name.
    public let number: UInt32
    public let blockCount: Int
    /// One behind the other, from block 0 to the end; neighbours differ.
    public let regions: [Region]
  }

  /// Blocks next to each other that are used for the same.
  public struct Region: Hashable, Sendable {
    public let blocks: Range<Int>
    public let use: Use
  }

  /// What blocks are used for.
  public enum Use: Hashable, Sendable {
    /// What the segment begins with.
    case header
    /// The roots of the present state.
    case footer
    /// A page of a tree, by its place in `trees`.
    case page(Page, tree: Int)
    /// Only a state reaches it that is kept from before a migration, or work that has not ended.
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
  /// What every block of the page segments of the store at `path` is used for, and every byte of its files of blobs.
  /// Nothing is written, and another process may have it open.
  ///
  /// - Complexity: O(branches) and O(blobs), and two bytes of memory a block. Leaves are read only where they have values
  ///   in pages of their own.
  /// - Throws: `StoreError.missing`, `.corrupt` where the store does not open; `.newerFormat`,
  ///   `.networkFileSystem`, `.io`.
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
  /// What people call a tree: by its record, or by its index's.
  fileprivate func asTreeName(in schema: Schema?) -> String {
    for record in schema?.records ?? [] {
      if self == RecordTrees.name(ofRows: record.number) { return record.name }
      for index in record.indexes where self == RecordTrees.name(ofIndex: index.number) {
        return "\(record.name) by \(index.name)"
      }
    }
    return self
  }
}
