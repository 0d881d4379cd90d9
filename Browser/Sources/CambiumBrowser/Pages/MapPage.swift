import Cambium

/// The use of the bytes of all files, as a picture.
struct MapPage {
  private let map: StoreMap
  private let cells: MapCells

  /// - Throws: as `PersistentStore.map`.
  init(_ store: FollowedStore) throws(StoreError) {
    map = try PersistentStore.map(at: store.path, options: store.options)
    cells = MapCells(map)
  }

  var page: Page {
    Page(
      "Map of the files",
      "\(Figures.size(cells.size)) in \(Figures.count(cells.bands.count, "file"));"
        + " a cell is \(Figures.size(cells.bytesPerCell))"
    ) {
      for fault in map.faults {
        element(.p, [.kind: "fault"], "\(fault) Everything below counts as garbage here.")
      }
      for band in cells.bands { picture(of: band) }
      element(.h2, "Uses")
      textTable(
        ["", "use", "size", "share"], numbers: [2, 3],
        cells.legend.map { entry in
          [
            element(.svg, [.width: "14", .height: "14"]) {
              element(.rect, [.width: "14", .height: "14", .fill: entry.colour])
            },
            HTML(entry.name), HTML(Figures.size(entry.size)),
            HTML(Figures.share(Double(entry.size) / Double(max(1, cells.size)))),
          ]
        })
    }
  }

  private func picture(of band: MapCells.Band) -> HTML {
    let height = band.rowCount * MapCells.pitch
    return element(.section, [.kind: "map"]) {
      element(.h3) {
        band.name + " "
        element(.small, Figures.size(band.size))
      }
      element(
        .svg,
        [
          .viewBox: "0 0 \(MapCells.columns * MapCells.pitch) \(height)",
          .label: "The use of \(band.name)",
        ]
      ) {
        for run in band.runs {
          element(
            .rect,
            [
              .x: "\(run.column * MapCells.pitch)", .y: "\(run.row * MapCells.pitch)",
              .width: "\(run.count * MapCells.pitch - 1)", .height: "\(MapCells.pitch - 1)",
              .fill: cells.colour(of: run.area),
            ]
          ) { element(.title, cells.name(of: run.area)) }
        }
      }
    }
  }
}
