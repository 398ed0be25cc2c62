'use strict';
// The run in a few numbers, each with what the run beside it has.

/** A difference of two shares. */
function pointsText(share) {
  return `${shortNumber(100 * share)} points`;
}

/** Cards: {name, value, note, number, less}: `less` says that a smaller number is better. */
function cardsOf(kase) {
  const {totals} = kase;
  const several = kase.ranks.length > 1;
  const share = totals.transfer > 0 ? totals.overlapped / totals.transfer : 0;
  const cards = [
    {name: 'Virtual time', value: timeText(totals.end), number: totals.end, less: true, text: timeText,
      note: kase.ending !== 'finished' ? 'until it broke off' : several ? `rank ${totals.slowestRank} ends last` : ''},
    {name: several ? 'Idle (bubble)' : 'Idle', value: percentText(totals.idle), number: totals.idle, less: true,
      step: pointsText, note: several ? 'of the ranks’ time nothing is computed' : 'of the time nothing is computed',
      left: !totals.computes},
    {name: 'Peak memory', value: bytesText(totals.peak), number: totals.peak, less: true, text: bytesText,
      note: [several ? `rank ${totals.peakRank}` : '', totals.peakAt].filter(Boolean).join(', ')},
    {name: 'Bytes sent', value: bytesText(totals.sent), number: totals.sent, less: true, text: bytesText,
      note: several ? `at most ${bytesText(totals.sentByMost)} by one rank` : '', left: !several && totals.sent === 0},
    {name: 'Transfer overlapped', value: percentText(share), number: share, less: false, step: pointsText,
      note: `of ${timeText(totals.transfer)}, hidden behind other work`, left: totals.transfer === 0},
  ];
  return cards.filter((card) => !card.left);
}

function fillCards(element, kase, beside) {
  // What a run that was cut short took says nothing about how good it is.
  const others = beside && kase.ending === 'finished' ? new Map(cardsOf(beside.kase).map((card) => [card.name, card])) : new Map();
  replace(element, ...cardsOf(kase).map((card) => {
    const other = others.get(card.name);
    return make('div', {class: 'card'}, make('h3', {}, card.name), make('p', {class: 'value'}, card.value),
      card.note ? make('p', {class: 'note'}, card.note) : null,
      other ? make('p', {class: 'than'}, ...comparison(card, other, beside.name)) : null);
  }));
}

/** "goal 13.7 ms, the same". */
function comparison(card, other, name) {
  const text = `${name}: ${other.value}`;
  if (card.number === other.number) return [`${text}, the same`];
  const better = (card.number < other.number) === card.less;
  const difference = (card.step || card.text)(Math.abs(card.number - other.number));
  const word = `${difference} ${card.number > other.number ? 'more' : 'less'}`;
  return [`${text}, `, make('span', {class: better ? 'better' : 'worse'}, word)];
}
