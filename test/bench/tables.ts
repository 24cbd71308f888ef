import { median, quantile } from './turns.ts'

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export const spreadHead = ['median', 'p10 to p90'] as const

export function spreadOf(figures: readonly number[], digits = 1): [string, string] {
  const said = (figure: number) => figure.toFixed(digits)
  return [said(median(figures)), `${said(quantile(figures, 0.1))} to ${said(quantile(figures, 0.9))}`]
}

export const ratio = (one: readonly number[], other: readonly number[]): string =>
  (median(one) / median(other)).toFixed(2)

export const thousands = (figure: number): string => Math.round(figure).toLocaleString('en-US')
