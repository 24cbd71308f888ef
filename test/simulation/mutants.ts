/** A bug that somebody could make: one change of one line. Each has to break a promise that the simulation sees. */
export interface Mutant {
  readonly bug: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

const guard = (file: string) => `shared/guard/${file}.ts`
const ledger = (file: string) => `shared/ledger/${file}.ts`

export const mutants: readonly Mutant[] = [
  {
    bug: 'no fence: whoever decided runs, whether or not it holds',
    file: guard('performing'),
    find: "if ((await ledger.hold(known.view, basis, update, until)) === 'held') return { update, ours: true }",
    replace: 'await ledger.hold(known.view, basis, update, until); return { update, ours: true }',
  },
  {
    bug: 'a lost answer counts as a hold',
    file: ledger('holding'),
    find: 'if (error instanceof AnswerLost && (await isOurs(store, update, held.attempt))) return',
    replace: 'if (error instanceof AnswerLost) return',
  },
  {
    bug: "somebody else's fence counts as our own",
    file: ledger('holding'),
    find: "found?.state === 'running' && found.hold?.attempt === attempt",
    replace: "found?.state === 'running'",
  },
  {
    bug: 'the work item is taken without a condition',
    file: ledger('work'),
    find: "when: work ? isUnchanged(work) : [{ is: 'absent-item' }],",
    replace: 'when: [],',
  },
  {
    bug: 'a hold asks who holds an item, and not for its version',
    file: ledger('work'),
    find: '  version === undefined\n    ? [',
    replace:
      "  update !== ''\n    ? [{ is: 'equal', path: ['update'], value: update }]\n    : version === undefined\n    ? [",
  },
  {
    bug: 'a run that comes to light late is not written into its work',
    file: ledger('closing'),
    find: "if (!update.ran || state === 'running') return []",
    replace: 'if (update) return []',
  },
  {
    bug: 'a hold conditions on the first item of its work alone',
    file: ledger('work'),
    find: "when: work ? isUnchanged(work) : [{ is: 'absent-item' }],",
    replace: "when: key !== seen[0]?.key ? [] : work ? isUnchanged(work) : [{ is: 'absent-item' }],",
  },
  {
    bug: 'one canonical name stands for all names of a project',
    file: ledger('work'),
    find: 'return [...new Set([...names, ...names.map(folded)].map((name) => workKey(kind, name).pk))]',
    replace: 'return [workKey(kind, folded(names[1] ?? project)).pk]',
  },
  {
    bug: 'two spellings of a project are two works',
    file: ledger('work'),
    find: 'new Set([...names, ...names.map(folded)].map(',
    replace: 'new Set(names.map(',
  },
  {
    bug: 'a record is changed without a condition',
    file: ledger('holding'),
    find: 'item: toUpdateItem(update), when: [unchanged] }',
    replace: 'item: toUpdateItem(update), when: seen ? [] : [unchanged] }',
  },
  {
    bug: 'a hold does not ask what is available',
    file: ledger('holding'),
    find: '[isOfRevision(book.revision), isOfDay(hold.day), ...limited]',
    replace: '[isOfRevision(book.revision), isOfDay(hold.day)]',
  },
  {
    bug: 'a hold does not ask for the day it was decided on',
    file: ledger('holding'),
    find: '[isOfRevision(book.revision), isOfDay(hold.day), ...limited]',
    replace: '[isOfRevision(book.revision), ...limited]',
  },
  {
    bug: 'a hold does not ask for the revision it was decided with',
    file: ledger('holding'),
    find: '[isOfRevision(book.revision), isOfDay(hold.day), ...limited]',
    replace: '[isOfDay(hold.day), ...limited]',
  },
  {
    bug: 'ancestors are forgotten',
    file: ledger('definitions'),
    find: 'next = budget.parent',
    replace: 'next = null',
  },
  {
    bug: 'the day is not counted',
    file: ledger('holding'),
    find: 'additions(window, [name], { held',
    replace: "additions('month', [name], { held",
  },
  {
    bug: 'what is granted with a hold is not booked',
    file: ledger('holding'),
    find: ', granted: granted(window, name)',
    replace: '',
  },
  {
    bug: 'a timeout releases',
    file: guard('findings'),
    find: "return { kind: 'unknown', ...said, note",
    replace: "return { kind: 'did-not-run', ...said, note",
  },
  {
    bug: 'run is repeated when its answer is lost',
    file: guard('performing'),
    find: 'const result = hasTimeToRun ? await tracking.run(targetOfRequest(held), { timeoutMs, token }) : null',
    replace:
      "let result = await tracking.run(targetOfRequest(held), { timeoutMs, token }); if (result.kind === 'unknown') result = await tracking.run(targetOfRequest(held), { timeoutMs, token })",
  },
  {
    bug: 'run is sent before the hold is written',
    file: guard('performing'),
    find: "if ((await ledger.hold(known.view, basis, update, until)) === 'held') return { update, ours: true }",
    replace:
      "await tracking.run(targetOfRequest(update), { timeoutMs: 1, token: 'token' }); if ((await ledger.hold(known.view, basis, update, until)) === 'held') return { update, ours: true }",
  },
  {
    bug: 'an overrun is clipped',
    file: guard('findings'),
    find: 'if (units > held)\n    return {\n      units,',
    replace: 'if (units > held)\n    return {\n      units: held,',
  },
  {
    bug: 'a release gives back twice',
    file: ledger('finding'),
    find: '{ held: 0 - hold.units }',
    replace: '{ held: 0 - 2 * hold.units }',
  },
  {
    bug: 'what is in doubt is not counted',
    file: ledger('finding'),
    find: 'const move = { ...back, inDoubt: hold.units }',
    replace: 'const move = { ...back }',
  },
  {
    bug: 'what ran is settled at nothing',
    file: ledger('finding'),
    find: 'const move = { ...back, spent: finding.units }',
    replace: 'const move = { ...back, spent: 0 }',
  },
  {
    bug: 'a late answer is dropped',
    file: ledger('finding'),
    find: 'if (isFinal(update)) return null',
    replace: 'return null',
  },
  {
    bug: 'a settlement counts in the day that is open then',
    file: ledger('closing'),
    find: "dayIsOpen ? isOfDay(hold.day) : { is: 'present-item' }",
    replace: "{ is: 'present-item' }",
  },
  {
    bug: 'the sweep gives units back by the clock',
    file: guard('sweeping'),
    find: "{ kind: 'ran', units: hold.units, from: 'time', by: 'sweep', note }",
    replace: "{ kind: 'did-not-run', from: 'sender', by: 'sweep', note }",
  },
  {
    bug: 'running work does not stop the same work',
    file: guard('duplicate-work'),
    find: '  if (running)',
    replace: '  if (running && false)',
  },
  {
    bug: 'work in doubt does not stop the same work',
    file: guard('duplicate-work'),
    find: "if (view.now < until)\n      return problem(\n        'duplicate-work',",
    replace: "if (false)\n      return problem(\n        'duplicate-work',",
  },
  {
    bug: 'there is no cool-down',
    file: guard('duplicate-work'),
    find: 'if (ran && !request.force)',
    replace: 'if (false)',
  },
  {
    bug: 'a key is no key: every delivery is a new update',
    file: guard('asking'),
    find: 'digest(asker.caller, asker.route, key, String(position))',
    replace: 'digest(asker.caller, asker.route, key, String(position), ids.random())',
  },
  {
    bug: 'whatever its state, an update is admitted again',
    file: guard('performing'),
    find: "if (seen && seen.state !== 'requested') return { update: seen, ours: false }",
    replace: '',
  },
  {
    bug: 'what has ended can still be approved',
    file: guard('barring'),
    find: "if (state !== 'awaiting-approval') return wrongState(view, update, 'approved')",
    replace: '',
  },
  {
    bug: 'what is running can be cancelled',
    file: guard('barring'),
    find: "state === 'awaiting-approval' || state === 'requested' ? null",
    replace: "state === 'awaiting-approval' || state === 'requested' || state === 'running' ? null",
  },
  {
    bug: 'who asked can approve it under another name',
    file: guard('barring'),
    find: 'return personOf(definitions, caller) === personOf(definitions, by) ?',
    replace: 'return false ?',
  },
  {
    bug: 'the sweep doubts whoever still has time',
    file: guard('sweeping'),
    find: "if (update.state !== 'running' || !update.hold || clock.now() < update.hold.leaseUntil) return",
    replace: "if (update.state !== 'running' || !update.hold) return",
  },
  {
    bug: 'a person says "did not run" while it may still be on its way',
    file: guard('barring'),
    find: "if (outcome === 'ran' || view.now >= retryAt) return null",
    replace: 'return null',
  },
  {
    bug: 'a plan fires once more when its event comes twice',
    file: guard('try-records'),
    find: "digest('plan', plan, String(time), project, String(number))",
    replace: "digest('plan', plan, String(time), project, String(number), String(Math.random()))",
  },
  {
    bug: 'what is put in doubt is not announced',
    file: ledger('announcement'),
    find: "...(isNewState && update.state === 'in-doubt' ? [news('in-doubt')] : []),",
    replace: '',
  },
  {
    bug: 'a secret address is logged',
    file: 'shared/slack/posting.ts',
    find: 'return client.send(webhookUrl, plain)',
    replace: "{ log.info('send', { url: webhookUrl }); return client.send(webhookUrl, plain) }",
  },
  {
    bug: 'a changed limit does not change what is available',
    file: ledger('book'),
    find: 'const add = changed.flatMap(({ window, name, by }) => additions(window, [name], { limit: by }))',
    replace: 'const add: ReturnType<typeof additions> = []',
  },
  {
    bug: 'an entry is booked again when its answer was lost',
    file: ledger('entry'),
    find: "{ do: 'put', item: toEntryItem(entry), when: [{ is: 'absent-item' }] }",
    replace: "{ do: 'put', item: toEntryItem(entry), when: [] }",
  },
  {
    bug: 'the work is taken outside of the transaction',
    file: ledger('holding'),
    find: 'const outcome = await store.transact(writes, token, until - clock.now())',
    replace:
      "const outcome = await store.transact(writes.filter((write) => !works.includes(write)), token, until - clock.now()); if (outcome.applied) await store.transact(works, digest(held.attempt, 'work'))",
  },
  {
    bug: 'a key stands for whatever it is sent with',
    file: guard('asking'),
    find: 'if (recorded.some((update) => update.content.digest !== content)) {',
    replace: 'if (false) {',
  },
  {
    bug: 'an estimate is remembered',
    file: 'shared/tracking/flights.ts',
    find: 'if (unsent.get(key) === flight) unsent.delete(key)',
    replace: '',
  },
  {
    bug: 'an estimate is never too old',
    file: guard('performing'),
    find: 'const quoteUntil = quote.at + estimateLastsMs',
    replace: 'const quoteUntil = Number.POSITIVE_INFINITY',
  },
  {
    bug: 'a chain leaves out what is between its first two budgets and the root',
    file: ledger('definitions'),
    find: 'next = budget.parent',
    replace: 'next = chain.length < 2 || budget.parent === null ? budget.parent : rootBudget',
  },
  {
    bug: 'only the first budget of a chain allows kinds',
    file: guard('decide'),
    find: 'if (kinds && !kinds.includes(request.kind)) {',
    replace: 'if (budget === rules[0] && kinds && !kinds.includes(request.kind)) {',
  },
  {
    bug: 'only the first budget of a chain limits one update',
    file: guard('decide'),
    find: 'const strictest = [...rules, {',
    replace: 'const strictest = [...rules.slice(0, 1), {',
  },
  {
    bug: 'what one update of a caller may cost is not asked',
    file: guard('decide'),
    find: 'perUpdate: callerNamed(view.definitions, caller)?.perUpdate }]',
    replace: 'perUpdate: undefined }]',
  },
  {
    bug: 'only the first budget of a chain asks for an approval',
    file: guard('decide'),
    find: 'const strict = rules.find(',
    replace: 'const strict = rules.slice(0, 1).find(',
  },
  {
    bug: 'the limits of a caller are not counted',
    file: guard('decide'),
    find: '[...chain, ...limitsOfCaller(view.definitions, caller)]',
    replace: '[...chain]',
  },
  {
    bug: 'a changed renewal begins a new month at once',
    file: ledger('windows'),
    find: 'return { ...before, changes: [...before.changes, change] }',
    replace: 'return change ? newCalendar(renewal) : before',
  },
  {
    bug: 'the rules of the owner do not hold where an ancestor pays',
    file: guard('charging'),
    find: 'chainOf(definitions, ownerOf(definitions, project)?.name ?? budget)',
    replace: 'chainOf(definitions, budget)',
  },
  {
    bug: 'anyone may name an ancestor of the owner to pay',
    file: guard('charging'),
    find: 'if (owner === undefined || owner === budget || mayChargeAncestors) return null',
    replace: 'return null',
  },
  {
    bug: 'a charge by default stays where it was when its project moves',
    file: guard('charging'),
    find: 'if (byDefault && budgetFor(definitions, {}, project) !== budget) {',
    replace: 'if (false) {',
  },
]
