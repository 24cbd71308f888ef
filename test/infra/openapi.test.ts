import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { allOperations, openApiDocument } from '../../infra/openapi/document.ts'
import { slugs } from '../../infra/openapi/schemas.ts'
import { type JsonSchema, shapesOf } from '../../shared/api/json-schema.ts'
import { problems } from '../../shared/guard/problem-types.ts'
import { operationNames, operations } from '../../shared/tracking/operations.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { mustBeDocumented } from '../support/documented.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const document = openApiDocument()
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ $id: 'openapi', ...document })
const start = () => startProduct({ store: createMemoryStore() })

describe('the OpenAPI document', () => {
  test('the OpenAPI document is OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  test('the OpenAPI document has every route of the API, and no other route', async () => {
    const { api } = await start()
    const routes = api.routes
      // Middleware, 405 answers and the redirects to the dashboard take any method.
      .filter(({ method }) => method !== 'ALL')
      .map(
        ({ method, path }) => `${method} ${path.replace('/problems/*', '/problems/:slug').replace(/:(\w+)/g, '{$1}')}`,
      )
    const documented = pathsOf().filter((each) => !each.includes(' /v3/'))
    expect(documented.toSorted()).toEqual([...new Set(routes)].toSorted())
  })

  test('the OpenAPI document has every operation of the gateway, and no other operation', () => {
    const known = operationNames.map((name) => `${operations[name].method} /v3${operations[name].path}`)
    expect(
      pathsOf()
        .filter((each) => each.includes(' /v3/'))
        .toSorted(),
    ).toEqual(known.toSorted())
  })

  test('the OpenAPI document names each operation once', () => {
    expect(new Set(allOperations.map(({ id }) => id)).size).toBe(allOperations.length)
  })

  test.each(allOperations.flatMap(({ id, body }) => (body ? [[id, body] as const] : [])))(
    'the example of %s is a body that the operation accepts',
    (_id, { input, example }) => {
      ajv.validate({ $ref: `openapi#/components/schemas/${input.name}` }, example)
      expect(ajv.errors).toBeNull()
    },
  )

  test('the OpenAPI document describes each member of a body or an answer and each parameter', () => {
    const members = Object.entries(document.components.schemas).flatMap(([name, schema]) => membersOf(name, schema))
    const parameters = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, parameters }) =>
        (Array.isArray(parameters) ? parameters : []).map((each) => [`${operationId} ${each.name}`, each.description]),
      ),
    )
    expect(Math.min(members.length, parameters.length)).toBeGreaterThan(60)
    const silent = [...members, ...parameters].filter(([, description]) => !description)
    expect(silent).toEqual([])
  })

  test('the OpenAPI document is served unchanged, without a token', async () => {
    const { call } = await start()
    const served = await call('GET', '/openapi.json', { token: null })
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(served.body).toEqual(JSON.parse(JSON.stringify(document)))
  })
})

describe('an answer outside the OpenAPI document', () => {
  const answered = { method: 'GET', path: '/health', status: 200, text: '{"status":"ok"}' }
  const json = new Headers({ 'content-type': 'application/json' })
  const html = new Headers({ 'content-type': 'text/html; charset=UTF-8' })
  const problemJson = new Headers({ 'content-type': 'application/problem+json' })
  const notFound = { type: '/problems/not-found', title: 'There is nothing here', status: 404, detail: 'None.' }

  test.each([
    ['one as documented', { headers: json }, null],
    ['another member', { headers: json, text: '{"status":"ok","secret":1}' }, /additional properties/],
    ['a member that is missing', { headers: json, text: '{}' }, /required property/],
    ['another value', { headers: json, text: '{"status":"well"}' }, /equal to constant/],
    ['another status', { headers: json, status: 201 }, /answered 201/],
    ['another type', { headers: new Headers({ 'content-type': 'text/plain' }) }, /as text\/plain/],
    ['JSON at an unknown address', { headers: json, path: '/nothing' }, /not in the OpenAPI document/],
    ['a problem at an unknown address', { ...problemOf(notFound), path: '/nothing', status: 404 }, null],
    ['a problem with another member', { ...problemOf({ ...notFound, units: 1 }), path: '/nothing' }, /additional/],
    ['a page that does not exist', { headers: html, path: '/problems/none', status: 404, text: '<p>None.' }, null],
    ['a page where a problem is due', { headers: html, path: '/updates/x', status: 404, text: '' }, /as text/],
    ['a problem of another status', { ...problemOf(notFound), path: '/forecast', status: 404 }, /answered 404/],
  ] as const)('a test fails only for an answer outside the OpenAPI document: %s', (_name, changes, fails) => {
    const check = () => mustBeDocumented({ ...answered, ...changes })
    if (fails) expect(check).toThrow(fails)
    else expect(check).not.toThrow()
  })

  function problemOf(body: object) {
    return { headers: problemJson, text: JSON.stringify(body) }
  }
})

describe('the documentation pages', () => {
  test('/docs shows every operation, works without scripts, and requests no other host', async () => {
    const { get } = openBrowser(await start())
    const { status, headers, html: text } = await get('/docs')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'/)
    for (const { id, method, path } of allOperations)
      expect(text).toContain(`<span class="method">${method}</span><a href="#${id}"><code>${path}</code>`)
    expect(/<script|style="|(src|href)="(?!\/|#)/.exec(text)).toBeNull()
    const sheets = [...text.matchAll(/rel="stylesheet" href="([^"]+)"/g)]
    expect(sheets).toHaveLength(2)
    for (const [, sheet = ''] of sheets) expect((await get(sheet)).status).toBe(200)
    const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, anchor]) => anchor)
    expect(anchors.filter((anchor) => !text.includes(`id="${anchor}"`))).toEqual([])
  })

  test('each type of problem has a page: what it means, what was counted, and what to do', async () => {
    const { get } = openBrowser(await start())
    for (const slug of slugs) {
      const { status, html: text } = await get(`/problems/${slug}`)
      expect(status).toBe(200)
      const plain = text.replaceAll(/<\/?code>/g, '')
      const { meaning, counted, toDo, status: usual } = problems[slug]
      for (const sentences of [meaning, counted, toDo]) expect(plain).toContain(toHtml(sentences))
      expect(plain).toContain(`usually answered with status ${usual}`)
    }
  })
})

const pathsOf = (): string[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )

const membersOf = (name: string, schema: JsonSchema = {}) =>
  shapesOf(schema).flatMap(({ properties }) =>
    Object.entries(properties ?? {})
      // A constant of a problem, such as its type, explains itself.
      .filter(([, member]) => member.const === undefined)
      .map(([member, { description, $ref }]) => [`${name} ${member}`, description ?? $ref]),
  )

const toHtml = (text: string): string =>
  text
    .replaceAll('`', '')
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
