const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
/** Outside of tags: inside of one, the next bracket closes it. */
const readAsOne = new RegExp(
  String.raw`(?:\b\d{1,2} (?:${months})(?: \d{4})?(?: \d\d:\d\d)?|\d (?:units?\b|%))(?=[^<>]*<)`,
  'g',
)
/** Whole elements whose text is filled in or copied: it stays as it is to the letter. */
const kept = /(<(?:pre|select|textarea)\b.*?<\/(?:pre|select|textarea)>)/s

/** No line of a page ends inside a date, or between a figure and its unit. */
export const unbroken = (html: string): string =>
  html
    .split(kept)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(readAsOne, (one) => one.replaceAll(' ', '\u00a0'))))
    .join('')
