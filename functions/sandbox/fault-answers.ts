import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { alreadySent } from '../../shared/platform/already-sent.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Log } from '../../shared/platform/log.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import type { SandboxEnv } from './answers.ts'
import { failed } from './answers.ts'
import { type Fault, lateMsOf, matches } from './faults.ts'
import { findProjects, type Project } from './project.ts'
import { readRequest, type SandboxRequest } from './request.ts'
import type { State } from './state.ts'

type Options = { readonly state: State; readonly clock: Clock; readonly kinds: Kinds; readonly log?: Log | undefined }

export const injectFaults = ({ state, clock, kinds, log }: Options) =>
  createMiddleware<SandboxEnv>(async (c, next) => {
    const requested = readRequest(c.req.path, kinds)
    const { fault, projects } = await state.meet((each, all) => matches(each, requested, namesOf(requested, all)))
    c.set('requested', requested)
    c.set('fault', fault)
    c.set('projects', projects)
    log?.info('sandbox-request', { method: c.req.method, ...requested, fault: fault?.fault })

    if (fault === undefined || isOperationFault(fault)) return next()
    if (fault.fault === 'delay') {
      await next()
      return clock.sleep(fault.ms)
    }
    if (fault.consumes || lateMsOf(fault) > 0) await next()
    const normalAnswer = c.res
    c.res = undefined
    c.res = await answerSpoiled(c, fault, normalAnswer)
  })

const ofOperations = ['estimate-shape', 'run-units', 'late-date'] as const
type OperationFault = Extract<Fault, { fault: (typeof ofOperations)[number] }>
type SpoilingFault = Exclude<Fault, OperationFault | { fault: 'delay' }>

const isOperationFault = (fault: Fault): fault is OperationFault => ofOperations.some((name) => name === fault.fault)

function namesOf({ name }: SandboxRequest, all: readonly Project[]): string[] {
  const found = findProjects(all, name)
  return found.kind === 'found' ? found.projects.flatMap((project) => [project.name, project.id]) : [name]
}

async function answerSpoiled(c: Context<SandboxEnv>, fault: SpoilingFault, normalAnswer: Response): Promise<Response> {
  switch (fault.fault) {
    case 'hang':
      return hang(c)
    case 'reset':
      return reset(c)
    case 'reset-mid-body':
      return resetMidBody(c, await normalAnswer.text())
    case 'status':
      return withStatus(c, fault)
    case 'html':
      return c.html('<!doctype html><title>Maintenance</title><p>We will be back soon.</p>\n')
    case 'envelope':
      return c.json({ response_code: 12, error: 'Temporarily not available' })
  }
}

/** Ends when the caller disconnects, so that no promise stays in the process. */
async function hang(c: Context<SandboxEnv>): Promise<Response> {
  const { signal } = c.req.raw
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return alreadySent()
}

function reset(c: Context<SandboxEnv>): Response | Promise<Response> {
  const outgoing = c.env?.outgoing
  if (!outgoing) return noConnection(c)
  outgoing.destroy()
  return alreadySent()
}

async function resetMidBody(c: Context<SandboxEnv>, normalAnswer: string): Promise<Response> {
  const outgoing = c.env?.outgoing
  if (!outgoing) return noConnection(c)
  const body = Buffer.from(normalAnswer || '{"response_code":0,"data":{}}')
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  await new Promise((resolve) => outgoing.write(body.subarray(0, body.length / 2), resolve))
  outgoing.destroy()
  return alreadySent()
}

/** Lambda owns the connection, and answers 502 for a broken function. */
const noConnection = (c: Context) => failed(c, 502, 'Bad Gateway')

function withStatus(c: Context, { status, retryAfter }: Extract<Fault, { fault: 'status' }>): Response {
  const headers = new Headers()
  const wait = retryAfter ?? (status === 429 || status === 503 ? 60 : undefined)
  if (wait !== undefined) headers.set('retry-after', String(wait))
  if (status >= 300 && status < 400 && status !== 304) headers.set('location', c.req.url)
  if (status < 300 || status === 304) return new Response(null, { status, headers })
  headers.set('content-type', 'application/json')
  const body = { response_code: status, error: `The sandbox was told to answer ${status}` }
  return new Response(JSON.stringify(body), { status, headers })
}
