import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { readPastedAnswer } from '../../../infra/local/commands/doctor/pasted-answer.ts'
import { runHere } from '../../support/process/here.ts'
import { temporaryDirectory } from '../../support/process/local.ts'

const { directory: folder, remove } = await temporaryDirectory()
afterAll(remove)

async function doctor(answer: string | Buffer, args: readonly string[], env: Record<string, string> = {}) {
  const file = join(folder, 'answer')
  await writeFile(file, answer)
  const given = ['--answer', file, ...args]
  return runHere('doctor', given, { DATA_DIR: join(folder, 'nowhere'), ...env })
}

const refusedIf = 'if your vendor says that nothing runs after this answer, and only then:'
const ranIf = 'if this answer means that the update ran:'

/** The lines that can be copied. */
const settingsIn = (out: string): string[] =>
  out.split('\n').flatMap((line) => /^ {4}([A-Z_]+=.*)$/.exec(line)?.[1] ?? [])

describe('npm run doctor -- --answer', () => {
  test('the doctor reads an answer to run without a ledger, a service or a token', async () => {
    const answer = '{"status_code":20100,"status_message":"Task Created.","tasks":[{"id":"0911"}]}'
    const { code, out, err } = await doctor(answer, ['--call', 'run'])
    expect([code, err]).toEqual([0, ''])
    expect(out.trim().split('\n')).toEqual([
      'Run of a ranking update, answered with status 200',
      '  unknown: the answer has status_code 20100 at /status_code, so it proves nothing. The update is in doubt, and its units stay counted',
      '  its shape: {"status_code": number, "status_message": string, "tasks": [1 × {"id": string}]}',
      '',
      'Settings that change this (each was tried on the answer)',
      `  ${ranIf}`,
      '    RUN_STARTED=/status_code=20100',
      '    reads it as: ran. Every 2xx that RUN_STARTED does not name is then in doubt, so name all answers of a good run.',
      '  if status_code 20100 at /status_code is no sign of a failure:',
      '    ANSWERS_WELL=/status_code=20100',
      '    reads it as: ran. It holds for runs, estimates and dates.',
      `  ${refusedIf}`,
      '    RUN_REFUSED=/status_code=20100',
      '    reads it as: did not run. It gives the units back. If such an update runs after all, they are spent twice.',
    ])
  })

  test.each<[what: string, call: string, answer: string, verdict: string, settings: readonly string[]]>([
    [
      'an error beside a success',
      'run',
      '{"success":true,"error":"Already scheduled for today"}',
      'unknown: the answer has error at /error, so it proves nothing.',
      [
        'ANSWERS_WELL=/error=Already%20scheduled%20for%20today',
        'RUN_STARTED=/success=true',
        'RUN_REFUSED=/error=Already%20scheduled%20for%20today',
      ],
    ],
    [
      'an error that is an object',
      'run',
      '{"error":{"code":17,"message":"it\'s 100% a|b"}}',
      'unknown: the answer has error at /error,',
      [
        "ANSWERS_WELL='/error/code=17 /error/message=it'\\''s%20100%25%20a%7Cb'",
        'RUN_STARTED=/error/code=17',
        'RUN_REFUSED=/error/code=17',
      ],
    ],
    [
      'a code of a whole request above that of its task',
      'run',
      '{"status_code":20000,"tasks":[{"id":"0911","status_code":40501}]}',
      'unknown: the answer has status_code 20000 at /status_code,',
      [
        'RUN_STARTED=/tasks/0/status_code=40501',
        "ANSWERS_WELL='/status_code=20000 /tasks/0/status_code=40501'",
        'RUN_REFUSED=/tasks/0/status_code=40501',
      ],
    ],
    [
      'an error with an id of its own',
      'run',
      '{"error":{"request_id":"8695244274068608439","text":"spent","error_code":152}}',
      'unknown: the answer has error at /error,',
      [
        "ANSWERS_WELL='/error/request_id=8695244274068608439 /error/text=spent /error/error_code=152'",
        'RUN_STARTED=/error/error_code=152',
        'RUN_REFUSED=/error/error_code=152',
      ],
    ],
    [
      'an error that has no text',
      'run',
      '{"error":true}',
      'unknown: the answer has error true',
      ['ANSWERS_WELL=/error=true'],
    ],
    [
      'a status beside an error whose state is no proof',
      'run',
      '{"errors":[{"status":402}],"state":"queued"}',
      'unknown: the answer has errors at /errors,',
      ['ANSWERS_WELL=/errors/0/status=402', 'RUN_STARTED=/state=queued', 'RUN_REFUSED=/errors/0/status=402'],
    ],
    [
      'two signs',
      'run',
      '{"code":7,"state":"skipped"}',
      'unknown: the answer has code 7 at /code,',
      ['RUN_STARTED=/code=7', "ANSWERS_WELL='/code=7 /state=skipped'", 'RUN_REFUSED=/code=7'],
    ],
    [
      'a denied success, whose value refuses nothing by itself',
      'run',
      '{"success":false}',
      'unknown: the answer has success false at /success,',
      ['ANSWERS_WELL=/success=false'],
    ],
    [
      'an answer that says that it ran',
      'run',
      '{"status":"queued"}',
      'ran: it says so, and has no sign of a failure',
      [],
    ],
    ['an empty answer', 'run', '', 'ran: it has no sign of a failure. It does not say that it ran either', []],
    [
      'a figure without a place',
      'run',
      '{"status":"queued","total":48210}',
      'ran: it says so',
      ['RUN_POINTER_RANKING=/total'],
    ],
    ['a text', 'run', 'OK', 'unknown: the body is neither JSON nor empty.', []],
    ['a JSON text', 'run', '"OK"', 'unknown: the answer has a body that is no object,', []],
    ['an estimate', 'estimate', '{"data":{"units":6}}', '6 units, read at /data/units', []],
    ['an estimate of 0', 'estimate', '{"units":0}', '0 units, read at /units', ['ZERO_PRICE=free']],
    [
      'an estimate with a sign, which needs no pointer',
      'estimate',
      '{"response_code":5,"units":6}',
      'unreadable: the answer has response_code 5 at /response_code.',
      ['ANSWERS_WELL=/response_code=5'],
    ],
    [
      'an estimate with a sign and an unknown name',
      'estimate',
      '{"response_code":5,"data":{"needed":6}}',
      'unreadable: the answer has response_code 5 at /response_code.',
      ['ANSWERS_WELL=/response_code=5', 'ESTIMATE_POINTER_RANKING=/data/needed'],
    ],
    [
      'an estimate with two figures',
      'estimate',
      '{"needed":6,"left":900}',
      'unreadable: no well-known name of units.',
      ['ESTIMATE_POINTER_RANKING=/needed', 'ESTIMATE_POINTER_RANKING=/left'],
    ],
    ['dates', 'dates', '{"dates":["2026-11-01","2026-11-08"]}', '2 dates, the latest 2026-11-08', []],
    [
      'dates with a sign',
      'dates',
      '{"dates":["2026-11-01","2026-11-08"],"state":"blocked"}',
      'unreadable: the answer has state blocked at /state.',
      ['ANSWERS_WELL=/state=blocked'],
    ],
  ])('the doctor reads %s, and prints only settings that change it', async (_what, call, answer, verdict, settings) => {
    const { code, out, err } = await doctor(answer, ['--call', call])
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')[1]).toContain(`  ${verdict}`)
    expect(settingsIn(out)).toEqual(settings)
  })

  test('each setting that the doctor prints changes the reading as it says', async () => {
    const answer = '{"success":true,"error":"Already scheduled for today"}'
    const read = async (env: Record<string, string>) =>
      (await doctor(answer, ['--call', 'run'], env)).out.split('\n')[1]
    const text = 'Already%20scheduled%20for%20today'
    expect(await read({ ANSWERS_WELL: `/error=${text}` })).toBe('  ran: it says so, and has no sign of a failure')
    expect(await read({ RUN_STARTED_RANKING: '/success=true' })).toBe('  ran: RUN_STARTED names this answer')
    expect(await read({ RUN_STARTED_DIFFICULTY: '/success=true' })).toContain('  unknown: the answer has error')
    expect(await read({ RUN_REFUSED: `/error=${text}` })).toBe(
      '  did not run: RUN_REFUSED names this answer. The hold is given back',
    )
  })

  test('the doctor keeps the conditions that are set, in the setting that has them', async () => {
    const answer = '{"status_code":20100}'
    const copied = async (env: Record<string, string>) => settingsIn((await doctor(answer, ['--call', 'run'], env)).out)
    expect(await copied({ RUN_STARTED: '/status_code=20000 /ok=true' })).toEqual([
      "RUN_STARTED='/status_code=20000|20100 /ok=true'",
      'RUN_REFUSED=/status_code=20100',
    ])
    expect(await copied({ RUN_STARTED: '/ok=true', RUN_STARTED_RANKING: '/ok=yes' })).toEqual([
      "RUN_STARTED_RANKING='/ok=yes /status_code=20100'",
      'RUN_REFUSED=/status_code=20100',
    ])
  })

  test('the doctor says what a run is charged for a hold', async () => {
    const charged = async (answer: string, held: string, env: Record<string, string> = {}) =>
      /charged .*/.exec((await doctor(answer, ['--call', 'run', '--held', held], env)).out)?.[0]
    expect(await charged('{"ok":true}', '6')).toBe(
      'charged for a hold of 6 units: 6. The history says: ran; the answer states no units, so the 6 units held were charged',
    )
    const balance = '{"ok":true,"total":48210}'
    expect(await charged(balance, '6')).toContain(
      'charged for a hold of 6 units: 6. The history says: ran; the 6 units',
    )
    expect(await charged(balance, '6', { RUN_POINTER_RANKING: '/total' })).toContain(
      'charged for a hold of 6 units: 48,210. ',
    )
    const nothing = '{"ok":true,"cost":0}'
    expect(await charged(nothing, '6', { RUN_POINTER_RANKING: '/cost' })).toContain(
      'charged for a hold of 6 units: 6. ',
    )
    expect(await charged(nothing, '6', { RUN_POINTER_RANKING: '/cost', ZERO_PRICE: 'free' })).toContain(
      'charged for a hold of 6 units: 0. ',
    )
  })

  test('a project’s own name is no sign of a failure', async () => {
    const answer = '{"status":"queued limit.example"}'
    const read = async (...args: string[]) => (await doctor(answer, ['--call', 'run', ...args])).out.split('\n')[1]
    expect(await read()).toContain('unknown: the answer has status limit at /status')
    expect(await read('--project', 'limit.example')).toContain('ran: ')
  })

  test('the doctor names no setting where a cache or the status decides', async () => {
    const good = '{"status":"queued"}'
    const cached = await doctor(good, ['--call', 'run', '--header', 'Via: x', '--header', 'Age: 900'])
    expect(cached.out).toContain('unknown: answered by a cache.')
    expect(cached.out).toContain('  no setting changes this: look at what stands between Unit Guard and the service')
    expect((await doctor(good, ['--call', 'run', '--header', 'Age: 0'])).out).toContain('ran: ')
    const failed = await doctor('{"code":7}', ['--call', 'run', '--status', '502'])
    expect(failed.out).toContain('unknown: answered with status 502.')
    expect(failed.out).toContain('  no setting changes this: the status decides')
    expect((await doctor(good, ['--call', 'run', '--status', '403'])).out).toContain(
      'did not run: refused with status 403.',
    )
    const both = { RUN_STARTED: '/code=7', RUN_REFUSED: '/code=7' }
    expect((await doctor('{"code":7}', ['--call', 'run'], both)).out).toContain('  take it out of one of them\n')
  })

  test('the doctor reads what curl -i prints, after the heads of a proxy and of 100 Continue', async () => {
    const heads = 'HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'
    const answer = (rest: string) => doctor(`${heads}HTTP/2 202 \r\n${rest}`, ['--call', 'run'])
    const { out } = await answer('content-type: application/json\r\n\r\n{"status":"queued"}')
    expect(out).toMatch(/^Run of a ranking update, answered with status 202\n {2}ran: it says so/)
    expect((await answer('age: 30\r\n\r\n{"status":"queued"}')).out).toContain('unknown: answered by a cache')
    expect((await answer('age: 0')).out).toContain('its shape: no media type, 0 bytes')
    const unix = await doctor('HTTP/1.1 404 Not Found\nserver: x\n\n{}', ['--call', 'estimate'])
    expect(unix.out).toContain('refused with status 404, so nothing is started')
  })

  test('the doctor reads an encoded answer, and one that curl has decoded', async () => {
    const head = Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n')
    for (const body of [gzipSync('{"units":6}'), Buffer.from('{"units":6}')])
      expect((await doctor(Buffer.concat([head, body]), ['--call', 'estimate'])).out).toContain(
        '6 units, read at /units',
      )
  })

  test('the doctor reads the standard input', async () => {
    const exchange = await readPastedAnswer(
      '-',
      { headers: {} },
      Readable.from([Buffer.from('HTTP/1.1 201 C\n\n'), '{}']),
    )
    expect(exchange).toEqual({ kind: 'answered', status: 201, headers: {}, body: Buffer.from('{}') })
  })

  test('an answer above the size limit is unknown', async () => {
    const { out } = await doctor(Buffer.alloc(1024 * 1024 + 1, ' '), ['--call', 'run'])
    expect(out).toContain('unknown: the answer is larger than 1048576 bytes.')
  })
})

describe('a wrong call of npm run doctor -- --answer', () => {
  const wrong = async (...args: string[]) => (await doctor('{}', args)).err
  const help = '(npm run doctor -- --help)\n'

  test.each<[readonly string[], string]>([
    [[], '--call is needed: run, estimate and dates'],
    [['--call', 'ran'], "There is no call 'ran'; did you mean run?"],
    [['--call', 'run', '--kind', 'rankings'], "There is no kind of update 'rankings'; did you mean ranking?"],
    [['--call', 'dates', '--kind', 'keyword-difficulty'], 'dates are not read for keyword-difficulty updates'],
    [['--call', 'run', '--status', '99'], '--status must be a whole number from 100 to 599'],
    [['--call', 'run', '--held', '1.5'], '--held must be a whole number from 0 to 1000000000000'],
    [['--call', 'run', '--header', 'Age'], "--header must be a header such as 'Age: 900'"],
  ])('npm run doctor -- --answer … %j says what is wrong', async (args, sentence) => {
    expect(await wrong(...args)).toBe(`${sentence} ${help}`)
  })

  test('a file that cannot be read is one sentence, and its options need a file', async () => {
    const env = { DATA_DIR: join(folder, 'nowhere') }
    const missing = join(folder, 'missing')
    expect(await runHere('doctor', ['--answer', missing, '--call', 'run'], env)).toEqual({
      code: 1,
      out: '',
      err: `${missing} cannot be read: it is not there\n`,
    })
    const { code, err } = await runHere('doctor', ['--call', 'run'], env)
    expect([code, err]).toEqual([2, `--call is for --answer ${help}`])
  })

  test('the usage of the doctor names the options of an answer', async () => {
    const { out } = await runHere('doctor', ['--help'], {})
    for (const option of ['--answer', '--call', '--kind', '--status', '--header', '--held'])
      expect(out).toMatch(new RegExp(`^ {2}${option} +\\S`, 'm'))
  })
})

describe('settings that cannot be read', () => {
  test.each<[Record<string, string>, string]>([
    [{ RUN_REFUSED: '/ok=0' }, 'RUN_REFUSED: must name values that say why a run was refused; 0 says nothing'],
    [
      { RUN_REFUSED_RANKING: '/error=' },
      'RUN_REFUSED_RANKING: must name values that say why a run was refused; an empty value says nothing',
    ],
    [
      { RUN_STARTED: 'status_code=20100' },
      'RUN_STARTED: must be conditions such as /response_code=26|27, separated by blanks',
    ],
    [
      { ANSWERS_WELL: '/status_code=1 /b' },
      'ANSWERS_WELL: must be conditions such as /response_code=26|27, separated by blanks',
    ],
    [
      { ANSWERS_WELL_DIFFICULTY: '/a=%zz' },
      'ANSWERS_WELL_DIFFICULTY: must be conditions such as /response_code=26|27, separated by blanks',
    ],
    [{ ZERO_PRICE: 'yes' }, 'ZERO_PRICE: must be free, or absent'],
    [{ RUN_STARTED_RANKNG: '/ok=true' }, 'RUN_STARTED_RANKNG: is it RUN_STARTED_RANKING?'],
  ])('%j ends the doctor with a sentence', async (env, sentence) => {
    const answer = await doctor('{}', ['--call', 'run'], env)
    expect([answer.code, answer.out]).toEqual([1, ''])
    expect(answer.err.trim().split('\n')).toEqual([expect.stringContaining(sentence)])
    const whole = await runHere('doctor', [], { DATA_DIR: join(folder, 'nowhere'), ...env })
    expect([whole.code, whole.out]).toEqual([1, ''])
    expect(whole.err.trim().split('\n')).toEqual([expect.stringContaining(sentence)])
  })
})
