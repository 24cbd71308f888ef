import type { Mutant } from '../../simulation/mutant.ts'

const updates = 'functions/mcp/updates.ts'

/** Bugs of the way of agents. Each breaks a promise that a crowd of agents notices. */
export const crowdBugs: readonly Mutant[] = [
  {
    bug: 'a quote is good for every caller',
    file: updates,
    find: "!verified.isBoundTo('caller', caller)",
    replace: 'false',
  },
  {
    bug: 'the quote is judged before its record is looked up',
    file: updates,
    find: '(await parts.guard.ledger.update(updateIdOf(asker))) !== null',
    replace: 'false',
  },
  {
    bug: 'the id of the update comes from the reason',
    file: updates,
    find: 'key: quote.id',
    replace: 'key: input.reason',
  },
  {
    bug: 'a grown price is paid',
    file: updates,
    find: 'maxUnits: toUnits(units),',
    replace: 'maxUnits: toUnits(units + 1000),',
  },
  {
    bug: 'an altered quote is accepted',
    file: 'shared/auth/signed-quotes.ts',
    find: 'if (!isSame(mac(signing, text), signature)) return null',
    replace: '',
  },
  {
    bug: 'a refusal of an altered quote says that nothing was spent',
    file: updates,
    find: 'altered, cut, or signed elsewhere. This call spent nothing.',
    replace: 'altered, cut, or signed elsewhere. Nothing was spent.',
  },
]
