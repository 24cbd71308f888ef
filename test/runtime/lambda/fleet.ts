import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { answerWhole, serveUrl, writeHead } from '../../support/edge/function-url.ts'
import { type Environment, type FunctionSpec, startEnvironment } from './environment.ts'
import type { FunctionAnswer } from './runtime-api.ts'

export type Fleet = ReturnType<typeof createFleet>

/** A function with one environment for each simultaneous event. Environments that end are replaced, as on Lambda. */
export function createFleet(spec: FunctionSpec, { started = () => {} }: { started?: () => void } = {}) {
  let environments: Promise<Environment>[] = []
  const busy = new Set<Promise<Environment>>()
  const outputs: Environment[] = []

  function start(): Promise<Environment> {
    started()
    const starting = startEnvironment(spec).then((environment) => {
      outputs.push(environment)
      return environment
    })
    environments.push(starting)
    return starting
  }

  async function invoke(event: object): Promise<FunctionAnswer> {
    const taken = environments.findLast((each) => !busy.has(each)) ?? start()
    busy.add(taken)
    const environment = await taken
    const give = () => {
      busy.delete(taken)
      if (environment.isOver()) environments = environments.filter((each) => each !== taken)
    }
    if (environment.isOver()) {
      give()
      return invoke(event)
    }
    const answer = await environment.invoke(event).catch((cause) => {
      give()
      throw cause
    })
    return { ...answer, body: after(answer.body, give) }
  }

  return {
    name: spec.name,
    invoke,
    /** The complete answer of a call without HTTP. @throws a function error of Lambda. */
    async call(event: object): Promise<unknown> {
      const { body, errorType } = await invoke(event)
      const text = (await buffer(body)).toString()
      if (errorType() !== undefined) throw new Error(text)
      return JSON.parse(text)
    },
    /** Starts `count` environments before the first event. */
    warm: async (count: number) => void (await Promise.all(Array.from({ length: count }, start))),
    environments: () => Promise.all(environments),
    output: () => outputs.map((environment) => environment.output()).join(''),
    stop: async () => void (await Promise.all(environments.map(async (each) => (await each).stop()))),
  }
}

async function* after(body: AsyncIterable<Buffer>, act: () => void): AsyncGenerator<Buffer> {
  try {
    yield* body
  } finally {
    act()
  }
}

/** The address of a function: the head of a streamed answer becomes that of the HTTP answer. */
export const serveFleet = (fleet: Pick<Fleet, 'invoke'>, { streams }: { streams: boolean }) =>
  serveUrl(async (event, response) => {
    const answer = await fleet.invoke(event).catch(() => null)
    if (!answer) return badGateway(response)
    if (streams) await stream(answer, response)
    else {
      const text = (await buffer(answer.body)).toString()
      if (answer.errorType() === undefined) answerWhole(JSON.parse(text), response)
      else badGateway(response)
    }
  })

async function stream({ head, body, errorType }: FunctionAnswer, response: ServerResponse): Promise<void> {
  if (head) writeHead(response, head)
  for await (const chunk of body) response.write(chunk)
  if (!head) badGateway(response)
  else if (errorType() !== undefined) response.destroy()
  else response.end()
}

function badGateway(response: ServerResponse): void {
  response.writeHead(502, { 'content-type': 'application/json' }).end('{"Message":"Internal Server Error"}')
}
