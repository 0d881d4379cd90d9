import ArgumentParser

/// Measures Cambium side by side with other engines.
@main
struct Command: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium-bench",
    abstract: "Measures Cambium side by side with other engines.",
    subcommands: [
      TreeCommand.self, CommitCommand.self, LoadCommand.self, ScaleCommand.self, EngineCommand.self,
      RecordsCommand.self, ImportCommand.self, ConvertCommand.self, QueryCommand.self,
      QuestionsCommand.self, TextCommand.self, RelateCommand.self, ObserveCommand.self,
      MigrateCommand.self, BlobsCommand.self,
      CompactCommand.self, ReportCommand.self,
    ])
}
