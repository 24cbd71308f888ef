import { median, quantile } from './turns.ts'

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export const spreadHead = 'median (p10–p90)'

export const spreadOf = (figures: readonly number[], digits = 1): string =>
  `${medianOf(figures, digits)} (${quantile(figures, 0.1).toFixed(digits)}–${quantile(figures, 0.9).toFixed(digits)})`

export const medianOf = (figures: readonly number[], digits = 1): string => median(figures).toFixed(digits)

export const ratio = (one: readonly number[], other: readonly number[]): string =>
  (median(one) / median(other)).toFixed(2)

export const thousands = (figure: number): string => Math.round(figure).toLocaleString('en-US')
