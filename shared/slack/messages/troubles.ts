import type { Trouble } from '../../guard/troubles/table.ts'
import { type Block, sections } from '../blocks.ts'
import { prose } from '../text.ts'
import { bold } from './words.ts'

/** What is wrong with the whole guard. */
export const troubleBlocks = (troubles: readonly Pick<Trouble, 'sentence' | 'remedy'>[]): Block[] =>
  sections(troubles.map(({ sentence, remedy }) => `⛔ ${bold(prose(sentence))} ${prose(remedy)}`))
