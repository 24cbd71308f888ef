export interface Bar {
  readonly name: string
  readonly value: number
}

const rowHeight = 26
const nameWidth = 250
const barWidth = 360
const width = nameWidth + barWidth + 90

/** Horizontal bars as an SVG for light and dark paper, with a line at the target. */
export function plot(options: { title: string; unit: string; bars: readonly Bar[]; target?: number }): string {
  const { title, unit, bars, target } = options
  const most = Math.max(...bars.map(({ value }) => value), target ?? 0)
  const at = (value: number) => Math.round((value / most) * barWidth)
  const height = 44 + bars.length * rowHeight + (target === undefined ? 10 : 26)
  const rows = bars.flatMap(({ name, value }, index) => {
    const y = 40 + index * rowHeight
    return [
      `<text x="${nameWidth - 10}" y="${y + 15}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${nameWidth}" y="${y}" width="${Math.max(1, at(value))}" height="20" rx="2"/>`,
      `<text x="${width - 10}" y="${y + 15}" text-anchor="end">${readable(value)} ${escaped(unit)}</text>`,
    ]
  })
  const x = nameWidth + at(target ?? 0)
  const line = [
    `<path d="M${x} 34V${height - 22}" stroke="#c2410c" stroke-dasharray="4 3"/>`,
    `<text x="${x}" y="${height - 8}" text-anchor="middle">target</text>`,
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    '<style>text{font:13px system-ui,sans-serif;fill:#6b7280}.title{font-weight:600}rect{fill:#2563eb}</style>',
    `<text class="title" x="10" y="22">${escaped(title)}</text>`,
    ...rows,
    ...(target === undefined ? [] : line),
    '</svg>',
    '',
  ].join('\n')
}

const readable = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
