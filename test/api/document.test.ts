import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { allOperations, openApiDocument } from '../../infra/openapi/document.ts'

const document = openApiDocument()
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ $id: 'openapi', ...document })
const takes = (pointer: string, value: unknown) => ajv.validate({ $ref: `openapi#${pointer}` }, value)

const asked = { kind: 'ranking', project: 'acme' }
const resolution = { outcome: 'ran', reason: 'seen' }
const month = { window: 'month', units: 10 }
const day = { window: 'day', units: 5 }

describe('the schemas of the OpenAPI document', () => {
  test.each([
    ['a request with one project', 'UpdatesRequest', asked, true],
    ['project and projects together', 'UpdatesRequest', { ...asked, projects: ['globex'] }, false],
    ['a project with a control character', 'UpdatesRequest', { ...asked, project: 'a\u0085b' }, false],
    ['a project that is a dot segment', 'UpdatesRequest', { ...asked, project: '..' }, false],
    ['a project that begins with dots', 'UpdatesRequest', { ...asked, project: '..a' }, true],
    ['the same project twice', 'UpdatesRequest', { kind: 'ranking', projects: ['acme', 'acme'] }, false],
    ['force without a reason', 'UpdatesRequest', { ...asked, force: true }, false],
    ['force with a reason', 'UpdatesRequest', { ...asked, force: true, reason: 'new pages' }, true],
    ['no force and no reason', 'UpdatesRequest', { ...asked, force: false }, true],
    ['a query name with a control character', 'UpdatesRequest', { ...asked, query: { 'a\u0007': 1 } }, false],
    ['a query name of 64 characters', 'UpdatesRequest', { ...asked, query: { ['é'.repeat(64)]: 1 } }, true],
    ['a query name of 65 characters', 'UpdatesRequest', { ...asked, query: { ['é'.repeat(65)]: 1 } }, false],
    ['units of an update that ran', 'Resolution', { ...resolution, units: 3 }, true],
    ['units of an update that did not run', 'Resolution', { ...resolution, outcome: 'did-not-run', units: 3 }, false],
    ['an update that did not run', 'Resolution', { ...resolution, outcome: 'did-not-run' }, true],
    [
      'units of many that did not run',
      'ManyResolutions',
      { outcome: 'did-not-run', reason: 'x', ids: ['upd_1'], units: 3 },
      false,
    ],
    ['the same update twice', 'ManyResolutions', { ...resolution, ids: ['upd_1', 'upd_1'] }, false],
    ['a limit of each window', 'BudgetRequest', { limits: [day, month] }, true],
    ['two limits of one window', 'BudgetRequest', { limits: [month, { ...month, units: 20 }] }, false],
    ['two limits of one window for a caller', 'CallerRequest', { limits: [day, { ...day, units: 20 }] }, false],
    ['the same kind twice', 'BudgetRequest', { limits: [month], kinds: ['ranking', 'ranking'] }, false],
    ['a whole number that JavaScript cannot hold', 'CreateProjectInput', projectWithIndex(2 ** 60), false],
    ['a whole number', 'CreateProjectInput', projectWithIndex(3), true],
  ])('the OpenAPI document accepts or refuses %s by its schema %s', (_what, schema, body, expected) => {
    expect(takes(`/components/schemas/${schema}`, body)).toBe(expected)
  })

  function projectWithIndex(index: number) {
    return { keywords: [], searchengines: [], websites: [{ name: 'acme.example', index }] }
  }

  test.each([
    ['/budgets', 'window', 'month:2026-11-12', true],
    ['/budgets', 'window', 'month:2026-55-12', false],
    ['/statements', 'window', 'month:2026-00-12', false],
    ['/statements', 'window', 'month:2026-11-32', false],
    ['/changes', 'cursor', '', false],
    ['/changes', 'cursor', 'eyJ', true],
    ['/budgets/{name}/entries', 'cursor', '', false],
    ['/updates', 'cursor', '', false],
    ['/estimates', 'project', ['acme', 'acme'], false],
    ['/v3/on-demand/{name}/run', 'name', 'a\u008fb', false],
    ['/v3/on-demand/{name}/estimate', 'name', 'a\u008fb', true],
    ['/callers/{sub}', 'sub', 'slack:U02ADA', true],
    ['/callers/{sub}', 'sub', 'schedule:morning', true],
    ['/callers/{sub}', 'sub', 'ada#2', false],
    ['/callers/{sub}', 'sub', 'ädä', false],
  ])('GET %s with %s = %j: %s', (path, name, value, expected) => {
    const parameters = document.paths[path]?.get?.parameters
    const at = Array.isArray(parameters) ? parameters.findIndex((parameter) => parameter.name === name) : -1
    expect(takes(`/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/get/parameters/${at}/schema`, value)).toBe(
      expected,
    )
  })
})

describe('the answers of the OpenAPI document', () => {
  test('every operation documents 431', () => {
    const without = allOperations.filter(
      ({ path, method }) =>
        JSON.stringify(responsesOf(path, method)['431']) !== '{"$ref":"#/components/responses/headers-too-large"}',
    )
    expect(without.map(({ id }) => id)).toEqual([])
    const { content } = document.components.responses['headers-too-large'] as { content: object }
    expect(content).toHaveProperty('application/problem+json')
  })

  test('every operation documents a successful answer', () => {
    const silent = allOperations.filter(
      ({ path, method }) => !Object.keys(responsesOf(path, method)).some((status) => /^2\d\d$/.test(status)),
    )
    expect(silent.map(({ id }) => id)).toEqual([])
  })

  test('every component of the document is used', () => {
    const text = JSON.stringify(document)
    const unused = (['schemas', 'responses'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).filter((name) => !text.includes(`"#/components/${kind}/${name}"`)),
    )
    expect(unused).toEqual([])
  })

  const responsesOf = (path: string, method: string): Record<string, unknown> =>
    Object(document.paths[path]?.[method.toLowerCase()]?.responses)
})
