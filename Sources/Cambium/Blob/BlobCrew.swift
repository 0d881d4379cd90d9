/// Threads that compress and decompress frames, and write large ones out, beside the calling threads.
final class BlobCrew: WorkCrew, @unchecked Sendable {
  let contexts: ZstdContexts

  init(size: Int = BlobCrew.processorCount) {
    contexts = ZstdContexts(capacity: size + 2)
    super.init(name: "cambium-blobs", size: size)
  }
}
