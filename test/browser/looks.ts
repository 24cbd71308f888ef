import axe from 'axe-core'
import type { Page } from 'playwright-core'

const widths = { desktop: 1280, phone: 390 }
/** Its own way to load style sheets is what the policy does not let through, and nothing that we need. */
const run = (rules: string) =>
  `axe.run({ preload: false, resultTypes: ["violations"], ${rules} }).then(({ violations }) => violations)`

/** Only colors differ in the dark. */
const schemes = { light: run(''), dark: run('runOnly: ["color-contrast", "link-in-text-block"]') }

/** The words of a chart that lie on each other, or on its lines. */
const covered = `[...document.querySelectorAll(".chart")].flatMap((chart) => {
  const plot = chart.querySelector(".plot > svg path.zero")?.getBoundingClientRect()
  const lines = [...chart.querySelectorAll("path.so-far, path.limit, path.foreseen")].map((line) => line.getBoundingClientRect())
  const words = [...chart.querySelectorAll("text")].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
  return words.flatMap(({ text, box }, index) => [
    ...(lines.some((line) => meet(box, line) && box.right > plot.left) ? [text + " on a line"] : []),
    ...words.slice(index + 1).filter((other) => meet(box, other.box)).map((other) => text + " on " + other.text),
  ])
})`

/** What is wrong with a page, light and dark, on a phone and on a screen: what axe finds, and whatever is wider than it. */
export async function everyLook(page: Page): Promise<string[]> {
  const found: string[] = []
  // Not a script of the page, so the policy that lets none run stays in force.
  await page.evaluate(axe.source)
  for (const [device, width] of Object.entries(widths)) {
    await page.setViewportSize({ width, height: 800 })
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (wide > width) found.push(`${device}: ${wide} pixels wide`)
    const hidden = await page.evaluate<string[]>(covered)
    found.push(...hidden.map((words) => `${device}: ${words}`))
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const violations = await page.evaluate<axe.Result[]>(schemes[colorScheme])
      found.push(
        ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${device}, ${colorScheme}: ${id}: ${html}`)),
      )
    }
  }
  return found
}
