import Cambium

/// An open file of a `SimulatedFileSystem`.
package final class SimulatedFile: File {
  /// Tells apart the open files of one content.
  let number: Int
  let content: Int
  /// For messages; a rename does not change it.
  let path: String
  let mode: OpenMode
  let fileSystem: SimulatedFileSystem

  init(
    number: Int, content: Int, path: String, mode: OpenMode, fileSystem: SimulatedFileSystem
  ) {
    self.number = number
    self.content = content
    self.path = path
    self.mode = mode
    self.fileSystem = fileSystem
  }

  deinit {
    fileSystem.close(number, content: content)
  }
}
