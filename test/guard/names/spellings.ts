/** The projects of one client. */
export const listed = [
  { name: 'initech', id: '8203' },
  { name: 'sp-z1' },
  { name: 'café.example' },
  { name: 'Ærøskøbing Łódź' },
]

const digitsFrom = (zero: number) => [8, 2, 0, 3].map((digit) => String.fromCodePoint(zero + digit)).join('')

/** Other spellings of a listed name, as a lenient service reads them. */
const spellingsOf: Readonly<Record<string, readonly string[]>> = {
  '8203': [
    '08203',
    '008203',
    '+8203',
    '-8203',
    '8203.0',
    '8203.00',
    '8203.',
    '8.203e3',
    '82.03E2',
    '0.8203e4',
    '82030e-1',
    '0x200b',
    '0X200B',
    '0x0200b',
    '0o20013',
    '0b10000000001011',
    '+08203',
    '8203.5',
    '+0x200b',
    '8203x',
    '8203-a',
    '8203 a',
    '8203_',
    '8203:',
    '8203!',
    '8203a',
    '8203.x',
    '8203e',
    '8203\t1',
    '8203$',
    '8203)',
    '"8203"',
    "'8203'",
    '"8203',
    "'8203",
    ' "8203"',
    '8203"',
    "8203'",
    '"8203"x',
    '" 8203',
    '08203x',
    '8203’',
    '+8203x',
    '-8203-a',
    '0x200bz',
    '8.203e3x',
    '8203½',
    '8203.9',
    '020013',
    '"+8203"',
    '8203?x=1',
    '8203#a',
    '8203&a=1',
    '8203=',
    '8203|1',
    '8203~',
    ...[0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1810, 0x0a66, 0x0ce6].map(digitsFrom),
    `${digitsFrom(0x660)}x`,
    `+${digitsFrom(0x966)}`,
  ],
  'sp-z1': [
    'sp-z1.',
    'sp-z1..',
    '"sp-z1"',
    "'sp-z1'",
    '“sp-z1”',
    '«sp-z1»',
    '`sp-z1`',
    '"sp-z1',
    "sp-z1'",
    '"sp-z1."',
    'sp‐z1',
    'sp‑z1',
    'sp‒z1',
    'sp–z1',
    'sp—z1',
    'sp―z1',
    'sp﹘z1',
    'SP–Z1',
    'sp-z1?x=1',
    'sp-z1#a',
    'sp-z1&a',
    'šp-z1',
    'sp-ž1',
    'ṣp-z1',
    'sp-z١',
    'sp-z۱',
    'sp-z१',
    '"sp—z1".',
    'sp-z1.?x',
  ],
  'café.example': ['cafe.example', 'cafè.example', 'CAFE.example', 'cafe.example.', '"cafe.example"', 'ĉafe.example'],
  'Ærøskøbing Łódź': ['aeroskobing lodz', 'Aerøskøbing Łódz', 'AEROSKOBING LODZ', 'ærøskøbing lódź'],
}

export const spellings = Object.entries(spellingsOf).flatMap(([reading, all]) =>
  all.map((spelling) => [spelling, reading] as const),
)

const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1810, 0x0a66, 0x0ce6]

/** Every project that the most lenient service may find for a name. */
export function readLeniently(name: string): readonly string[] {
  const digits = name.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0
    return String(code - (zeros.find((zero) => code >= zero && code < zero + 10) ?? 0x30))
  })
  const bare = digits.replace(/^["'\s]+|["'\s]+$/g, '')
  const numbers = [
    Number(bare),
    Number.parseInt(bare, /^[+-]?0x/i.test(bare) ? 16 : 10),
    Number.parseInt(bare, 8),
    Number.parseFloat(bare),
    Math.floor(Number(bare)),
  ]
  const texts = [name, digits, name.split(/[?#&;]/)[0] ?? ''].map(plain)
  const read = new Set([...numbers.map((number) => String(Math.abs(Math.trunc(number)))), ...texts])
  return listed
    .filter(({ name, id }) => read.has(plain(name)) || (id !== undefined && read.has(id)))
    .map(({ name }) => name)
}

/** The name without marks, quotes, outer blanks and final dots. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ø', 'o')
    .replaceAll('æ', 'ae')
    .replaceAll('ł', 'l')
    .replace(/[‐‑‒–—―﹘]/g, '-')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
