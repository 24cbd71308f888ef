import type { FigureRules, FigureScene } from './state.ts'

const costs = [0, 5, 10, 15]

export const figureScenes = {
  'one doubt, and figures of earlier times': { doubts: 1, costs, ticks: 4, outs: 1, settled: 1, asOf: true },
  'two doubts': { doubts: 2, costs: [0, 15], ticks: 3, outs: 1, settled: 0, asOf: true },
  'three doubts': { doubts: 3, costs: [15], ticks: 2, outs: 1, settled: 0, asOf: false },
  'the month turns': { doubts: 1, costs: [0, 15], ticks: 5, turnsAt: 3, outs: 1, settled: 1, asOf: true },
} as const satisfies Record<string, FigureScene>

export interface FigureBug {
  readonly rule: keyof FigureRules
  readonly scene: keyof typeof figureScenes
  readonly says: string
}

const earlier = 'one doubt, and figures of earlier times'

/** Without each rule a promise is broken in this scene. */
export const figureBugs: readonly FigureBug[] = [
  { rule: 'doubtsFirst', scene: 'two doubts', says: 'a doubt that the figure has counts twice' },
  { rule: 'keepsUp', scene: 'two doubts', says: 'a late answer of more counts what the figure had' },
  { rule: 'keepsDown', scene: 'two doubts', says: 'a late answer of less gives back what the figure had not' },
  { rule: 'byShown', scene: earlier, says: 'a doubt that was closed early is taken to be in the figure' },
  { rule: 'flightBefore', scene: earlier, says: 'an earlier figure is taken to have the runs of its last minutes' },
  { rule: 'monthApart', scene: 'the month turns', says: 'a doubt of the month before makes units of this month' },
  { rule: 'closingWaits', scene: 'the month turns', says: 'the last figure of a month counts a run twice' },
  { rule: 'bookedOn', scene: earlier, says: 'a doubt that was closed after an earlier figure was read counts twice' },
]
