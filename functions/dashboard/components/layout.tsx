import type { Child } from 'hono/jsx'
import { iconPath, stylesheetPath } from '../assets.ts'
import type { Flash } from '../flash.ts'

export interface Frame {
  readonly sub: string
  /** Proves that a form comes from a page of this session. */
  readonly formToken: string
  readonly flash: Flash | null
  readonly path: string | undefined
  /** Shows links to pages for administrators. */
  readonly isAdmin?: boolean
}

export interface PageProps {
  readonly title: string
  /** Absent without a session. */
  readonly frame?: Frame
  /** The address that the browser loads next, without a click. */
  readonly refreshTo?: string
  readonly children: Child
}

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
        <h1>{title}</h1>
        {frame?.flash ? <FlashMessages flash={frame.flash} /> : null}
        {children}
      </main>
    </body>
  </html>
)

const navLinks = [
  { path: '/', name: 'Overview' },
  { path: '/dashboard/updates', name: 'Updates' },
  { path: '/dashboard/needs-you', name: 'Needs you' },
  { path: '/dashboard/plans', name: 'Plans' },
  { path: '/dashboard/budgets', name: 'Budgets' },
  { path: '/dashboard/statements', name: 'Statements' },
  { path: '/dashboard/ledger', name: 'Ledger' },
  { path: '/dashboard/callers', name: 'Callers', isForAdmins: true },
]

const Header = ({ frame }: { frame?: Frame }) => (
  <header class="top">
    <p class="brand">Unit Guard</p>
    {frame ? (
      <>
        <nav aria-label="Dashboard">
          <ul>
            {navLinks
              .filter(({ isForAdmins }) => !isForAdmins || frame.isAdmin)
              .map(({ path, name }) => (
                <li>
                  <a href={path} aria-current={ariaCurrentOf(path, frame.path)}>
                    {name}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
        <form method="post" action="/logout" class="who">
          <FormToken frame={frame} />
          <span class="name">{frame.sub}</span>
          <button type="submit" class="plain">
            Log out
          </button>
        </form>
      </>
    ) : null}
  </header>
)

const ariaCurrentOf = (path: string, here: string | undefined): 'page' | 'true' | undefined =>
  path === here ? 'page' : here?.startsWith(`${path}/`) && path !== '/' ? 'true' : undefined

export const FormToken = ({ frame }: { frame: Pick<Frame, 'formToken'> }) => (
  <input type="hidden" name="form" value={frame.formToken} />
)

const FlashMessages = ({ flash: { done, failed } }: { flash: Flash }) => (
  <div role="status" class="outcome">
    {done.map((sentence) => (
      <p class="done">
        <span aria-hidden="true">✓</span> {sentence}
      </p>
    ))}
    {failed.map((sentence) => (
      <p class="failed">
        <span aria-hidden="true">✕</span> {sentence}
      </p>
    ))}
  </div>
)
