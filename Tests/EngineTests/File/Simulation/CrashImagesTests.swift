import Cambium
import TestSupport
import Testing

struct CrashImagesTests {
  private let fileSystem = SimulatedFileSystem()

  /// A file whose last write is not on the disk yet.
  init() throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    let bytes: [UInt8] = [9]
    unsafe try file.write(bytes.span.bytes, from: 1, at: .test)
  }

  @Test func `images that have the same bytes are one`() {
    var images = CrashImages()
    let policies: [CrashPolicy] = [
      .none, .prefix(0), .allBut(0), .all, .onlyLast, .spoiled, .renameLost,
    ]
    let areNew = policies.map { images.insert(fileSystem.crashed($0)) }
    #expect(areNew == [true, false, false, true, false, true, false])
  }

  @Test func `names alone make another image`() throws {
    var images = CrashImages()
    var areNew = [images.insert(fileSystem.crashed(.all))]
    _ = try fileSystem.create(.pages(2), [])
    for policy in [CrashPolicy.all, .all, .none] {
      areNew.append(images.insert(fileSystem.crashed(policy)))
    }
    #expect(areNew == [true, true, false, true])
  }

  @Test func `the same image is opened again where more is expected of it`() {
    var images = CrashImages()
    let expected = [(1, false), (1, false), (1, true), (1, false), (1, true), (2, false)]
    let areNew = expected.map { number, isClean in
      images.insert(fileSystem.crashed(.none), expected: [number], isClean: isClean)
    }
    #expect(areNew == [true, false, true, false, false, true])
  }

  @Test func `changes to an image come too late to make it another`() {
    var images = CrashImages()
    let image = fileSystem.crashed(.none)
    var areNew = [images.insert(image)]
    image.replaceBytes(of: .pages(1), with: [4])
    areNew.append(images.insert(fileSystem.crashed(.none)))
    areNew.append(images.insert(image))
    #expect(areNew == [true, false, true])
  }
}
