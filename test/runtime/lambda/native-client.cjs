// Stands in for the compiled part of the runtime client, which asks for events and sends answers that are not streamed.
const http = require('node:http')
const Module = require('node:module')

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':')
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

/** Requests leave in the order in which they are made. */
function send(method, path, { body = '', headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const options = { hostname, port, agent, method, headers, path: `/2018-06-01/runtime/invocation/${path}` }
    const request = http.request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ bodyJson: text, headers: response.headers }))
    })
    request.on('error', reject).end(body)
  })
}

const client = {
  initializeClient: () => {},
  next: () => send('GET', 'next'),
  done: (id, body) => void send('POST', `${id}/response`, { body }),
  error: (id, body) => void send('POST', `${id}/error`, { body }),
}

const load = Module._load
Module._load = (request, ...rest) => (request === './rapid-client.node' ? client : load(request, ...rest))
