'use strict';
// The page is complete without this script, which adds a switch of the theme, sorting and a filter.
(() => {
  const MIN_ROWS_TO_FILTER = 12;
  const UNKNOWN = ['', '?', '-'];
  const UNITS = { ps: 1e-3, ns: 1, 'µs': 1e3, us: 1e3, ms: 1e6, s: 1e9, Hz: 1, kHz: 1e3, MHz: 1e6, GHz: 1e9, M: 1e6 };

  const make = (name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };

  // What a cell is sorted by: its number with its unit, or its text. What is unknown has neither.
  const key = (cell) => {
    const text = cell ? cell.textContent.trim() : '';
    if (UNKNOWN.includes(text)) return { isUnknown: true, number: NaN, text };
    const found = /^[<≤≥+]?\s*(-?[\d,]*\.?\d+(?:e-?\d+)?)\s*(\S*)/.exec(text);
    if (!found) return { isUnknown: false, number: NaN, text };
    return { isUnknown: false, number: parseFloat(found[1].replaceAll(',', '')) * (UNITS[found[2]] ?? 1), text };
  };

  const compare = (a, b) => {
    if (Number.isNaN(a.number) !== Number.isNaN(b.number)) return Number.isNaN(a.number) ? 1 : -1;
    return Number.isNaN(a.number) ? a.text.localeCompare(b.text) : a.number - b.number;
  };

  // Rows are sorted within their group.
  const sort = (table, column, isAscending) => {
    for (const body of table.tBodies) {
      if (body.className === 'group') continue;
      const rows = [...body.rows].map((row) => ({ row, key: key(row.cells[column]) }));
      // The unknown ones stay last in both directions.
      const order = (a, b) => a.isUnknown - b.isUnknown || compare(a, b) * (isAscending ? 1 : -1);
      rows.sort((a, b) => order(a.key, b.key));
      body.append(...rows.map(({ row }) => row));
    }
  };

  const makeSortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.tagName !== 'TH') return;
      const button = make('button', head.textContent);
      button.type = 'button';
      button.title = 'Sort by this column';
      button.addEventListener('click', () => {
        const isAscending = head.getAttribute('aria-sort') !== 'ascending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
        sort(table, column, isAscending);
      });
      head.replaceChildren(button);
    });
  };

  const makeFilter = (table, anchor) => {
    const label = make('label', 'Filter rows: ');
    const input = make('input', '');
    const count = make('span', '');
    input.type = 'search';
    count.setAttribute('role', 'status');
    input.addEventListener('input', () => {
      const wanted = input.value.toLowerCase();
      let matching = 0;
      for (const body of table.tBodies) {
        if (body.className === 'group') continue;
        for (const row of body.rows) {
          row.hidden = !row.textContent.toLowerCase().includes(wanted);
          matching += row.hidden ? 0 : 1;
        }
      }
      count.textContent = wanted ? ` ${matching} shown` : '';
    });
    label.append(input);
    const tools = make('p', '');
    tools.className = 'tools';
    tools.append(label, count);
    anchor.before(tools);
  };

  const addThemes = () => {
    const names = ['of the system', 'light', 'dark'];
    let theme = 0;
    const button = make('button', '');
    const show = () => {
      button.textContent = `Theme: ${names[theme]}`;
      if (theme === 0) delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = names[theme];
    };
    button.type = 'button';
    button.addEventListener('click', () => {
      theme = (theme + 1) % names.length;
      show();
    });
    show();
    const tools = make('p', '');
    tools.className = 'tools';
    tools.append(button);
    document.querySelector('header').append(tools);
  };

  addThemes();
  for (const table of document.querySelectorAll('table')) {
    const count = [...table.tBodies].reduce((sum, body) => sum + body.rows.length, 0);
    if (count > 1) makeSortable(table);
    if (count > MIN_ROWS_TO_FILTER) makeFilter(table, table.parentElement);
  }
})();
