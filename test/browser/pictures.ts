import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page, PageScreenshotOptions } from 'playwright-core'
import { digestOf } from '../../shared/slack/reports/digest.ts'
import { createComposer } from '../../shared/slack/tell/compose.ts'
import { chromiumPath } from '../support/browser/chromium.ts'
import { type Dashboard, openDashboard } from '../support/browser/dashboard.ts'
import { readOptions } from '../support/process/command-line.ts'
import { toPage } from '../support/slack/block-kit.ts'

const usage = `Takes the pictures of the README in Chromium, of the month of npm run demo:month at an instant that does not move.

  npm run pictures`

const folder = fileURLToPath(new URL('../../docs/pictures', import.meta.url))
const schemes = ['light', 'dark'] as const
/** Sharp enough to read, and small enough for a README. */
const screen = { viewport: { width: 1240, height: 1000 }, deviceScaleFactor: 1.25 }
const marginPx = 16

async function save(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  await page.screenshot({ path: `${folder}/${name}.png`, ...options })
  process.stdout.write(`docs/pictures/${name}.png\n`)
}

async function pages(dashboard: Dashboard): Promise<void> {
  for (const colorScheme of schemes) {
    const { page } = await dashboard.insider({ sub: 'mira', may: ['read', 'approve'] }, { ...screen, colorScheme })
    await page.goto('/')
    await save(page, `overview-${colorScheme}`, await downTo(page, 'Left day by day'))
    await page.goto(dashboard.overrun())
    await save(page, `update-${colorScheme}`, await downTo(page, 'History'))
  }
}

/** The page from its top to the end of one section. */
async function downTo(page: Page, region: string): Promise<PageScreenshotOptions> {
  const box = await page.getByRole('region', { name: region, exact: true }).boundingBox()
  if (!box) throw new Error(`the page shows no ${region}`)
  return { fullPage: true, clip: { x: 0, y: 0, width: screen.viewport.width, height: box.y + box.height + marginPx } }
}

/** The message as it is sent, drawn in Slack's style. */
async function slackApproval({ scenario, browser }: Dashboard): Promise<void> {
  const { guard, services } = scenario
  const { rows } = await guard.ledger.open('awaiting-approval', 20)
  const update = rows.find(({ project }) => project === 'lakeside-hotels.example')?.id ?? ''
  const { troubles, options } = services
  const digest = (until: number) => digestOf({ guard, troubles }, until)
  const composing = createComposer({ guard, troubles, options, digest })
  const composed = await composing.compose(
    { about: { kind: 'approval-wanted', update }, createdAt: 0 },
    { hasBot: true },
  )
  if (!composed) throw new Error('nothing waits for an approval')
  const page = await browser.newPage({ ...screen, viewport: { width: 660, height: 390 } })
  await page.setContent(toPage([['', composed.message]]))
  await page.addStyleTag({
    content: `h2, .notification, .dialog { display: none } body { width: auto } code { word-break: normal }`,
  })
  await save(page, 'slack-approval')
}

readOptions(usage, {})
if (chromiumPath === null) process.exit(1)
const dashboard = await openDashboard('2026-11-24T14:00:00Z')
try {
  await mkdir(folder, { recursive: true })
  await pages(dashboard)
  await slackApproval(dashboard)
} finally {
  await dashboard.close()
}
