import { describe, expect, it } from 'vitest'
import { readDates } from '../../shared/tracking/read-dates.ts'
import type { Exchange } from '../../shared/tracking/transport.ts'

const answered = (body: string | Buffer, status = 200): Exchange => ({
  kind: 'answered',
  status,
  headers: {},
  body: Buffer.from(body),
})

const read = (exchange: Exchange) => readDates(exchange, { token: 'token' })

describe('dates of a project', () => {
  it.each<[name: string, body: string, dates: string[]]>([
    ['an array', '["2026-11-02","2026-11-01"]', ['2026-11-01', '2026-11-02']],
    ['each date once', '["2026-11-01","2026-11-01T10:00:00Z"]', ['2026-11-01']],
    ['under a name', '{"dates":["2026-11-01"]}', ['2026-11-01']],
    ['objects', '{"data":[{"date":"2026-11-01","keywords":5}]}', ['2026-11-01']],
    ['names that are dates', '{"2026-11-01":{"keywords":5},"2026-11-02":null}', ['2026-11-01', '2026-11-02']],
    ['a time after a blank', '["2026-11-01 03:00:00"]', ['2026-11-01']],
    [
      'a date beside the list is no date with data',
      '{"dates":["2026-11-01"],"next_update":"2026-11-02"}',
      ['2026-11-01'],
    ],
    [
      'members of rows',
      '{"data":[{"crawl":{"day":"2026-11-01"}},{"crawl":{"day":"2026-11-02"}}]}',
      ['2026-11-01', '2026-11-02'],
    ],
    ['leap day', '["2028-02-29"]', ['2028-02-29']],
    ['an invalid date is skipped', '["2026-11-01","2026-02-30","latest",5]', ['2026-11-01']],
    ['no data yet', '[]', []],
    ['no data yet, under dates', '{"project":"alpha","dates":[]}', []],
    ['no data yet, nested', '{"data":{"dates":[]}}', []],
    ['no data yet, in one of several rows', '[{"name":"alpha"},{"dates":[]}]', []],
    ['a time of day', '["2026-11-01T"]', ['2026-11-01']],
  ])('dates: %s', (_name, body, dates) => {
    expect(read(answered(body))).toEqual({ kind: 'dates', dates })
  })

  it.each<[name: string, body: string | Buffer, reason: string]>([
    ['empty body', '', 'not JSON'],
    ['HTML', '<html>2026-11-01</html>', 'not JSON'],
    ['empty object', '{}', 'no date in the body'],
    ['an empty array of something else', '{"projects":[]}', 'no date in the body'],
    ['empty arrays of nothing that is named', '{"dates":[[],[]]}', 'no date in the body'],
    ['null', 'null', 'no date in the body'],
    ['the 30th of February', '["2026-02-30"]', 'no date in the body'],
    ['the 29th of February in a common year', '["2027-02-29"]', 'no date in the body'],
    ['month 13', '["2026-13-01"]', 'no date in the body'],
    ['day 0', '["2026-11-00"]', 'no date in the body'],
    ['another order', '["01-11-2026"]', 'no date in the body'],
    ['without dashes', '["20261101"]', 'no date in the body'],
    ['a date in a sentence', '["until 2026-11-01"]', 'no date in the body'],
    ['a date with a tail', '["2026-11-012"]', 'no date in the body'],
    ['a number', '[20261101]', 'no date in the body'],
    ['a date alone', '"2026-11-01"', 'no date in the body'],
    ['a single date', '{"next_update":"2026-11-02"}', 'no date in the body'],
    ['an error', '{"error":"no project since 2026","dates":["2026-11-01"]}', 'the answer has error at /error'],
    ['a failed state', '{"status":"failed","dates":["2026-11-01"]}', 'the answer has status failed at /status'],
    ['dates twice', '{"dates":["2026-11-01"],"dates":[]}', 'the same name twice in one object'],
    ['nesting of 100,000', '['.repeat(100_000), 'nested deeper than 64 levels'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the body is not UTF-8'],
  ])('dates unreadable: %s', (_name, body, reason) => {
    expect(read(answered(body))).toEqual({ kind: 'unreadable', reason })
  })

  it('dates unreadable: more than 20,000', () => {
    const day = (index: number) => new Date(index * 86_400_000).toISOString().slice(0, 10)
    const days = (count: number) => JSON.stringify(Array.from({ length: count }, (_, index) => day(index)))
    expect(read(answered(days(20_000)))).toMatchObject({ kind: 'dates' })
    expect(read(answered(days(20_001)))).toEqual({ kind: 'unreadable', reason: 'more than 20000 dates' })
  })

  it('dates unreadable: any other status', () => {
    expect(read(answered('["2026-11-01"]', 404))).toEqual({
      kind: 'unreadable',
      reason: 'answered with status 404',
    })
  })

  it('dates unreadable: no answer', () => {
    const failed: Exchange = {
      kind: 'failed',
      sent: 'no',
      cause: 'connection',
      reason: 'connection refused',
      status: null,
    }
    expect(read(failed)).toEqual({ kind: 'unreadable', reason: 'connection refused' })
  })
})
