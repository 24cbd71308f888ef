/**
 * The one form that stands for every spelling that a service may read as the same project: Unicode form (NFKC), case,
 * invisible characters, and blanks do not tell two projects apart. Two that look too much alike count as one, which
 * refuses an update at worst; taking one for two would pay for it twice.
 */
export function folded(name: string): string {
  if (/^[!-@[-~]+$/.test(name)) return name // plain ASCII without capitals and blanks: most names
  const visible = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  // Through upper case and back, which makes one of ß and ss, and of the two forms of sigma.
  const lower = visible.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  return lower.replace(/\s+/g, ' ').trim()
}
