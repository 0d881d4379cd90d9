/// Keeps a version of an overlay readable until it goes.
final class OverlayPin: Sendable {
  let overlay: Overlay

  fileprivate init(_ overlay: Overlay) {
    self.overlay = overlay
    overlay.arena.pin(overlay.stamp)
  }

  deinit {
    overlay.arena.unpin(overlay.stamp)
  }
}

extension Overlay {
  /// Pins a version that may be read at the moment. From any thread; costs two short locks in all.
  func pin() -> OverlayPin { OverlayPin(self) }
}
