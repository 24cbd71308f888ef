import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: templates are JSON of any shape.
type Json = any

/**
 * Buffers streamed responses for a runtime without response streaming. A nested handler receives a stream, as on Lambda.
 */
const buffered = `
globalThis.awslambda={
  streamifyResponse:(handler)=>async(event,context,...more)=>{
    if(typeof context?.write==='function')return handler(event,context,...more);
    const{PassThrough}=await import('node:stream');const{buffer}=await import('node:stream/consumers');
    const stream=new PassThrough();
    const[body]=await Promise.all([buffer(stream),handler(event,stream,context)]);
    return{...stream.head,body:body.toString('base64'),isBase64Encoded:true};
  },
  HttpResponseStream:{from:(stream,head)=>Object.assign(stream,{head})},
};
`

/** Adapts a synthesized stack to MiniStack without Docker, and lists the changes. See docs/deploy.md, "Rehearsal". */
export async function adaptToEmulator(assembly: string, endpoint: string): Promise<readonly string[]> {
  const changed: string[] = []
  const files = await readdir(assembly)
  for (const name of files.filter((each) => each.endsWith('.template.json')))
    changed.push(...(await adaptTemplate(join(assembly, name), endpoint)))
  for (const name of files.filter((each) => each.startsWith('asset.'))) await adaptCode(join(assembly, name))
  return changed
}

async function adaptTemplate(file: string, endpoint: string): Promise<readonly string[]> {
  const changed: string[] = []
  const template = JSON.parse(await readFile(file, 'utf8'))
  for (const [id, { Type, Properties }] of Object.entries<Json>(template.Resources)) {
    if (Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics) {
      delete template.Resources[id]
      changed.push(`left out: ${id} (${Type}), because of its metric math`)
    }
    if (Type === 'AWS::Lambda::Url' && Properties.InvokeMode === 'RESPONSE_STREAM') {
      Properties.InvokeMode = 'BUFFERED'
      changed.push(`buffered: ${id}`)
    }
    const variables = Properties.Environment?.Variables
    const url = variables?.TRACKING_BASE_URL?.['Fn::Join']?.[1]?.[0]
    if (url) variables.TRACKING_BASE_URL = { 'Fn::Join': ['', [`${endpoint}${urlsBelow}`, idIn(url), '/v3']] }
  }
  await writeFile(file, JSON.stringify(template))
  return changed
}

async function adaptCode(folder: string): Promise<void> {
  // A module of its own, because what a module imports runs before it.
  await writeFile(join(folder, 'buffered.mjs'), buffered)
  const code = join(folder, 'index.mjs')
  await writeFile(code, `import './buffered.mjs';${await readFile(code, 'utf8')}`)
}

const urlsBelow = '/_aws/lambda-url/'

/** The first label of the host of a function's URL, in CloudFormation. */
const idIn = (url: Json): Json => ({
  'Fn::Select': [0, { 'Fn::Split': ['.', { 'Fn::Select': [2, { 'Fn::Split': ['/', url] }] }] }],
})

/** The emulator's address for a function's URL, which no DNS resolves. */
export const emulatedUrl = (url: string, endpoint: string): string =>
  `${endpoint}${urlsBelow}${new URL(url).hostname.split('.')[0]}`
