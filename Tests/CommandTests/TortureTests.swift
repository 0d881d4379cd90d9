import Glibc
import Testing

@Suite struct TortureTests {
  @Test func `a torture finds nothing wrong, and leaves nothing`() throws {
    let stage = try Stage()
    let command = try Command.run(
      "torture", stage.path("store"), "--seconds", "3", "--seed", "5", "--json")
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output.contains(#"{"seed":5,"lives":"#))
    #expect(!exists(stage.path("store")))
  }

  @Test func `interrupted, it says that nothing was wrong until then`() throws {
    let stage = try Stage()
    let command = try Command.run(
      "torture", stage.path("store"), "--hours", "1", signal: (SIGINT, 1500))
    #expect(command.status == 130, "\(command.error)")
    #expect(command.output.contains("nothing wrong"))
    #expect(!exists(stage.path("store")))
  }
}
