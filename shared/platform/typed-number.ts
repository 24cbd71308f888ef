/** Groups of three digits need one and the same mark, because 1.200,000 is 1200 to some readers and 1200000 to others. */
const wholeNumber = /^(?:\d+|[1-9]\d{0,2}(?:([\p{Zs}\t'’ʼ.,])\d{3})(?:\1\d{3})*)$/u

/** Reads a whole number as people and spreadsheets write it: 1200, 1,200, 1.200, 1 200 or 1’200. `null`: any other text. */
export function readNumber(text: string): number | null {
  const typed = text.trim()
  if (!wholeNumber.test(typed)) return null
  const number = Number(typed.replace(/\D/g, ''))
  return Number.isSafeInteger(number) ? number : null
}
