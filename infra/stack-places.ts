import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

// The build puts this file in front of each function. The option --enable-source-maps would read every map at each start.

const ownFolder = new URL('.', import.meta.url).href
const place = /(file:\/\/[^\s():]+\.mjs):(\d+):(\d+)/g
const maps = new Map<string, SourceMap>()
const format = Error.prepareStackTrace

/** Shows the places of TypeScript. Node calls it when a stack is read, as for a line of the log. */
Error.prepareStackTrace = (error, frames) => String(format(error, frames)).replace(place, original)

function original(text: string, file: string, line: string, column: string): string {
  if (!file.startsWith(ownFolder)) return text
  try {
    const found = mapOf(file).findOrigin(Number(line), Number(column))
    if (!('fileName' in found)) return text
    return `${found.fileName.replace(/^(\.\.\/)+/, '')}:${found.lineNumber}:${found.columnNumber}`
  } catch {
    // Without its map, a stack is still worth reading.
    return text
  }
}

function mapOf(file: string): SourceMap {
  const map = maps.get(file) ?? new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')))
  maps.set(file, map)
  return map
}
