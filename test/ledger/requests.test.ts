import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { published } from '../bench/document.ts'
import { countRequests, requestsTable } from '../bench/parts/requests.ts'
import { startGuard } from '../bench/product.ts'
import { dynamodb } from '../support/dynamodb/endpoint.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The cost of every route, as in test/bench/results.md. After an intended change: npm run bench -- requests

const rowsOf = (table: string) => [...table.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)]

describe('the requests of every route', () => {
  test.skipIf(inject('dynamodb') === null)(
    'every route makes as many requests as test/bench/results.md says',
    async () => {
      const counted = requestsTable(await countRequests(await dynamodb()))
      expect(counted.split('\n')).toEqual((await published('requests')).split('\n'))
    },
  )

  test('the table of requests has every route', async () => {
    const { api, dashboard, slack, stop } = await startGuard({
      store: createMemoryStore(),
      serviceUrl: 'http://127.0.0.1:1/v3',
    })
    onTestFinished(stop)
    const documented = [...(await published('requests')).matchAll(/`([^`]+)`/g)].map(([, route = '']) => route)
    const paths = new Set(documented.map((route) => route.split(' ')[1]))

    const named = [...api.routes, ...slack.routes].filter(({ method }) => method !== 'ALL')
    const routes = named.map(({ method, path }) => `${method} ${path.replace(/^\/problems\/.*/, '/problems/*')}`)
    expect(routes.length).toBeGreaterThan(35)
    expect(routes.filter((route) => !documented.includes(route))).toEqual([])
    // The address of a page comes before its methods.
    const addresses = dashboard.routes
      .map(({ path }) => path.replace(/\/[\w-]{10}\.(css|svg)$/, '/*.$1'))
      .filter((path) => path !== '/*')
    expect(addresses.length).toBeGreaterThan(8)
    expect(addresses.filter((path) => !paths.has(path))).toEqual([])
  })

  test('a guarded update needs one read beside the estimate, two writes and ten write units', async () => {
    const rows = new Map(rowsOf(await published('requests')).map(([, route, cells]) => [route, cells]))
    expect(rows.get('POST /updates')).toBe('1+2 | 4+10+3')
    // The id makes this record larger than 1 KB, and the second name needs one more item, which is read and written one time.
    expect(rows.get('POST /updates of a project with an id')).toBe('1+2 | 5+14+3')
  })
})
