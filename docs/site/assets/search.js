// Search without a server: MiniSearch reads the index that was built with the site (search-index.js).

const MOST = 30;
const AROUND = 90;  // characters of an excerpt on each side of the word

/** As words_of() of search_index.cpp does with what is in the index. */
function wordsOf(text) {
  return text.toLowerCase().match(/[a-z0-9\u03b1-\u03c9]+/g) ?? [];
}

const engine = MiniSearch.loadJS(searchIndex, {
  fields: ['heading', 'text'],
  storeFields: ['address', 'title', 'heading', 'text', 'folded'],
  tokenize: wordsOf,
  searchOptions: {boost: {heading: 3}, prefix: (word) => word.length > 2, fuzzy: (word) => word.length > 5 ? 0.15 : false,
    combineWith: 'AND', boostDocument: (id, word, stored) => stored.folded ? 0.5 : 1},
});

/** Text with the words that were found marked. */
function markedText(text, words) {
  const result = document.createDocumentFragment();
  const parts = text.split(/([A-Za-z0-9\u0391-\u03c9]+)/);
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 0 || !words.has(part.toLowerCase())) {
      result.append(part);
    } else {
      result.append(Object.assign(document.createElement('mark'), {textContent: part}));
    }
  }
  return result;
}

/** The text around the first word that was found. */
function excerpt(text, words) {
  let first = 0;
  for (const match of text.matchAll(/[A-Za-z0-9\u0391-\u03c9]+/g)) {
    if (!words.has(match[0].toLowerCase())) continue;
    first = match.index;
    break;
  }
  const begin = first <= AROUND ? 0 : text.indexOf(' ', first - AROUND) + 1;
  const end = first + AROUND * 2 >= text.length ? text.length : text.lastIndexOf(' ', first + AROUND * 2);
  return (begin > 0 ? '… ' : '') + text.slice(begin, end) + (end < text.length ? ' …' : '');
}

function shown(finding) {
  const words = new Set(finding.terms);
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = finding.address;
  link.append(markedText(finding.heading || finding.title, words));
  item.append(link);
  const place = document.createElement('small');
  const after = finding.folded ? 'after the pass' : '';
  place.textContent = [finding.heading && finding.heading !== finding.title ? finding.title : '', after].filter(Boolean).join(' · ');
  if (place.textContent) item.append(place);
  if (finding.text) {
    const text = document.createElement('p');
    text.append(markedText(excerpt(finding.text, words), words));
    item.append(text);
  }
  return item;
}

function search(words) {
  const findings = wordsOf(words).length > 0 ? engine.search(words) : [];
  const results = document.getElementById('results');
  results.replaceChildren(...findings.slice(0, MOST).map(shown));
  const count = findings.length === 1 ? '1 place' : `${findings.length} places`;
  const most = findings.length > MOST ? `, of which these are the first ${MOST}` : '';
  document.getElementById('found').textContent = wordsOf(words).length > 0 ? `${count}${most}` : '';
}

const field = document.getElementById('words');
field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', () => search(field.value));
field.form.addEventListener('submit', (event) => {
  event.preventDefault();
  history.replaceState(null, '', `?q=${encodeURIComponent(field.value)}`);
});
search(field.value);
field.focus();
