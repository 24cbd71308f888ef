import { count } from '../../../shared/guard/sentences.ts'
import { isKnownToHaveRun, type Run, runOf } from '../../../shared/ledger/updates/update.ts'
import { runsIn } from '../../../shared/ledger/updates/work.ts'
import type { ViewResult } from '../../../shared/ledger/views/views.ts'
import { Time, updateAddress } from './parts.tsx'

export function runBefore({ works, records }: ViewResult, at: number): Run | null {
  const noted = works.flatMap(({ work }) => (work ? runsIn(work) : []))
  const recorded = [...records.values()].filter(isKnownToHaveRun).map(runOf)
  return [...recorded, ...noted].filter((run) => run.at < at).toSorted((a, b) => b.at - a.at)[0] ?? null
}

export const LastRun = ({ run, zone }: { run: Run | null; zone: string }) =>
  run === null ? (
    <span class="unknown">none known</span>
  ) : (
    <>
      <a href={updateAddress(run.update)}>{count(run.units)}</a>{' '}
      <span class="note">
        <Time at={run.at} zone={zone} />
      </span>
    </>
  )
