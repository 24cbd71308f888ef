import { expect, test } from 'vitest'
import { createPlayer } from '../../../shared/guard/plans/player.ts'
import { createPrices } from '../../../shared/guard/plans/prices.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { minutes } from '../../support/clock.ts'
import { randomLedger } from './chance-ledger.ts'

/** Counts how often the work of the plans is read. */
async function start() {
  const { clock, parts, plans } = await randomLedger(3)
  const reads = { count: 0, isFailing: false }
  const ledger: typeof parts.ledger = {
    ...parts.ledger,
    view: async (queries = []) => {
      if (queries.length > 0) reads.count++
      if (queries.length > 0 && reads.isFailing) throw new LedgerUnavailable('it does not answer')
      return parts.ledger.view(queries)
    },
  }
  const planned = { ...parts, ledger, plans }
  const player = createPlayer({ ...planned, prices: createPrices(planned).prices })
  const play = () => player.playPlans(ledger.view())
  return { clock, ledger, player, play, reads }
}

test('the played plans are kept for a minute, and no longer', async () => {
  const { clock, play, player, reads } = await start()
  const [first, second] = [await play(), await play()]
  expect([second.played === first.played, reads.count]).toEqual([true, 1])
  clock.advance(minutes(1) - 1)
  await play()
  expect(reads.count).toBe(1)
  clock.advance(1)
  expect((await play()).played).not.toBe(first.played)
  expect(reads.count).toBe(2)
  player.forget()
  await play()
  expect(reads.count).toBe(3)
})

test('a booking plays the plans again', async () => {
  const { ledger, play, reads } = await start()
  await play()
  const grant = { id: 'ent_new', content: 'new', reason: 'a test', by: 'ada', budget: 'account', wholeChain: false }
  await ledger.enter({ ...grant, type: 'grant', units: 5, window: 'month' })
  await play()
  expect(reads.count).toBe(2)
})

test('a failed reading is not kept', async () => {
  const { play, reads } = await start()
  reads.isFailing = true
  await expect(play()).rejects.toThrow('it does not answer')
  reads.isFailing = false
  await play()
  expect(reads.count).toBe(2)
})
