import ArgumentParser
import Cambium

struct RollbackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback", abstract: "Takes a store back to the state before a migration.",
    discussion: """
      A rollback discards the commits made since the migration: the command prints their number, and rolls \
      back only with --discard. Programs of the version that the store leaves do not migrate it again by \
      themselves, nor does cambium migrate without --after-rollback.

      Example: cambium rollback orders.cambium --to 2
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: "The version to go back to. (default: the last that is kept)")
  var to: Int?

  @Flag(help: "Discard the commits made since the migration.")
  var discard = false

  @Flag(help: "Only print the changes that would be discarded.")
  var dryRun = false

  func run() throws {
    let found = try PersistentStore.inspect(
      at: arguments.store, lastCommits: 0, options: arguments.reading)
    let kept = try target(of: found)
    // The commit after the kept state is the one that ended the migration.
    let commits = max(0, Int(clamping: found.sequence) - Int(clamping: kept.sequence) - 1)
    let loss = "\(Figures.count(commits, "commit")) since the migration"
    if dryRun {
      return say(
        kept, commits,
        "A rollback from version \(found.version ?? 0) to \(kept.version) would discard \(loss).")
    }
    if commits > 0, !discard {
      throw CommandFailure(
        .refused,
        "A rollback to version \(kept.version) would discard \(loss). Use --discard to do that; nothing was changed."
      )
    }
    try PersistentStore.rollback(
      at: arguments.store, to: kept.version, discardingCommits: discard, options: arguments.writing)
    say(
      kept, commits,
      "Rolled back from version \(found.version ?? 0) to \(kept.version), and discarded \(loss).")
  }

  private func target(of found: StoreInspection) throws -> KeptVersion {
    let versions = found.keptVersions.map { "\($0.version)" }.joined(separator: ", ")
    guard
      let kept = to.map({ to in found.keptVersions.last { $0.version == to } })
        ?? found.keptVersions.last
    else {
      throw CommandFailure(
        .notFound,
        versions.isEmpty
          ? "No version is kept to go back to." : "The versions that are kept are \(versions).")
    }
    return kept
  }

  private func say(_ kept: KeptVersion, _ commits: Int, _ text: String) {
    let json: JSONValue = [
      "version": JSONValue(kept.version), "commits": JSONValue(commits), "dryRun": .boolean(dryRun),
    ]
    StandardOutput.line(arguments.json ? "\(json)" : text)
  }
}
