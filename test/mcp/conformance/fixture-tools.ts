import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'

type Envelope = { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined

interface FixtureTool {
  readonly inputSchema?: Readonly<Record<string, unknown>>
  readonly run: (
    context: ServerContext,
    input: Readonly<Record<string, unknown>>,
  ) => Promise<CallToolResult | InputRequiredResult>
}

/** One red pixel; the audio is a WAV file without sound. */
export const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const audio = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

/** The state of a call with several rounds passes through the client, so it is signed. */
export const stateCodec = createRequestStateCodec<Record<string, unknown>>({
  key: crypto.getRandomValues(new Uint8Array(32)),
})

const text = (of: string) => ({ type: 'text', text: of }) as const
const says = (...content: CallToolResult['content']) => ({ run: async () => ({ content }) })
const answer = (of: string): CallToolResult => ({ content: [text(of)] })

type Properties = Record<string, { type: 'string' } | { type: 'boolean' }>

export const ask = (message: string, properties: Properties) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } })
const askModel = (message: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(message) }], maxTokens: 50 })

const contentTools: Record<string, FixtureTool> = {
  test_simple_text: says(text('This is a simple text response for testing.')),
  test_image_content: says({ type: 'image', data: image, mimeType: 'image/png' }),
  test_audio_content: says({ type: 'audio', data: audio, mimeType: 'audio/wav' }),
  test_embedded_resource: says({
    type: 'resource',
    resource: {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  }),
  test_multiple_content_types: says(
    text('Multiple content types test:'),
    { type: 'image', data: image, mimeType: 'image/png' },
    {
      type: 'resource',
      resource: { uri: 'test://mixed', mimeType: 'application/json', text: '{"test":"data","value":123}' },
    },
  ),
  test_error_handling: {
    run: async () => ({ ...answer('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_streaming_elicitation: says(text('no requests on this stream')),
  test_logging_tool: {
    run: async ({ mcpReq }) => {
      await mcpReq.log('info', 'only when the request set a level')
      return answer('logged')
    },
  },
  test_tool_with_logging: {
    run: async ({ mcpReq }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
      return answer('Tool with logging executed successfully')
    },
  },
  test_tool_with_progress: {
    run: async ({ mcpReq }) => {
      const token = mcpReq._meta?.progressToken
      for (const progress of token === undefined ? [] : [0, 50, 100]) {
        const params = { progressToken: token ?? '', progress, total: 100 }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      return answer(String(token))
    },
  },
  json_schema_2020_12_tool: {
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: async (_, input) => answer(JSON.stringify(input)),
  },
}

/** After `initialize`, a server sends its own request to the client. */
const askingTool: FixtureTool = {
  run: async () =>
    inputRequired({ inputRequests: { answer: ask('What is your name?', { name: { type: 'string' } }) } }),
}

/** Tools that need input from the client: they say which input, and the client repeats the call with it. */
const inputTools: Record<string, FixtureTool> = {
  test_sampling: { run: async () => inputRequired({ inputRequests: { answer: askModel('What is 2 + 2?') } }) },
  test_elicitation: askingTool,
  test_elicitation_sep1034_defaults: askingTool,
  test_elicitation_sep1330_enums: askingTool,
  test_missing_capability: {
    run: async ({ mcpReq }) =>
      mcpReq.inputResponses?.answer === undefined
        ? inputRequired({ inputRequests: { answer: askModel('Reply with one word.') } })
        : answer('done'),
  },
  test_input_required_result_elicitation: {
    run: async ({ mcpReq }) => {
      const name = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'user_name')?.name
      return typeof name === 'string'
        ? answer(`Hello, ${name}!`)
        : inputRequired({ inputRequests: { user_name: ask('What is your name?', { name: { type: 'string' } }) } })
    },
  },
  test_input_required_result_sampling: {
    run: async ({ mcpReq }) => {
      const response = mcpReq.inputResponses?.capital_question
      return response === undefined
        ? inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?') } })
        : answer(JSON.stringify(response))
    },
  },
  test_input_required_result_list_roots: {
    run: async ({ mcpReq }) => {
      const response = mcpReq.inputResponses?.client_roots
      return response === undefined
        ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
        : answer(JSON.stringify(response))
    },
  },
  test_input_required_result_request_state: {
    run: (context) => confirm(context, 'state-ok'),
  },
  test_input_required_result_tampered_state: {
    run: (context) => confirm(context, 'integrity-ok'),
  },
  test_input_required_result_multiple_inputs: {
    run: async ({ mcpReq }) => {
      const { user_name: name, greeting, client_roots: roots } = mcpReq.inputResponses ?? {}
      if (name !== undefined && greeting !== undefined && roots !== undefined) return answer('all three came')
      return inputRequired({ inputRequests: everyRequest(), requestState: await stateCodec.mint({ of: 'inputs' }) })
    },
  },
  test_input_required_result_multi_round: {
    run: async ({ mcpReq }) => {
      const round = Number(mcpReq.requestState<{ round: number }>()?.round ?? 0)
      if (round === 2) return answer('both rounds are over')
      const request =
        round === 0
          ? ask('What is your name?', { name: { type: 'string' } })
          : ask('What is your favorite color?', { color: { type: 'string' } })
      const requestState = await stateCodec.mint({ round: round + 1 })
      return inputRequired({ inputRequests: { [`step${round + 1}`]: request }, requestState })
    },
  },
  test_input_required_result_capabilities: {
    run: async ({ mcpReq }) => {
      if (mcpReq.inputResponses !== undefined) return answer('done')
      const { elicitation, sampling, roots } = (mcpReq.envelope as Envelope)?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
      const all = everyRequest()
      const inputRequests: InputRequests = {
        ...(elicitation && { user_name: all.user_name }),
        ...(sampling && { greeting: all.greeting }),
        ...(roots && { client_roots: all.client_roots }),
      }
      return Object.keys(inputRequests).length === 0 ? answer('nothing to ask') : inputRequired({ inputRequests })
    },
  },
}

const everyRequest = () => ({
  user_name: ask('What is your name?', { name: { type: 'string' } }),
  greeting: askModel('Generate a greeting'),
  client_roots: inputRequired.listRoots(),
})

async function confirm({ mcpReq }: ServerContext, done: string): Promise<CallToolResult | InputRequiredResult> {
  if (acceptedContent(mcpReq.inputResponses, 'confirm') === undefined) {
    const inputRequests = { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) }
    return inputRequired({ inputRequests, requestState: await stateCodec.mint({ of: done }) })
  }
  if (mcpReq.requestState() === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is missing')
  return answer(done)
}

/** The tools that @modelcontextprotocol/conformance calls by these names. */
export const fixtureTools: Readonly<Record<string, FixtureTool>> = { ...contentTools, ...inputTools }
