import { gzipSync } from 'node:zlib'
import { test } from 'vitest'
import { callerKey, startProduct } from './support/product.ts'

test('probe', async () => {
  const p = await startProduct({
    service: ({ url }) => (/estimate|run/.test(url) ? { body: '{"keyword_units":40}' } : undefined),
  })
  const show = async (name: string, method: string, path: string, how: any = {}) => {
    try {
      const r = await p.call(method, path, how)
      process.stderr.write(`${name}: ${r.status} ${r.text.length} ${r.text.slice(0, 420)}\n`)
    } catch (e) {
      process.stderr.write(`${name}: THROWN ${e}\n`)
    }
  }
  const U = (name: string, body: any, headers: any = {}) => show(name, 'POST', '/updates', { body, headers })
  await U('null', 'null')
  await U('[]', '[]')
  await U('empty', '')
  await U('{', '{')
  await U('"x"', '"x"')
  await U('query proto', '{"kind":"ranking","project":"a1","query":{"__proto__":"x"}}')
  await U('top proto', '{"kind":"ranking","project":"a2","__proto__":{"force":true}}')
  await U('query name', { kind: 'ranking', project: 'a', query: { ['x'.repeat(10000)]: '1' } })
  await U('query name space', { kind: 'ranking', project: 'a', query: { 'a b': '1' } })
  await U('query surrogate', '{"kind":"ranking","project":"a3","query":{"a":"\\ud800"}}')
  await U('reason surrogate', '{"kind":"ranking","project":"a4","reason":"\\ud800"}')
  await U('query null', { kind: 'ranking', project: 'a', query: null })
  await U('query inf', '{"kind":"ranking","project":"a","query":{"a":1e400}}')
  await U('many faults', {
    kind: 'x',
    projects: ['.', '..', ''],
    budget: 'A',
    reason: '',
    maxUnits: -1,
    force: 'yes',
    whenShort: 'x',
    query: [],
    extra: 1,
  })
  await U('x', { kind: 'x', force: true })
  await U(
    '20k unknown',
    '{"kind":"ranking","project":"a",' + Array.from({ length: 20000 }, (_, i) => `"k${i}":1`).join(',') + '}',
  )
  await U('projects obj', { kind: 'ranking', projects: 'a' })
  await U('50000 bad', { kind: 'ranking', projects: Array(60000).fill('') })
  await show('limits', 'PUT', '/budgets/b', {
    body: {
      limits: [
        { window: 'month', units: 1, x: 1 },
        { window: 'month', units: 2 },
      ],
      thresholds: [0],
      approvalIfGrown: -1,
      approvers: ['a b'],
    },
  })
  await show('id long', 'GET', `/updates/${'x'.repeat(3000)}`)
  await show('approve long', 'POST', `/updates/${'x'.repeat(3000)}/approve`)
  await show('id pct', 'GET', `/updates/%zz%00%ff`)
  await show(
    'cursor made',
    'GET',
    `/updates?cursor=${Buffer.from('{"partition":"updates#2026-11","after":{"pk":"x","sk":"y","sort":"z"}}').toString('base64url')}`,
  )
  await show(
    'cursor empty key',
    'GET',
    `/updates?cursor=${Buffer.from('{"partition":"updates#2026-11","after":{"pk":"","sk":"","sort":""}}').toString('base64url')}`,
  )
  await show(
    'cursor entries',
    'GET',
    `/updates?cursor=${Buffer.from('{"partition":"entries#month:2026-11-01"}').toString('base64url')}`,
  )
  await show('since after', 'GET', `/updates?since=2027-06-01T00:00:00Z`)
  await show('since>until', 'GET', `/updates?since=2026-11-19T00:00:00Z&until=2026-11-18T00:00:00Z`)
  await show('until old', 'GET', `/updates?until=1970-01-01T00:00:00Z`)
  await show('entries since', 'GET', `/budgets/account/entries?since=9999-12-31T00:00:00Z`)
  await show('query pct', 'GET', `/estimates?kind=ranking&project=%ff`)
  await show('query pct', 'GET', `/estimates?kind=ranking&project=%zz`)
  await show('repeat', 'GET', `/estimates?kind=ranking&kind=ranking&project=a&x=1`)
  await show('est nothing', 'GET', `/estimates`)
  await show('window', 'GET', `/budgets/account/entries?window=month:9999-99-99`)
  await show('window', 'GET', `/budgets/account/entries?window=month:2026-11-01`)
  await show('grant max', 'POST', `/budgets/account/entries`, {
    body: { type: 'grant', units: 9007199254740991, reason: 'r' },
  })
  await show('grant max', 'POST', `/budgets/account/entries`, {
    body: { type: 'grant', units: 9007199254740991, reason: 'r' },
  })
  await show('figures', 'GET', `/budgets/account`)
  await show('audit', 'GET', `/audit`)
  await U('x', { kind: 'ranking', project: 'b1' })
})
test('probe big', async () => {
  const p = await startProduct()
  const names = (x: string) => Array.from({ length: 500 }, (_, i) => ({ name: `${x}${i}`.padEnd(480, 'x') }))
  for (const x of ['a', 'b', 'c']) {
    const r = await p.call('PUT', `/budgets/${x}`, {
      body: { limits: [{ window: 'month', units: 1 }], projects: names(x) },
    })
    process.stderr.write(`big: ${r.status} ${r.text.slice(0, 200)}\n`)
    process.stderr.write(p.logged.join('\n').slice(-800) + '\n')
  }
})
