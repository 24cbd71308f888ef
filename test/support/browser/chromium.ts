import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/** The first program has no window and needs a third of the processor time of the others. */
const usual = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
)

/** `null`: no browser here, so its tests are skipped. */
export const chromiumPath: string | null =
  (process.env.CHROMIUM ? [process.env.CHROMIUM] : usual).find((path) => existsSync(path)) ?? null

if (chromiumPath === null)
  console.error(
    '*** NO CHROMIUM: the pages were not tested in a browser. Install chromium, or set CHROMIUM to one. ***',
  )

/** Chromium's own sandbox does not work in containers. */
export const launchChromium = () =>
  chromium.launch({
    executablePath: chromiumPath ?? '',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
