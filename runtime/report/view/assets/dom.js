'use strict';
// Elements from values. Text only ever becomes text.

function byId(id) {
  return document.getElementById(id);
}

/** make('td', {class: 'number'}, 'text', child, …); null children are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function replace(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** Fills a table: columns are {title, number}, rows lists of texts or elements. The first cell heads its row. */
function fillTable(table, columns, rows) {
  const head = make('tr', {}, ...columns.map((column) =>
    make('th', {scope: 'col', class: column.number ? 'number' : null}, column.title)));
  const body = rows.map((row) => make('tr', {}, ...row.map((cell, i) => i === 0
    ? make('th', {scope: 'row', class: columns[0].number ? 'number' : null}, cell)
    : make('td', {class: columns[i].number ? 'number' : null}, cell))));
  replace(table, make('thead', {}, head), make('tbody', {}, ...body));
}

/** A list of terms and descriptions from [[term, text], …]; empty texts are left out. */
function terms(pairs) {
  const list = make('dl', {});
  for (const [term, text] of pairs) {
    if (text === '' || text === null || text === undefined) continue;
    list.append(make('div', {}, make('dt', {}, term), make('dd', {}, text)));
  }
  return list;
}

/** A row of buttons of which one is pressed. */
function choice(element, name, entries, chosen, choose) {
  replace(element, name ? make('span', {class: 'name'}, name) : null, ...entries.map(({value, children, title}) =>
    make('button', {type: 'button', title: title || null, 'aria-pressed': String(value === chosen),
      onclick: () => choose(value)}, ...children)));
}

/** ✓, ✗ or · with words for those who do not see it. */
function mark(passed) {
  const [sign, word, kind] = passed === true ? ['✓', 'passed', 'good']
    : passed === false ? ['✗', 'failed', 'bad'] : ['·', 'not judged', 'none'];
  return make('span', {class: `mark mark-${kind}`, role: 'img', 'aria-label': word}, sign);
}
