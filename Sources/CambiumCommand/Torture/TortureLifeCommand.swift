import ArgumentParser
import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One life of a torture: writes until it is killed, or for so many transactions.
struct TortureLifeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "torture-life", shouldDisplay: false)

  @Argument var store: String
  @Option var seed: UInt64
  @Option var transactions: Int

  func run() throws {
    let script = TortureScript(seed: seed)
    let store = try PersistentStore(at: store, model: TortureScript.model, options: Self.options)
    let done = try store.fetch(TortureProgress.self, key: 0)?.count ?? 0
    for number in done + 1...done + max(1, transactions) {
      try script.run(number, in: store)
      Self.acknowledge(number, isDurable: script.isDurable(number))
      if number % 29 == 0 { try store.compactionStep(budget: .bytes(1 << 20)) }
      if number % 211 == 0 { try store.compact() }
    }
    try store.close()
  }

  /// Small, so that folds come often.
  static var options: StoreOptions {
    var options = StoreOptions()
    options.foldThreshold = 256 << 10
    options.transactionBudget = 512 << 10
    return options
  }

  private static func acknowledge(_ number: Int, isDurable: Bool) {
    var word = (UInt64(number) << 1 | (isDurable ? 1 : 0)).littleEndian
    _ = unsafe withUnsafeBytes(of: &word) { bytes in
      unsafe systemWrite(1, bytes.baseAddress, bytes.count)
    }
  }
}
