// What a page does: it opens folds that a link leads into, lets the keyboard reach what scrolls sideways, and goes to the
// search field on a slash. Without it every page can be read all the same.

/** Opens every fold around the element that the address names, and shows it. */
function openAddressed() {
  const id = decodeURIComponent(location.hash.slice(1));
  const wanted = id && document.getElementById(id);
  if (!wanted) return;
  let closed = false;
  for (let fold = wanted.closest('details'); fold; fold = fold.parentElement.closest('details')) {
    closed = closed || !fold.open;
    fold.open = true;
  }
  if (closed) wanted.scrollIntoView();
}

/** An element that is wider than its place can be scrolled with the keyboard only if it can have the focus. */
function reachScrolling() {
  for (const element of document.querySelectorAll('.scroll')) {
    const scrolls = element.scrollWidth > element.clientWidth + 1;
    if (scrolls && !element.matches('a')) {
      element.tabIndex = 0;
      element.setAttribute('role', 'group');
      element.setAttribute('aria-label', 'Wider than the page: scrolls sideways');
    } else if (!element.matches('a')) {
      for (const name of ['tabindex', 'role', 'aria-label']) element.removeAttribute(name);
    }
  }
}

document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input, textarea, select');
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelector('#words, .finder input').focus();
});
document.addEventListener('toggle', reachScrolling, true);
addEventListener('resize', reachScrolling);
addEventListener('hashchange', openAddressed);
document.querySelector('.navigation [aria-current]')?.scrollIntoView({block: 'nearest'});
openAddressed();
reachScrolling();
document.body.dataset.ready = '';
