import FoundationEssentials
import Glibc

@testable import Cambium

/// Something that reads bytes which may be any.
protocol FuzzTarget: SendableMetatype {
  /// Reads `input`: it may refuse it with a `StoreError`.
  ///
  /// - Throws: the fault, if it is one of the library and not of the input.
  static func run(_ input: [UInt8]) throws

  /// Inputs to begin with, from a sound store.
  static func seeds(of store: StoreFiles) -> [[UInt8]]
}

/// The target of this process, which the environment names.
private let target: any FuzzTarget.Type = {
  switch environment("CAMBIUM_FUZZ") {
  case "page": PageTarget.self
  case "log": LogTarget.self
  case "row": RowTarget.self
  case "blob": BlobTarget.self
  default: StoreTarget.self
  }
}()

private func environment(_ name: String) -> String? {
  unsafe getenv(name).map { unsafe String(cString: $0) }
}

/// libFuzzer with the target that `CAMBIUM_FUZZ` names, or, if `CAMBIUM_SEEDS` names a directory, the writer of the
/// target's seeds there, from the archives of stores that are there.
@main enum Fuzz {
  static func main() throws {
    if let folder = environment("CAMBIUM_SEEDS") {
      try writeSeeds(folder)
    } else {
      var count = CommandLine.argc
      var arguments = unsafe CommandLine.unsafeArgv
      exit(unsafe runDriver(&count, &arguments, testOneInput))
    }
  }

  /// - Throws: also if the target refuses all of them: then it is the target that is wrong.
  private static func writeSeeds(_ folder: String) throws {
    var acceptedCount = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where name.hasSuffix(".tar.zst") {
      let archive = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
      guard let store = StoreFiles(archive: archive) else { continue }
      for (number, seed) in target.seeds(of: store).enumerated() {
        try Data(seed).write(to: URL(filePath: "\(folder)/\(name)-\(number)"))
        if (try? target.run(seed)) != nil { acceptedCount += 1 }
      }
    }
    guard acceptedCount > 3 else {
      throw WrongUse(description: "\(target) accepts \(acceptedCount) of its seeds")
    }
    print("\(target) accepts \(acceptedCount) of its seeds.")
  }
}

// MARK: - libFuzzer

@_extern(c, "LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// libFuzzer's own way of changing bytes.
@_extern(c, "LLVMFuzzerMutate")
private func mutate(_ data: UnsafeMutablePointer<UInt8>?, _ count: Int, _ countMax: Int) -> Int

@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
  do {
    try target.run(input)
  } catch is StoreError {
    // The answer to most of them.
  } catch {
    let text = Array("Wrong: \(error)\n".utf8)
    _ = unsafe write(STDERR_FILENO, text, text.count)
    abort()
  }
  return 0
}

@c(LLVMFuzzerCustomMutator)
public func customMutator(
  _ data: UnsafeMutablePointer<UInt8>?, _ count: Int, _ countMax: Int, _ seed: CUnsignedInt
) -> Int {
  guard target == StoreTarget.self else { return unsafe mutate(data, count, countMax) }
  let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
  let changed = StoreTarget.mutated(input, seed: UInt64(seed)) { bytes in
    let room = bytes.count
    unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      let count = unsafe mutate(bytes.baseAddress, bytes.count, room)
      for index in count..<room { unsafe bytes[index] = 0 }
    }
  }
  guard changed.count <= countMax else { return count }
  for (index, byte) in changed.enumerated() { unsafe data?[index] = byte }
  return changed.count
}
