import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/** The first has no window, and draws the pages for two thirds of the processor's time. */
const usual = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
)

/** Where the browser of this machine is; `null`: there is none, and what needs one is skipped. */
export const chromiumPath: string | null =
  (process.env.CHROMIUM ? [process.env.CHROMIUM] : usual).find((path) => existsSync(path)) ?? null

if (chromiumPath === null)
  console.error(
    '*** NO CHROMIUM: the pages were not tested in a browser. Install chromium, or set CHROMIUM to one. ***',
  )

/** Without a sandbox of its own, which containers do not allow, and without a look for updates. */
export const launchChromium = () =>
  chromium.launch({
    executablePath: chromiumPath ?? '',
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  })
