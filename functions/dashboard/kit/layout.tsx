import type { Child } from 'hono/jsx'
import type { Trouble } from '../../../shared/guard/troubles/table.ts'
import { iconPath, stylesheetPath } from '../assets.ts'
import type { Flash } from '../flash.ts'
import { Said } from './fields.tsx'
import { callersAddress, eventsAddress, findPath, inboxPath } from './parts.tsx'

export interface Frame {
  readonly sub: string
  /** Proves that a form comes from a page of this session. */
  readonly formToken: string
  readonly flash: Flash | null
  readonly path: string | undefined
  readonly isAdmin?: boolean
  readonly hasEvents?: boolean
  readonly waiting?: number | undefined
  /** What is wrong with the whole guard, for this user. */
  readonly troubles?: readonly Trouble[]
}

export interface PageProps {
  readonly title: string
  readonly frame?: Frame
  /** The browser loads this address at once, without a click. */
  readonly refreshTo?: string
  readonly children: Child
}

/** The badge shows a higher count as `99+`. */
export const maxWaiting = 99

export const Page = ({ title, frame, refreshTo, children }: PageProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      {refreshTo === undefined ? null : <meta http-equiv="refresh" content={`0; url=${refreshTo}`} />}
      <title>{title} – Unit Guard</title>
      <link rel="stylesheet" href={stylesheetPath} />
      <link rel="icon" href={iconPath} type="image/svg+xml" />
    </head>
    <body>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header {...(frame && { frame })} />
      <main id="content">
        <Troubles troubles={frame?.troubles ?? []} />
        <h1>{title}</h1>
        {frame?.flash ? <Said {...frame.flash} role="status" /> : null}
        {children}
      </main>
      <footer>
        <a href="/docs">Documentation</a> · <a href="/openapi.json">OpenAPI</a>
      </footer>
    </body>
  </html>
)

const Troubles = ({ troubles }: { troubles: readonly Trouble[] }) =>
  troubles.length === 0 ? null : (
    <div class="troubles" role="alert">
      {troubles.map(({ sentence, remedy }) => (
        <p>
          <strong>{sentence}</strong> {remedy}
        </p>
      ))}
    </div>
  )

const navLinks = [
  { path: '/', name: 'Overview' },
  { path: '/dashboard/updates', name: 'Updates' },
  { path: inboxPath, name: 'Inbox' },
  { path: '/dashboard/plans', name: 'Plans' },
  { path: '/dashboard/budgets', name: 'Budgets' },
  { path: '/dashboard/statements', name: 'Statements' },
  { path: '/dashboard/activity', name: 'Activity' },
]

const Header = ({ frame }: { frame?: Frame }) => (
  <header class="top">
    <a class="brand" href="/">
      Unit Guard
    </a>
    {frame ? (
      <>
        {/* On a phone this element folds the menu below. Around the menu, a closed `details` would hide the menu on a desktop, too. */}
        <details class="fold">
          <summary>Menu</summary>
        </details>
        <div class="menu">
          <nav aria-label="Dashboard">
            <ul>
              {navLinks.map(({ path, name }) => (
                <li>
                  <a href={path} aria-current={ariaCurrentOf(path, frame.path)}>
                    {name}
                    {path === inboxPath ? <Badge waiting={frame.waiting} /> : null}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <form method="get" action={findPath} class="find" aria-label="Find">
            <input
              name="q"
              type="search"
              maxlength={200}
              placeholder="Find a project, person, budget…"
              aria-label="Find a project, person, budget, plan or update"
              autocomplete="off"
            />
          </form>
          <a href="/docs">Docs</a>
          <details class="who">
            <summary>{frame.sub}</summary>
            <div>
              {frame.isAdmin ? (
                <a href={callersAddress} aria-current={ariaCurrentOf(callersAddress, frame.path)}>
                  Callers
                </a>
              ) : null}
              {frame.hasEvents ? (
                <a href={eventsAddress} aria-current={ariaCurrentOf(eventsAddress, frame.path)}>
                  Events
                </a>
              ) : null}
              <form method="post" action="/logout">
                <FormToken frame={frame} />
                <button type="submit" class="plain">
                  Log out
                </button>
              </form>
            </div>
          </details>
        </div>
      </>
    ) : null}
  </header>
)

const Badge = ({ waiting }: { waiting: Frame['waiting'] }) =>
  waiting ? (
    <>
      {' '}
      <span class="badge">
        {waiting > maxWaiting ? `${maxWaiting}+` : waiting} <span class="hidden">to decide</span>
      </span>
    </>
  ) : null

const ariaCurrentOf = (path: string, here: string | undefined): 'page' | 'true' | undefined =>
  path === here ? 'page' : here?.startsWith(`${path}/`) && path !== '/' ? 'true' : undefined

export const FormToken = ({ frame }: { frame: Pick<Frame, 'formToken'> }) => (
  <input type="hidden" name="form" value={frame.formToken} />
)
