import type { HttpBindings } from '@hono/node-server'
import type { Fault } from './faults.ts'
import type { Project } from './project.ts'
import type { Requested } from './request.ts'

/** What a request carries through the app. On Lambda there is no node request to bind, hence `Partial`. */
export type SandboxEnv = {
  Bindings: Partial<HttpBindings>
  Variables: { requested: Requested; fault: Fault | undefined; projects: readonly Project[] }
}
