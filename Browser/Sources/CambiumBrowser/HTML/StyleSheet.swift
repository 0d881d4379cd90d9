/// The style sheet of all pages.
enum StyleSheet {
  static let text = """
    :root {
      color-scheme: light dark;
      --ground: #fbfaf7; --panel: #ffffff; --line: #e4e1d8; --text: #24261f; --faint: #73766a;
      --accent: #2f7d4f; --accent-ground: #e7f2ea; --fault: #a3312a; --fault-ground: #fbeae7;
      --added: #2f7d4f; --removed: #a3312a; --changed: #8a6410; --hover: #f4f2eb;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #171915; --panel: #1f221c; --line: #34382f; --text: #e6e7df; --faint: #9a9e8f;
        --accent: #7cc796; --accent-ground: #24392b; --fault: #f0988f; --fault-ground: #3b2320;
        --added: #7cc796; --removed: #f0988f; --changed: #e0b960; --hover: #272b23;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0; background: var(--ground); color: var(--text);
      font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "Inter", "Noto Sans", sans-serif;
      font-variant-numeric: tabular-nums;
    }
    a { color: var(--accent); text-decoration: none; }
    a:hover { text-decoration: underline; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }

    header {
      display: flex; align-items: center; gap: 28px; height: 52px; padding: 0 24px;
      background: var(--panel); border-bottom: 1px solid var(--line);
    }
    header .store { display: flex; align-items: center; gap: 10px; color: var(--text); }
    header .mark {
      width: 18px; height: 18px; border-radius: 50%; border: 3px solid var(--accent);
      box-shadow: inset 0 0 0 2px var(--panel), inset 0 0 0 4px var(--accent);
    }
    header nav { display: flex; gap: 4px; flex: 1; }
    header nav a { color: var(--faint); padding: 4px 10px; border-radius: 6px; }
    header nav a:hover { color: var(--text); background: var(--hover); text-decoration: none; }
    header nav a[aria-current] {
      color: var(--accent); background: var(--accent-ground); font-weight: 600;
    }
    .badge {
      font-size: 12px; color: var(--faint); border: 1px solid var(--line); border-radius: 999px;
      padding: 1px 10px;
    }

    .columns { display: grid; grid-template-columns: 216px minmax(0, 1fr); align-items: start; }
    aside { padding: 20px 12px; position: sticky; top: 0; max-height: 100vh; overflow: auto; }
    aside a {
      display: flex; justify-content: space-between; gap: 8px; padding: 4px 12px;
      border-radius: 6px; color: var(--text);
    }
    aside a span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    aside a:hover { background: var(--hover); text-decoration: none; }
    aside a[aria-current] {
      background: var(--accent-ground); color: var(--accent); font-weight: 600;
    }
    main { padding: 24px 32px 64px 20px; min-width: 0; }
    h1 { font-size: 24px; line-height: 1.25; margin: 0; letter-spacing: -0.01em; overflow-wrap: anywhere; }
    h2 { font-size: 16px; margin: 32px 0 10px; }
    h3 { font-size: 14px; margin: 24px 0 8px; }
    h2 small, h3 small { font-weight: 400; }
    small { color: var(--faint); font-size: 12px; }
    .subtitle { margin: 2px 0 18px; color: var(--faint); overflow-wrap: anywhere; }
    .notice { color: var(--faint); }
    .fault {
      color: var(--fault); background: var(--fault-ground); border-radius: 8px; padding: 10px 14px;
      overflow-wrap: anywhere;
    }
    code, pre, .text { font-size: 13px; }
    code, pre { font-family: ui-monospace, "SF Mono", "JetBrains Mono", "DejaVu Sans Mono", monospace; }

    .scroll {
      overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
    }
    table { border-collapse: collapse; width: 100%; }
    th {
      text-align: left; font-weight: 600; font-size: 12px; color: var(--faint); padding: 9px 14px;
      border-bottom: 1px solid var(--line); white-space: nowrap;
    }
    th a { color: inherit; }
    td {
      padding: 7px 14px; border-bottom: 1px solid var(--line); vertical-align: top;
      unicode-bidi: isolate;
    }
    tr:last-child td { border-bottom: 0; }
    tbody tr:hover { background: var(--hover); }
    .records td { white-space: nowrap; max-width: 340px; overflow: hidden; text-overflow: ellipsis; }
    .number { text-align: right; }
    .key { font-weight: 600; }
    .null, .size { color: var(--faint); }

    .tiles { display: flex; flex-wrap: wrap; gap: 12px; margin-bottom: 8px; }
    .tiles div {
      background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
      padding: 12px 18px; min-width: 128px;
    }
    .tiles strong { display: block; font-size: 20px; line-height: 1.3; }

    form.query { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin-bottom: 14px; }
    form.query label { color: var(--faint); }
    form.query input[name="where"] {
      flex: 1; min-width: 260px; padding: 7px 12px; font: 13px ui-monospace, "DejaVu Sans Mono", monospace;
      color: var(--text); background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
    }
    form.query button {
      padding: 7px 16px; font: inherit; font-weight: 600; color: var(--panel);
      background: var(--accent); border: 0; border-radius: 8px; cursor: pointer;
    }
    .sections { display: flex; flex-wrap: wrap; gap: 6px; align-items: baseline; width: 100%; }
    .sections a {
      font-size: 12px; border: 1px solid var(--line); border-radius: 999px; padding: 0 9px;
      background: var(--panel);
    }
    .bar rect { fill: var(--accent); opacity: 0.55; }
    .pager { display: flex; flex-wrap: wrap; gap: 16px; margin: 14px 0; color: var(--faint); }
    .pager a[aria-current] { font-weight: 600; color: var(--text); }
    .pager .aside { margin-left: auto; }

    dl {
      display: grid; grid-template-columns: minmax(110px, max-content) minmax(0, 1fr); margin: 0;
      background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
    }
    dt, dd { padding: 8px 16px; border-bottom: 1px solid var(--line); margin: 0; }
    dt { color: var(--faint); }
    dt:last-of-type, dd:last-of-type { border-bottom: 0; }
    dd { overflow-wrap: anywhere; unicode-bidi: isolate; }
    dd ul { margin: 0; padding-left: 18px; }
    dd ul.references { padding: 0; list-style: none; }
    .text { white-space: pre-wrap; }
    pre {
      margin: 8px 0 0; padding: 12px 14px; max-height: 480px; overflow: auto; white-space: pre-wrap;
      background: var(--ground); border: 1px solid var(--line); border-radius: 8px;
    }
    .content img {
      display: block; max-width: 100%; max-height: 420px; margin-top: 8px; border-radius: 8px;
      border: 1px solid var(--line);
    }

    .added { color: var(--added); }
    .removed { color: var(--removed); }
    .changed { color: var(--changed); }
    .versions td:nth-child(3), .versions th:nth-child(2) { border-left: 1px solid var(--line); }
    .map svg { display: block; width: 100%; max-width: 1100px; }
    .commit ul { margin: 0; padding-left: 18px; }
    .was { display: block; overflow-wrap: anywhere; }
    @media (max-width: 720px) {
      .columns { grid-template-columns: 1fr; }
      aside { position: static; max-height: 180px; }
      header { flex-wrap: wrap; height: auto; padding: 10px 16px; gap: 10px; }
      main { padding: 16px; }
    }

    """
}
