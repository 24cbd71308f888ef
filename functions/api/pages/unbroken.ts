const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const readAsOne = new RegExp(String.raw`\b\d{1,2} (?:${months})(?: \d{4})?(?: \d\d:\d\d)?|\d (?:units?\b|%)`, 'g')
/** Texts between tags; and whole elements whose text is filled in or copied, which stays as it is to the letter. */
const texts = />[^<]+|<(pre|select|textarea)\b.*?<\/\1>/gs

/** No line of a page ends inside a date, or between a figure and its unit. */
export const unbroken = (html: string): string =>
  html.replace(texts, (text) =>
    text.startsWith('>') ? text.replace(readAsOne, (one) => one.replaceAll(' ', '\u00a0')) : text,
  )
