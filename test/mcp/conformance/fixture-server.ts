import {
  acceptedContent,
  type GetPromptResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  Server,
} from '@modelcontextprotocol/server'
import { ask, fixtureTools, image, stateCodec } from './fixture-tools.ts'

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} }

/** The fixtures that the official scenarios call, on Unit Guard's transport. */
export function createFixtureServer(): Server {
  const server = new Server(
    { name: 'conformance-fixture', version: '1' },
    { capabilities, requestState: { verify: stateCodec.verify } },
  )
  serveTools(server)
  serveResources(server)
  servePrompts(server)
  server.setRequestHandler('logging/setLevel', async () => ({}))
  server.setRequestHandler('completion/complete', async () => ({
    completion: { values: [], total: 0, hasMore: false },
  }))
  return server
}

function serveTools(server: Server): void {
  server.setRequestHandler('tools/list', async () => ({
    tools: Object.entries(fixtureTools).map(([name, { inputSchema = {} }]) => ({
      name,
      description: `A fixture of the scenarios: ${name}`,
      inputSchema: { type: 'object' as const, ...inputSchema },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = fixtureTools[params.name]
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool.')
    return tool.run(context, params.arguments ?? {})
  })
}

const resources = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: image },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
} as const

const template = /^test:\/\/template\/([^/]+)\/data$/

function serveResources(server: Server): void {
  server.setRequestHandler('resources/list', async () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
  }))
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }): Promise<ReadResourceResult> => {
    const id = template.exec(uri)?.[1]
    if (id !== undefined)
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }] }
    const found = Object.entries(resources).find(([each]) => each === uri)?.[1]
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri })
    return { contents: [{ uri, ...found }] }
  })
  server.setRequestHandler('resources/subscribe', async () => ({}))
  server.setRequestHandler('resources/unsubscribe', async () => ({}))
}

type Message = GetPromptResult['messages'][number]
const saying = (text: string): Message => ({ role: 'user', content: { type: 'text', text } })

const prompts: Record<string, { arguments?: string[]; messages: (given: Record<string, string>) => Message[] }> = {
  test_simple_prompt: { messages: () => [saying('This is a simple prompt for testing.')] },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [saying(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    messages: ({ resourceUri: uri = '' }) => [
      {
        role: 'user',
        content: { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content.' } },
      },
      saying('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: {
    messages: () => [
      { role: 'user', content: { type: 'image', data: image, mimeType: 'image/png' } },
      saying('Please analyze the image above.'),
    ],
  },
  test_input_required_result_prompt: { messages: ({ context }) => [saying(`Use this context: ${context}`)] },
}

function servePrompts(server: Server): void {
  server.setRequestHandler('prompts/list', async () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: `A fixture of the scenarios: ${name}`,
      arguments: (prompt.arguments ?? []).map((each) => ({ name: each, required: true })),
    })),
  }))
  server.setRequestHandler('prompts/get', async ({ params }, { mcpReq }) => {
    const prompt = prompts[params.name]
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such prompt.')
    if (params.name !== 'test_input_required_result_prompt')
      return { messages: prompt.messages(params.arguments ?? {}) }
    const given = acceptedContent<{ context: string }>(mcpReq.inputResponses, 'user_context')
    if (given) return { messages: prompt.messages(given) }
    return inputRequired({ inputRequests: { user_context: ask('Which context?', { context: { type: 'string' } }) } })
  })
}
