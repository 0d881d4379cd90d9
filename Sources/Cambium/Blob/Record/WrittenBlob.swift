/// A blob that was written and is in no record yet. It is kept from being collected for as long as anybody has it.
final class WrittenBlob: BlobSource {
  let content: BlobContent
  private let keeper: BlobKeeper
  private let reader: BlobFrameReader

  init(_ content: BlobContent, by keeper: BlobKeeper) throws(StoreError) {
    self.content = content
    self.keeper = keeper
    reader = try keeper.located().reader(of: content.identity, at: content.place)
  }

  var identity: BlobIdentity { content.identity }
  var count: Int { reader.count }
  func reading() -> BlobFrameReader { reader }

  /// Returns true if it lies in the files of this keeper.
  func isOf(_ keeper: BlobKeeper) -> Bool { self.keeper === keeper }
}
