import { describe, expect, test } from 'vitest'
import type { Units } from '../../shared/platform/words.ts'
import { lineOf, type Verb, verbs } from '../../shared/slack/command-words.ts'
import { type Command, parseCommand } from '../../shared/slack/receive/command.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'

const twenty = Array.from({ length: 20 }, (_, position) => `p${position}`)
const ranking = (...projects: string[]): Extract<Command, { do: 'run' }> => ({ do: 'run', kind: 'ranking', projects })

describe('the text after /units', () => {
  test.each<[string, Command]>([
    ['', { do: 'figures' }],
    ['  \n ', { do: 'figures' }],
    ['help', { do: 'help' }],
    ['HELP ', { do: 'help' }],
    ['estimate ranking acme', { do: 'estimate', kind: 'ranking', projects: ['acme'] }],
    ['Estimate Difficulty 4711', { do: 'estimate', kind: 'keyword-difficulty', projects: ['4711'] }],
    ['estimate keyword-difficulty a b c', { do: 'estimate', kind: 'keyword-difficulty', projects: ['a', 'b', 'c'] }],
    [`estimate ranking ${twenty.join(' ')}`, { do: 'estimate', kind: 'ranking', projects: twenty }],
    ['run ranking acme', ranking('acme')],
    ['run  ranking\tacme\u00a0other', ranking('acme', 'other')],
    ['run ranking acme budget=seo', { ...ranking('acme'), budget: 'seo' }],
    ['run ranking budget=seo-2 acme', { ...ranking('acme'), budget: 'seo-2' }],
    ['run ranking acme Budget="seo"', { ...ranking('acme'), budget: 'seo' }],
    ['run ranking acme because prices  changed ', { ...ranking('acme'), reason: 'prices  changed' }],
    [
      'run ranking acme budget=seo BECAUSE "it\'s" because budget=x',
      { ...ranking('acme'), budget: 'seo', reason: '"it\'s" because budget=x' },
    ],
    [
      'run ranking acme tag:client=acme tag:ticket="SEO 47" "tag:x=y" because late',
      { ...ranking('acme', 'tag:x=y'), reason: 'late', tags: { client: 'acme', ticket: 'SEO 47' } },
    ],
    ['updates', { do: 'updates' }],
    ['Login', { do: 'login' }],
    ['show upd_4t8kx2', { do: 'show', id: 'upd_4t8kx2' }],
    ['cancel upd_4t8kx2', { do: 'cancel', id: 'upd_4t8kx2' }],
    ['freeze seo a loop', { do: 'freeze', name: 'seo', reason: 'a loop' }],
    ['unfreeze seo “fixed”', { do: 'unfreeze', name: 'seo', reason: '“fixed”' }],
    ['pause nightly the site moves', { do: 'pause', name: 'nightly', reason: 'the site moves' }],
    ['resume nightly moved', { do: 'resume', name: 'nightly', reason: 'moved' }],
    ...['31200', '31,200', '31.200', '31’200', "31'200", '"31 200"', '0031200'].map((typed): [string, Command] => [
      `reconcile ${typed} as of 10:00`,
      { do: 'reconcile', unitsLeft: 31_200 as Units, asOf: '10:00', reason: '' },
    ]),
    ...[
      '03:00',
      'yesterday 23:30',
      'today 3:05',
      '2026-11-20 03:00',
      '2026-11-20T03:00',
      '20 Nov 03:00',
      '20 Nov 2026 03:00',
    ].map((asOf): [string, Command] => [
      `reconcile 28800 as of ${asOf} the screen`,
      { do: 'reconcile', unitsLeft: 28_800 as Units, asOf, reason: 'the screen' },
    ]),
    ['reconcile 31200', { do: 'reconcile', unitsLeft: 31_200 as Units, reason: '' }],
    ['reconcile 1,234,567 now', { do: 'reconcile', unitsLeft: 1_234_567 as Units, reason: 'now' }],
    ['reconcile 0 all 200 are gone', { do: 'reconcile', unitsLeft: 0 as Units, reason: 'all 200 are gone' }],
  ])('the text after /units is read as a command: %j', (text, expected) => {
    expect(parseCommand(text)).toEqual(expected)
  })

  test.each(verbs)('the example of %s in the help is read as that command', (verb) => {
    const { example } = lineOf(verb, productKinds)
    expect(parseCommand(example.replace(/^\/units /, '')).do).toBe(verb)
  })
})

describe('quotes around names with spaces', () => {
  test.each<[string, string[]]>([
    ['"acme shop"', ['acme shop']],
    ['“acme shop”', ['acme shop']],
    ['“acme shop"', ['acme shop']],
    ['"acme shop”', ['acme shop']],
    ['„acme shop“', ['acme shop']],
    ['"acme shop" "acme blog" other', ['acme shop', 'acme blog', 'other']],
    ['acme" "shop', ['acme shop']],
    ['"because" "budget=seo"', ['because', 'budget=seo']],
    ['"  acme "', ['  acme ']],
    ["acme's", ["acme's"]],
    ['ranking', ['ranking']],
    ['a/b%2F?#', ['a/b%2F?#']],
    ['...', ['...']],
    ['x'.repeat(512), ['x'.repeat(512)]],
  ])('quoted names may have spaces: %s', (typed, projects) => {
    expect(parseCommand(`run ranking ${typed}`)).toEqual(ranking(...projects))
  })
})

describe('Slack’s changes of a command’s text', () => {
  test.each<[string, string]>([
    ['a&amp;b', 'a&b'],
    ['&lt;acme&gt;', '<acme>'],
    ['&amp;lt;', '&lt;'],
    ['&quot;', '&quot;'],
    ['<http://acme.example|acme.example>', 'acme.example'],
    ['<http://acme.example>', 'http://acme.example'],
    ['<mailto:a@acme.example|a@acme.example>', 'a@acme.example'],
    ['<http://acme.example?a=1&amp;b=2|acme.example?a=1&amp;b=2>', 'acme.example?a=1&b=2'],
    ['&lt;!channel&gt;', '<!channel>'],
    ['<@U123ABC|alice>', 'alice'],
    ['<@U123ABC>', '@U123ABC'],
    ['<http://acme.example|>', 'http://acme.example'],
  ])('Slack’s changes of a command’s text are undone: %s', (sent, typed) => {
    expect(parseCommand(`run ranking ${sent}`)).toEqual(ranking(typed))
    expect(parseCommand(`freeze seo ${sent}`)).toEqual({ do: 'freeze', name: 'seo', reason: typed })
  })
})

describe('a mistake in a command is answered with one sentence and the usage of that command:', () => {
  const mistakes: [string, string, Verb][] = [
    ['estimate', 'Say which kind of update: ranking or difficulty.', 'estimate'],
    ['estimate acme', '“acme” is not a kind of update: say ranking or difficulty first.', 'estimate'],
    ['estimate constructor x', '“constructor” is not a kind of update: say ranking or difficulty first.', 'estimate'],
    ['estimate ranking', 'Name at least one project.', 'estimate'],
    ['run ranking because I can', 'Name at least one project.', 'run'],
    ['run ranking a b a', '“a” is named twice.', 'run'],
    [`run ranking ${twenty.join(' ')} more`, 'Name at most 20 projects; these are 21.', 'run'],
    ['run ranking ""', 'A project name cannot be empty.', 'run'],
    ['run ranking .', '“.” cannot be the name of a project.', 'run'],
    ['run ranking ..', '“..” cannot be the name of a project.', 'run'],
    ['run ranking a\u0000b', 'A project name cannot contain control characters.', 'run'],
    ['run ranking "a\nb"', 'A project name cannot contain control characters.', 'run'],
    ['run ranking a\ud800', 'A project name has to be Unicode text.', 'run'],
    [`run ranking ${'x'.repeat(513)}`, 'A project name has at most 512 characters.', 'run'],
    ['run ranking acme "other', 'A quote is opened and never closed.', 'run'],
    ['run ranking “acme', 'A quote is opened and never closed.', 'run'],
    ['estimate ranking 19"', 'A quote is opened and never closed.', 'estimate'],
    ['run ranking acme because', 'Add a reason: it is kept with the record.', 'run'],
    [
      'run ranking a because one\ntwo',
      'A reason cannot contain line breaks, invisible characters, or characters that turn text round.',
      'run',
    ],
    [
      'freeze seo one\u0007two',
      'A reason cannot contain line breaks, invisible characters, or characters that turn text round.',
      'freeze',
    ],
    [`run ranking a because ${'x'.repeat(501)}`, 'A reason has at most 500 characters; this has 501.', 'run'],
    ['run ranking a budget=x budget=y', 'Name one budget only.', 'run'],
    [
      'run ranking a tag:client=x tag:client=y',
      'These tags cannot be read: client is named twice. Write tag:client=acme or tag:client="Acme Inc".',
      'run',
    ],
    [
      'run ranking a budget=SEO',
      '“SEO” cannot be the name of a budget. A budget name has lower-case letters, digits and hyphens, at most 63.',
      'run',
    ],
    [
      'run ranking a budget=',
      'An empty name cannot be the name of a budget. A budget name has lower-case letters, digits and hyphens, at most 63.',
      'run',
    ],
    ['show', 'Say which update to show; /units updates lists the latest.', 'show'],
    ['show 17', '“17” is not the id of an update: those begin with upd_.', 'show'],
    ['show upd_a upd_b', 'Name one update only.', 'show'],
    ['cancel UPD_A', '“UPD_A” is not the id of an update: those begin with upd_.', 'cancel'],
    ['freeze', 'Say which budget to freeze, and why.', 'freeze'],
    ['freeze seo', 'Add a reason: it is kept with the record.', 'freeze'],
    ['unfreeze seo  ', 'Add a reason: it is kept with the record.', 'unfreeze'],
    ['pause', 'Say which plan to pause, and why.', 'pause'],
    ['resume nightly', 'Add a reason: it is kept with the record.', 'resume'],
    [`pause ${'x'.repeat(64)} y`, `“${'x'.repeat(49)}…” cannot be the name of a plan.`, 'pause'],
    ['reconcile', 'Say how many units the vendor’s screen shows as left.', 'reconcile'],
    ...[
      'as of',
      'as of this morning',
      'as of 25:00',
      'as of 03:60',
      'as of 3',
      'as of 03:00 pm',
      'as of 3:00am',
      'as of 03:00 UTC',
      'as of 03:00 CET',
      'as of 03:00Z',
      'as of 03:00 +01:00',
      'as of 03:00 Europe/Warsaw',
      'as of 03:00 yesterday',
      'as of 03:00:59',
      'as of 2026-02-30 03:00',
      'as of 31 Foo 03:00',
      '03:00',
      'at 03:00',
      'the screen at 3:05',
      'seen yesterday',
      'of 3 pm',
      '3.05',
    ].map((typed): [string, string, 'reconcile'] => [
      `reconcile 31200 ${typed}`,
      'When did the vendor’s screen show it? Write as of 03:00, yesterday 23:30 or 2026-11-20 03:00, then the reason. Without “as of”, the figure counts as a figure of now, and the reason cannot contain a time.',
      'reconcile',
    ]),
    ...[
      '31,20',
      '3,1200',
      '31,2000',
      '31,,200',
      ',31200',
      '31200,',
      '1.234,567',
      '0,100',
      '000.100',
      '31.5',
      '-5',
      '1e5',
      '0x10',
      'all',
    ].map((typed): [string, string, 'reconcile'] => [
      `reconcile ${typed} now`,
      `“${typed}” is not a whole number of units.`,
      'reconcile',
    ]),
    ['reconcile 31 200 now', 'Put a number with spaces in quotes.', 'reconcile'],
    ['reconcile 1 234 567', 'Put a number with spaces in quotes.', 'reconcile'],
    ['reconcile 1.234 567 now', 'Put a number with spaces in quotes.', 'reconcile'],
    ['help me', '“help” takes nothing after it.', 'help'],
    ['updates all', '“updates” takes nothing after it.', 'updates'],
    ['login bob', '“login” takes nothing after it.', 'login'],
    ['"help', 'A quote is opened and never closed.', 'help'],
    ['rnu ranking a', 'There is no command “rnu”; did you mean /units run?', 'help'],
    ['Estmate x', 'There is no command “Estmate”; did you mean /units estimate?', 'help'],
    ['list', 'There is no command “list”.', 'help'],
    ['""', 'An empty name is not a command.', 'help'],
    ['“” ranking a', 'An empty name is not a command.', 'help'],
    ['constructor', 'There is no command “constructor”.', 'help'],
    ['__proto__', 'There is no command “__proto__”.', 'help'],
    ['x'.repeat(40_000), `There is no command “${'x'.repeat(49)}…”.`, 'help'],
  ]

  test.each(mistakes.map(([text, ...expected]) => [text.slice(0, 60), text, ...expected] as const))('%j', (...row) => {
    const [, text, sentence, verb] = row
    // Any single word may be the name of a budget or a project.
    const name = /^There is no command/.test(sentence) && /^\S{1,512}$/.test(text) && { name: text }
    expect(parseCommand(text)).toEqual({ do: 'mistake', sentence, usage: lineOf(verb, productKinds).usage, ...name })
  })

  test('a command of 40,000 opening marks is read quickly', () => {
    const started = performance.now()
    for (const piece of ['<', '"', '<a|', '&amp', 'a ', '“a” ']) parseCommand(`run ranking ${piece.repeat(20_000)}`)
    expect(performance.now() - started).toBeLessThan(3000)
  })
})
