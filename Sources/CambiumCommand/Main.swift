import ArgumentParser
import Cambium

/// `cambium`: explains, checks, copies and migrates any store, without the program that wrote it.
@main
enum Main {
  static func main() {
    let status: ExitStatus
    do {
      // The first is the name of the program.
      guard !CommandLine.arguments.isEmpty else {
        throw CommandFailure(
          .inputOutput,
          "The arguments cannot be read: on Linux that takes /proc. Mount it, and try again."
        )
      }
      var command = try RootCommand.parseAsRoot()
      try command.run()
      status = .good
    } catch {
      status = ErrorReport(error).say()
    }
    StandardOutput.finish()
    status.exit()
  }
}

struct RootCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium",
    abstract: "Explains, checks, copies and migrates any Cambium store.",
    discussion: """
      A store is a directory. Only the commands that say so write to it, and they leave it whole if they are \
      interrupted.

      Example: cambium info orders.cambium
      """,
    version: VersionText.text,
    subcommands: [
      InfoCommand.self, CheckCommand.self, CompactCommand.self, CollectCommand.self,
      ExpireCommand.self,
      MapCommand.self, SchemaCommand.self, BrowseCommand.self, PostgresCommand.self,
      QueryCommand.self,
      GetCommand.self, PutCommand.self, SetCommand.self, DeleteCommand.self, HistoryCommand.self,
      WatchCommand.self, DiffCommand.self,
      BlobCommand.self,
      ExportCommand.self,
      ImportCommand.self,
      BackupCommand.self,
      SalvageCommand.self,
      PlanCommand.self, MigrateCommand.self, RollbackCommand.self, TortureCommand.self,
      TortureLifeCommand.self, ManualCommand.self,
    ])
}
