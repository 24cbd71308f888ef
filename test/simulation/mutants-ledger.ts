import type { Mutant } from './mutant.ts'

const ledger = (file: string) => `shared/ledger/${file}.ts`
const events = (file: string) => `shared/events/${file}.ts`

/** And those of other rooms. */
export const ledgerMutants: readonly Mutant[] = [
  {
    bug: 'a lost answer counts as a hold',
    seed: 6,
    file: ledger('book/hold'),
    find: 'if (error instanceof AnswerLost && (await isOurs(store, update, held.attempt))) return',
    replace: 'if (error instanceof AnswerLost) return',
  },
  {
    bug: 'the work item is taken without a condition',
    file: ledger('updates/work'),
    find: "when: work ? isUnchanged(work) : [{ kind: 'absent-item' }],",
    replace: 'when: [],',
  },
  {
    bug: 'a hold asks who holds an item, and not for its version',
    file: ledger('updates/work'),
    find: '  version === undefined\n    ? [',
    replace:
      "  update !== ''\n    ? [{ kind: 'equal', path: ['update'], value: update }]\n    : version === undefined\n    ? [",
  },
  {
    bug: 'a run that comes to light late is not written into its work',
    file: ledger('book/settle'),
    find: "if (!update.ran || state === 'running') return []",
    replace: 'if (update) return []',
  },
  {
    bug: 'a hold conditions on the first item of its work alone',
    file: ledger('updates/work'),
    find: "when: work ? isUnchanged(work) : [{ kind: 'absent-item' }],",
    replace: "when: key !== seen[0]?.key ? [] : work ? isUnchanged(work) : [{ kind: 'absent-item' }],",
  },
  {
    bug: 'one canonical name stands for all names of a project',
    file: ledger('updates/work'),
    find: 'return [...new Set([...names, ...names.map(folded)].map((name) => workKey(kind, name).pk))]',
    replace: 'return [workKey(kind, folded(names[1] ?? project)).pk]',
  },
  {
    bug: 'two spellings of a project are two works',
    seed: 32,
    file: ledger('updates/work'),
    find: 'new Set([...names, ...names.map(folded)].map(',
    replace: 'new Set(names.map(',
  },
  {
    bug: 'a record is changed without a condition',
    file: ledger('book/hold'),
    find: 'item: toUpdateItem(update), when: [unchanged] }',
    replace: 'item: toUpdateItem(update), when: seen ? [] : [unchanged] }',
  },
  {
    bug: 'a hold does not ask what is available',
    file: ledger('book/hold'),
    find: '[isOfRevision(book.revision), isOfDay(hold.day), ...limited]',
    replace: '[isOfRevision(book.revision), isOfDay(hold.day)]',
  },
  {
    bug: 'a hold does not ask for the day it was decided on',
    file: ledger('book/hold'),
    find: '[isOfRevision(book.revision), isOfDay(hold.day), ...limited]',
    replace: '[isOfRevision(book.revision), ...limited]',
  },
  {
    bug: 'a hold does not ask for the revision it was decided with',
    file: ledger('book/hold'),
    find: '[isOfRevision(book.revision), isOfDay(hold.day), ...limited]',
    replace: '[isOfDay(hold.day), ...limited]',
  },
  {
    bug: 'ancestors are forgotten',
    file: ledger('book/definitions'),
    find: 'next = budget.parent',
    replace: 'next = null',
  },
  {
    bug: 'the day is not counted',
    file: ledger('book/hold'),
    find: 'additions(window, [budget], move)),\n    [isOf',
    replace: "additions('month', [budget], move)),\n    [isOf",
  },
  {
    bug: 'what is granted with a hold is not booked',
    file: ledger('book/hold'),
    find: 'move: { held: hold.units, granted }',
    replace: 'move: { held: hold.units }',
  },
  {
    bug: 'a release gives back twice',
    file: ledger('book/outcome'),
    find: '{ held: 0 - hold.units }',
    replace: '{ held: 0 - 2 * hold.units }',
  },
  {
    bug: 'what is in doubt is not counted',
    file: ledger('book/outcome'),
    find: 'const move = { ...back, inDoubt: hold.units }',
    replace: 'const move = { ...back }',
  },
  {
    bug: 'what ran is settled at nothing',
    file: ledger('book/outcome'),
    find: 'const move = { ...back, spent: outcome.units }',
    replace: 'const move = { ...back, spent: 0 }',
  },
  {
    bug: 'a late answer is dropped',
    file: ledger('book/outcome'),
    find: 'if (isFinal(update)) return null',
    replace: 'return null',
  },
  {
    bug: 'a settlement counts in the day that is open then',
    file: ledger('book/settle'),
    find: "dayIsOpen ? isOfDay(hold.day) : { kind: 'present-item' }",
    replace: "{ kind: 'present-item' }",
  },
  {
    bug: 'what is put in doubt is not announced',
    file: ledger('updates/tasks'),
    find: "...(isNewState && update.state === 'in-doubt' ? [news('in-doubt')] : []),",
    replace: '',
  },
  {
    bug: 'a changed limit does not change what is available',
    seed: 6,
    file: ledger('book/book-item'),
    find: 'const add = changed.flatMap(({ window, name, by }) => additions(window, [name], { limit: by }))',
    replace: 'const add: ReturnType<typeof additions> = []',
  },
  {
    bug: 'an entry is booked again when its answer was lost',
    file: ledger('book/entry'),
    find: "{ kind: 'put', item: toEntryItem(entry), when: [{ kind: 'absent-item' }] }",
    replace: "{ kind: 'put', item: toEntryItem(entry), when: [] }",
  },
  {
    bug: 'the work is taken outside of the transaction',
    file: ledger('book/hold'),
    find: 'const outcome = await store.transact(writes, token, until - clock.now())',
    replace:
      "const outcome = await store.transact(writes.filter((write) => !works.includes(write)), token, until - clock.now()); if (outcome.applied) await store.transact(works, digest(held.attempt, 'work'))",
  },
  {
    bug: 'a chain leaves out what is between its first two budgets and the root',
    seed: 6,
    file: ledger('book/definitions'),
    find: 'next = budget.parent',
    replace: 'next = chain.length < 2 || budget.parent === null ? budget.parent : rootBudget',
  },
  {
    bug: 'a changed renewal begins a new month at once',
    seed: 245,
    file: ledger('book/windows'),
    find: 'return { ...before, changes: [...before.changes, change] }',
    replace: 'return change ? newCalendar(renewal) : before',
  },
  {
    bug: 'a secret address is logged',
    seed: 1,
    file: 'shared/slack/tell/post.ts',
    find: 'return client.send(webhookUrl, plain)',
    replace: "{ log.info('send', { url: webhookUrl }); return client.send(webhookUrl, plain) }",
  },
  {
    bug: 'an estimate is remembered',
    seed: 24,
    file: 'shared/tracking/tracking.ts',
    find: 'if (unsent.get(key) === flight) unsent.delete(key)',
    replace: '',
  },
  {
    bug: 'a limit above an observed budget does not refuse',
    seed: 1247,
    file: ledger('book/hold'),
    find: ".filter(({ window, budget }) => counterOf(book, window, budget)?.limit !== 'unlimited')",
    replace:
      ".filter(({ window, budget }) => counterOf(book, window, budget)?.limit !== 'unlimited' && (isObserved(definitions, budget) || !hold.budgets.some((each) => isObserved(definitions, each))))",
  },
  {
    bug: 'what an observed limit lacked is not a condition of the hold',
    seed: 703,
    file: ledger('book/book-item'),
    find: "return short < needed ? { kind: 'equal', path, value: needed - short } : { kind: 'at-most', path, value: 0 }",
    replace: "return { kind: 'at-most', path, value: needed + short }",
  },
  {
    bug: 'an event whose delivery cannot be recorded is lost',
    seed: 56,
    file: events('tell'),
    find: 'await keep(parts, receiver, { reference, event, result, tries: isTried ? 1 : 0 }).catch((cause) => {',
    replace:
      'await keep(parts, receiver, { reference, event, result, tries: isTried ? 1 : 0 }).catch((cause) => { if (cause) return',
  },
  {
    bug: 'a failed delivery is not repeated',
    seed: 154,
    file: events('sweep'),
    find: 'if (nextAt !== null) await ledger.deliveries.change({ ...delivery, tries, nextAt }, delivery)',
    replace: 'if (nextAt !== null) await end({ tries })',
  },
  {
    bug: 'the event of a version is skipped when the record has moved on',
    seed: 7,
    file: events('event'),
    find: 'if (type === null || !line) return null',
    replace: 'if (type === null || !line || version !== update.version) return null',
  },
  {
    bug: 'an event has the id of the version that its record has now',
    seed: 7,
    file: events('event'),
    find: "id: eventIdOf({ kind: 'update', update: update.id, version }),",
    replace: "id: eventIdOf({ kind: 'update', update: update.id, version: update.version }),",
  },
]
